// The table of costs of several classes: a row for each true class, a column for each decision.

import { Refused } from "/static/api.js";

const byId = (id) => document.getElementById(id);
const MOST_ACTIONS = 15;
const MOST_FILE = 1 << 20;
const DEAR = 10; // what missing the one dear class costs, where other mistakes cost 1

export class CostTable {
  constructor(changed, refuse) {
    this.changed = changed;
    this.refuse = refuse;
    this.classes = [];
    this.actions = [];
    this.cells = new Map();
    byId("fill-distance").addEventListener("click", () => this.fill((y, a) => Math.abs(y - a)));
    byId("fill-equal").addEventListener("click", () => this.fill((y, a) => (y === a ? 0 : 1)));
    byId("dear-class").addEventListener("change", () => {
      const dear = this.classes.indexOf(byId("dear-class").value);
      if (dear >= 0) this.fill((y, a) => (y === a ? 0 : y === dear ? DEAR : 1));
    });
    byId("add-action").addEventListener("click", () => this.add());
    byId("new-action").addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); this.add(); } });
    byId("costs-file").addEventListener("click", () => { byId("costs-file").value = ""; });
    byId("costs-file").addEventListener("change", () => { const [file] = byId("costs-file").files; if (file) this.read(file); });
  }

  // Other classes: all mistakes cost the same until something else is chosen. The same classes keep what was typed.
  show(classes) {
    const same = classes.length === this.classes.length && classes.every((name) => this.classes.includes(name));
    if (same) return;
    this.classes = inOrder(classes);
    this.actions = [...this.classes];
    this.cells = new Map();
    this.classes.forEach((y) => this.actions.forEach((a) => this.put(y, a, y === a ? "0" : "1")));
    this.draw();
  }

  costs() {
    return { classes: this.classes, actions: this.actions, cells: this.classes.map((y) => this.actions.map((a) => this.get(y, a))) };
  }

  get(y, a) {
    return this.cells.get(JSON.stringify([y, a])) ?? "";
  }

  put(y, a, text) {
    this.cells.set(JSON.stringify([y, a]), text);
  }

  // Costs of the decisions that are classes, by their places in the order of the rows; further decisions keep theirs.
  fill(cost) {
    this.classes.forEach((y, i) => this.classes.forEach((a, j) => { if (this.actions.includes(a)) this.put(y, a, String(cost(i, j))); }));
    this.draw();
    this.changed();
  }

  add() {
    const name = byId("new-action").value.trim();
    if (!name) return this.refuse(new Refused("a further decision needs a name, such as refer", 400, "costs"));
    if (this.actions.includes(name)) return this.refuse(new Refused(`there is a decision ${name} already`, 400, "costs"));
    if (this.actions.length >= MOST_ACTIONS) return this.refuse(new Refused(`at most ${MOST_ACTIONS} decisions are possible here`, 400, "costs"));
    this.actions.push(name);
    this.classes.forEach((y) => this.put(y, name, "0.5"));
    byId("new-action").value = "";
    this.draw();
    return this.changed();
  }

  remove(action) {
    this.actions = this.actions.filter((name) => name !== action);
    this.draw();
    this.changed();
  }

  // A class moves up by one row, and with it the decision of its name.
  raise(place) {
    const [above, name] = this.classes.splice(place - 1, 2);
    this.classes.splice(place - 1, 0, name, above);
    const further = this.actions.filter((action) => !this.classes.includes(action));
    this.actions = [...this.classes.filter((y) => this.actions.includes(y)), ...further];
    this.draw();
    this.changed();
  }

  // Decisions in the first line of the file, true classes in its first column.
  async read(file) {
    if (file.size > MOST_FILE) return this.refuse(new Refused(`${file.name} is larger than a table of costs`, 400, "costs"));
    const lines = split(await file.text());
    const classes = lines.slice(1).map(([name]) => name);
    const actions = lines[0]?.slice(1) ?? [];
    const missing = this.classes.find((name) => !classes.includes(name));
    const wrong = actions.length < 2 || lines.some((line) => line.length !== actions.length + 1) ? "must have the decisions in its first line, then a line for each class"
      : missing !== undefined ? `has no line for the class ${missing}`
      : actions.length > MOST_ACTIONS ? `has more than ${MOST_ACTIONS} decisions`
      : new Set(actions).size < actions.length ? "names a decision twice" : null;
    if (wrong) return this.refuse(new Refused(`${file.name} ${wrong}`, 400, "costs"));
    const known = lines.slice(1).filter(([name]) => this.classes.includes(name));
    this.take({ classes: known.map(([name]) => name), actions, cells: known.map(([, ...cells]) => cells) });
    return this.changed();
  }

  take({ classes, actions, cells }) {
    Object.assign(this, { classes, actions });
    classes.forEach((y, i) => actions.forEach((a, k) => this.put(y, a, cells[i][k])));
    this.draw();
  }

  draw() {
    byId("dear-class").replaceChildren(new Option("one dear class …", ""), ...this.classes.map((name) => new Option(`${name} is the dear one`, name)));
    const head = row(cell("td", ""), ...this.actions.map((action) => this.head(action)));
    const body = this.classes.map((y, i) => row(this.side(y, i), ...this.actions.map((a) => this.input(y, a))));
    byId("cost-table").replaceChildren(part("thead", head), part("tbody", ...body));
  }

  head(action) {
    const one = cell("th", action, "col");
    if (!this.classes.includes(action)) one.append(button("×", `leave out the decision ${action}`, () => this.remove(action)));
    return one;
  }

  side(name, place) {
    const one = cell("th", "", "row");
    if (place > 0) one.append(button("↑", `move ${name} up`, () => this.raise(place)));
    one.append(name);
    return one;
  }

  input(y, a) {
    const field = Object.assign(document.createElement("input"), { type: "text", inputMode: "decimal", value: this.get(y, a), ariaLabel: `cost of ${a} where ${y} is true`, spellcheck: false });
    field.addEventListener("input", () => { this.put(y, a, field.value); this.changed(); });
    const one = cell("td", "");
    if (y === a) one.className = "right";
    one.append(field);
    return one;
  }
}

export function cell(kind, text, scope = "") {
  const made = Object.assign(document.createElement(kind), { textContent: text });
  if (scope) made.scope = scope;
  return made;
}

export function row(...cells) {
  return part("tr", ...cells);
}

export function part(kind, ...inside) {
  const made = document.createElement(kind);
  made.append(...inside);
  return made;
}

function button(text, words, click) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: text, className: "small", title: words, ariaLabel: words });
  made.addEventListener("click", click);
  return made;
}

// Numbers by size, texts by the alphabet: levels are often numbered.
function inOrder(names) {
  return [...names].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

// The cells of a text with commas, semicolons or tabs, whichever its first line has most of; quotes as usual.
function split(text) {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/).filter((line) => line.trim());
  const sign = [",", ";", "\t"].reduce((best, one) => ((lines[0] ?? "").split(one).length > (lines[0] ?? "").split(best).length ? one : best), ",");
  const cells = (line) => [...`${sign}${line}`.matchAll(new RegExp(`${sign}(?:"((?:[^"]|"")*)"|([^${sign}]*))`, "g"))].map(([, quoted, plain]) => (quoted?.replaceAll('""', '"') ?? plain).trim());
  return lines.map(cells).map((line, k) => (k === 0 || sign === "," ? line : [line[0], ...line.slice(1).map((one) => (/^[-+]?\d+,\d+$/.test(one) ? one.replace(",", ".") : one))]));
}
