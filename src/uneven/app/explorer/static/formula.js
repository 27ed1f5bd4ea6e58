// Formulas as MathML, and mistakes in a text with their place.

const AROUND = 28; // characters of the text to each side of a mistake

// The markup comes from our server, which builds it from its own parser's tree. It is read as XML, never as HTML.
export function mathml(markup, before = "") {
  const source = `<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><mrow>${before}${markup}</mrow></math>`;
  const parsed = new DOMParser().parseFromString(source, "application/xml");
  if (parsed.querySelector("parsererror")) return document.createTextNode("");
  return document.importNode(parsed.documentElement, true);
}

export const HEADS = {
  phi: "<mi>φ</mi><mo>(</mo><mi>t</mi><mo>)</mo><mo>=</mo>",
  positive: "<mi>L</mi><mo>(</mo><mn>1</mn><mo>,</mo><mi>t</mi><mo>)</mo><mo>=</mo>",
  negative: "<mi>L</mi><mo>(</mo><mn>−1</mn><mo>,</mo><mi>t</mi><mo>)</mo><mo>=</mo>",
};

export function showProblem(element, refused, text = null) {
  element.replaceChildren();
  if (!refused) return;
  if (text !== null && refused.column) element.append(place(text, refused.column));
  // The place is shown above the words, so they need not name it again.
  const words = text !== null && refused.column ? refused.message.replace(/, at column \d+ of .*$/s, "") : refused.message;
  element.append(document.createTextNode(`${words[0].toUpperCase()}${words.slice(1)}.`));
}

function place(text, column) {
  const box = document.createElement("pre");
  const at = column - 1;
  const start = Math.max(0, at - AROUND);
  const mark = document.createElement("mark");
  mark.textContent = text.slice(at, at + 1) || " ";
  const before = (start > 0 ? "…" : "") + text.slice(start, at);
  const after = text.slice(at + 1, at + 1 + AROUND);
  box.append(before.replace(/\n/g, " "), mark, after.replace(/\n/g, " "), `\n${" ".repeat(before.length)}↑ column ${column}`);
  return box;
}
