// Curves that move. Plotly lays a whole picture out again whenever a number in it changes, which takes longer than a
// slider waits. If nothing but the data of lines and dots differs, only their paths are written; Plotly draws the picture
// again when the slider rests. The names of Plotly's parts are looked up: if they are not as expected, nothing is moved.

const FAR = 1e5; // pixels beyond which nothing can be seen, and a browser may lose its way

// Whether this trace is a plain line or plain dots, which are easy to place.
function plain(trace) {
  if (trace.mode === "markers") return true;
  return trace.mode === "lines" && !trace.fill && !trace.line.shape;
}

// Pixels of values along an axis that has this many pixels.
function scale({ type, range: [low, high] }, length, upward) {
  return (value) => {
    if (value === null) return NaN;
    const share = ((type === "log" ? Math.log10(value) : value) - low) / (high - low);
    const place = (upward ? 1 - share : share) * length;
    return Math.min(Math.max(place, -FAR), FAR);
  };
}

function path(trace, across, up) {
  let text = "";
  let pen = "M";
  trace.x.forEach((value, k) => {
    const [x, y] = [across(value), up(trace.y[k])];
    if (Number.isNaN(x) || Number.isNaN(y)) {
      pen = "M";
      return;
    }
    text += `${pen}${x.toFixed(2)},${y.toFixed(2)}`;
    pen = "L";
  });
  return text;
}

// Moves the curves of a picture to new data; false if they cannot be moved.
export function moveCurves(element, traces, axes, width, height) {
  const groups = [...element.querySelectorAll(".scatterlayer > .trace")];
  if (groups.length !== traces.length || !traces.every(plain)) return false;
  const parts = groups.map((group, k) => [...group.querySelectorAll(traces[k].mode === "lines" ? ".js-line" : ".point")]);
  const expected = (part, k) => (traces[k].mode === "lines" ? part.length >= 1 : part.length === traces[k].x.length);
  if (!parts.every(expected)) return false;
  const [across, up] = [scale(axes.x, width, false), scale(axes.y, height, true)];
  traces.forEach((trace, k) => {
    if (trace.mode === "lines") {
      parts[k][0].setAttribute("d", path(trace, across, up));
      for (const other of parts[k].slice(1)) other.setAttribute("d", "M0,0");
    } else {
      parts[k].forEach((point, j) => point.setAttribute("transform", `translate(${across(trace.x[j])},${up(trace.y[j])})`));
    }
  });
  return true;
}
