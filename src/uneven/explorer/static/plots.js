// Pictures: one look for all of them, taken from the style sheet, light or dark.

const MARGIN = { l: 50, r: 12, t: 8, b: 38, autoexpand: false };
const CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false, scrollZoom: false };

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function line(name, x, y, of, more = {}) {
  return { type: "scatter", mode: "lines", name, x, y, line: { color: colour(of), width: 2.2, ...more.line }, hovertemplate: "%{y:.4g}", ...without(more, "line") };
}

export function dots(name, x, y, of, more = {}) {
  return { type: "scatter", mode: "markers", name, x, y, marker: { color: colour(of), size: 10, line: { color: colour("panel"), width: 1.5 }, ...more.marker }, hovertemplate: "%{y:.4g}", ...without(more, "marker") };
}

function without(object, key) {
  const { [key]: _, ...rest } = object;
  return rest;
}

// Ticks of a log axis: powers of ten, with 2 and 5 between if there are few.
export function decades(low, high) {
  const fine = high - low < 2 ? [1, 2, 5] : [1];
  const values = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power += 1) for (const digit of fine) values.push(digit * 10 ** power);
  const tickvals = values.filter((value) => value >= 10 ** low * 0.999 && value <= 10 ** high * 1.001);
  return { type: "log", range: [low, high], tickvals, ticktext: tickvals.map((value) => short(value, 2)) };
}

export function upright(x, words = "") {
  const mark = { type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color: colour("grey"), width: 1.3, dash: "dot" } };
  if (words) mark.label = { text: words, textposition: "end", textangle: 0, xanchor: "left", yanchor: "top", font: { size: 11, color: colour("soft") } };
  return mark;
}

function axis(title, more) {
  return {
    title: { text: title, font: { size: 12 }, standoff: 4 }, fixedrange: true, gridcolor: colour("line"), linecolor: colour("line"),
    zerolinecolor: colour("grey"), zerolinewidth: 1, tickfont: { size: 11 }, automargin: false, nticks: 6, ...more,
  };
}

// A picture that is drawn when it can be seen, and again when its data or the colours change.
export class Picture {
  constructor(id, x, y) {
    this.element = document.getElementById(id);
    this.axes = [x, y];
    this.content = null;
    this.dirty = false;
    this.seen = false;
    this.range = null;
    this.onRange = [];
    new IntersectionObserver((entries) => {
      this.seen = entries.at(-1).isIntersecting;
      this.draw();
    }, { rootMargin: "200px" }).observe(this.element);
    new ResizeObserver(() => { this.dirty = true; this.draw(); }).observe(this.element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.dirty = true; this.draw(); });
  }

  show(content) {
    this.content = content;
    this.dirty = true;
    this.draw();
  }

  draw() {
    if (!this.dirty || !this.seen || !this.content || this.element.clientWidth === 0) return;
    this.dirty = false;
    const { traces, shapes = [], x = {}, y = {}, words = "", layout = {} } = this.content();
    const full = {
      width: this.element.clientWidth, height: this.element.clientHeight, margin: MARGIN, dragmode: false, hovermode: "x unified",
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: traces.filter((t) => t.showlegend !== false).length > 1,
      font: { family: "system-ui, -apple-system, Segoe UI, sans-serif", color: colour("ink"), size: 12 },
      legend: { orientation: "h", x: 0.5, xanchor: "center", y: 1.0, yanchor: "bottom", font: { size: 11 }, itemclick: false, itemdoubleclick: false, bgcolor: "rgba(0,0,0,0)" },
      hoverlabel: { bgcolor: colour("panel"), bordercolor: colour("line"), font: { color: colour("ink"), size: 12 } },
      xaxis: axis(this.axes[0], x), yaxis: axis(this.axes[1], y), shapes, ...layout,
    };
    if (full.showlegend) full.margin = { ...MARGIN, t: 30 };
    Plotly.react(this.element, traces, full, CONFIG);
    this.element.setAttribute("role", "img");
    this.element.setAttribute("aria-label", words);
    this.range = x.range ?? null;
    this.margin = full.margin;
    for (const follow of this.onRange) follow();
  }

  // Pixels of a value on the x axis, and back.
  place(value) {
    const [low, high] = this.range;
    return MARGIN.l + ((value - low) / (high - low)) * (this.element.clientWidth - MARGIN.l - MARGIN.r);
  }

  value(pixels) {
    const [low, high] = this.range;
    return low + ((pixels - MARGIN.l) / (this.element.clientWidth - MARGIN.l - MARGIN.r)) * (high - low);
  }
}

// The top of an axis that shows what matters of curves that may grow without bound.
export function roof(curves, t, inner = 2) {
  let top = 0;
  let all = 0;
  for (const curve of curves) {
    curve.forEach((value, k) => {
      if (value === null) return;
      all = Math.max(all, value);
      if (Math.abs(t[k]) <= inner) top = Math.max(top, value);
    });
  }
  return Math.min(all, 1.25 * top) * 1.06 || 1;
}

export function short(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "?";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(digits - 1);
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

// A number that is never smaller than the value: a bound stays one when it is shown.
export function shortUp(value, digits = 3) {
  if (value <= 0) return short(value, digits);
  const unit = 10 ** (Math.floor(Math.log10(value)) - digits + 1);
  const rounded = Math.ceil(value / unit - 1e-9) * unit;
  return short(rounded, digits + 1);
}
