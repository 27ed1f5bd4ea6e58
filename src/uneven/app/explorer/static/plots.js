// Pictures: one look for all of them, taken from the style sheet, light or dark.

import { moveCurves } from "/static/curves.js";

const MARGIN = { l: 50, r: 12, t: 8, b: 38, autoexpand: false };
const LATER = 300; // milliseconds after the last change until a picture is complete, or drawn though nobody sees it
const CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false, scrollZoom: false };

// Colours and sizes are remembered: asking the browser for them between two drawings makes it lay out the page again.
const dark = matchMedia("(prefers-color-scheme: dark)");
const known = new Map();
dark.addEventListener("change", () => known.clear());

export function colour(name) {
  if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return known.get(name);
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

// Ticks of a log axis: powers of ten, with other digits between if there are few.
export function decades(low, high) {
  const fine = high - low < 0.6 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : high - low < 2 ? [1, 2, 5] : [1];
  const values = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power += 1) for (const digit of fine) values.push(digit * 10 ** power);
  const tickvals = values.filter((value) => value >= 10 ** low * 0.999 && value <= 10 ** high * 1.001);
  return { type: "log", range: [low, high], tickvals, ticktext: tickvals.map((value) => short(value, 2)) };
}

// A dotted line from the bottom to the top of a picture and beyond, for a range that grows while something moves. It is a
// curve like the others, so that it can move, too.
export function upright(name, x, [low, high], more = {}) {
  return line(name, [x, x], [2 * low - high, 2 * high - low], "grey", { line: { width: 1.6, dash: "dot" }, hoverinfo: "skip", hovertemplate: null, ...more });
}

function axis(title, more) {
  return {
    title: { text: title, font: { size: 12 }, standoff: 4 }, fixedrange: true, gridcolor: colour("line"), linecolor: colour("line"),
    zerolinecolor: colour("grey"), zerolinewidth: 1, tickfont: { size: 11 }, automargin: false, nticks: 6, tickangle: 0,
    ticklabeloverflow: "allow", ...more,
  };
}

// The range of an axis while something moves: the one it had, as long as the curves fit in and fill most of it.
function roomy(had, wanted) {
  if (!had || !wanted) return wanted;
  const [old, next] = [had[1] - had[0], wanted[1] - wanted[0]];
  const slack = 0.02 * old;
  const fits = wanted[0] >= had[0] - slack && wanted[1] <= had[1] + slack;
  return fits && next > 0.6 * old ? had : wanted;
}

// A picture that is drawn again when its data, its size or the colours change: at once if it can be seen, else when it
// comes into view or a moment after the last change, so that pictures that nobody sees do not hold up the others.
export class Picture {
  constructor(id, x, y) {
    this.element = document.getElementById(id);
    this.axes = [x, y];
    this.content = null;
    this.dirty = false;
    this.seen = false;
    this.size = [0, 0];
    this.timer = null;
    this.range = null;
    this.margin = MARGIN;
    this.shown = null; // what the picture looks like without its data
    this.onRange = [];
    this.legend = Object.assign(document.createElement("p"), { className: "legend", hidden: true, ariaHidden: "true" });
    this.element.before(this.legend);
    new IntersectionObserver((entries) => {
      this.seen = entries.at(-1).isIntersecting;
      if (this.seen) this.draw();
    }).observe(this.element);
    new ResizeObserver((entries) => {
      const { width, height } = entries.at(-1).contentRect;
      this.size = [Math.floor(width), Math.floor(height)];
      this.change();
    }).observe(this.element);
    dark.addEventListener("change", () => this.change());
  }

  show(content) {
    this.content = content;
    this.change();
  }

  change() {
    this.dirty = true;
    clearTimeout(this.timer);
    if (this.content) this.element.dataset.drawn = "soon";
    if (this.seen && this.draw()) return;
    this.timer = setTimeout(() => this.draw(true), LATER);
  }

  // Returns whether the picture is complete. While something moves, only the curves follow; `fully` draws all of it.
  draw(fully = false) {
    const [width, height] = this.size;
    if (!this.content || width === 0) return true; // it is drawn when it has a size and a content
    if (!this.dirty) return true;
    const { traces, x = {}, y = {}, words = "" } = this.content();
    const frame = (axes) => JSON.stringify([width, height, axes, traces.map(({ x: _, y: __, ...style }) => style)]);
    const kept = (name, wanted) => ({ ...wanted, range: roomy(this.shown?.axes[name].range, wanted.range) });
    let axes = { x: kept("x", x), y: kept("y", y) };
    const inner = [width - MARGIN.l - MARGIN.r, height - MARGIN.t - MARGIN.b];
    const moved = !fully && frame(axes) === this.shown?.frame && moveCurves(this.element, traces, axes, ...inner);
    if (!moved) {
      this.dirty = false;
      axes = { x, y };
      this.lay(traces, axes);
      this.showLegend(traces.filter((trace) => trace.showlegend !== false));
      this.shown = { frame: frame(axes), axes };
    }
    this.element.setAttribute("role", "img");
    this.element.setAttribute("aria-label", words);
    this.element.dataset.drawn = moved ? "moving" : "fully";
    this.range = axes.x.range ?? null;
    for (const follow of this.onRange) follow();
    return !moved;
  }

  lay(traces, axes) {
    const [width, height] = this.size;
    const layout = {
      width, height, margin: MARGIN, dragmode: false, hovermode: "x unified", showlegend: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, -apple-system, Segoe UI, sans-serif", color: colour("ink"), size: 12 },
      hoverlabel: { bgcolor: colour("panel"), bordercolor: colour("line"), font: { color: colour("ink"), size: 12 } },
      xaxis: axis(this.axes[0], axes.x), yaxis: axis(this.axes[1], axes.y),
    };
    Plotly.react(this.element, traces, layout, CONFIG);
  }

  // Made by ourselves: Plotly measures each word of its legends at every drawing.
  showLegend(traces) {
    const key = JSON.stringify(traces.map(({ name, line, marker }) => [name, line?.color, line?.dash, marker?.color, marker?.symbol]));
    if (key === this.legendOf) return;
    this.legendOf = key;
    this.legend.hidden = traces.length < 2;
    this.legend.replaceChildren(...traces.map((trace) => {
      const one = document.createElement("span");
      const mark = document.createElement("i");
      mark.className = trace.marker ? "round" : trace.fillcolor ? "band" : { dot: "dotted" }[trace.line.dash] ?? trace.line.dash ?? "solid";
      mark.style.color = trace.marker?.color ?? trace.line.color;
      one.append(mark, trace.name);
      return one;
    }));
  }

  // Pixels of a value on the x axis, and back.
  place(value) {
    const [low, high] = this.range;
    return MARGIN.l + ((value - low) / (high - low)) * (this.size[0] - MARGIN.l - MARGIN.r);
  }

  value(pixels) {
    const [low, high] = this.range;
    return low + ((pixels - MARGIN.l) / (this.size[0] - MARGIN.l - MARGIN.r)) * (high - low);
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
