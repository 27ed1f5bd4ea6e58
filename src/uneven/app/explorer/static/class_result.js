// What the decisions about several classes cost: rows and money by true class and decision, the triangle of three
// classes, a limit on one decision. Other costs, or a limit, are a question about the rows that the page keeps.

import { askAboutRows, Newest, Refused } from "/static/api.js";
import { cell, part, row } from "/static/cost_table.js";
import { showProblem } from "/static/formula.js";
import { short } from "/static/plots.js";

const byId = (id) => document.getElementById(id);
const PATIENCE = 500;
const SVG = "http://www.w3.org/2000/svg";
const HUES = [205, 25, 150, 320, 265, 50, 180, 0, 95, 235];

export class ClassResult {
  constructor(table, say) {
    this.table = table;
    this.say = say;
    this.result = null;
    this.newest = new Newest((signal) => this.ask(signal), PATIENCE);
    for (const id of ["most-rows", "limited-action"]) byId(id).addEventListener("input", () => this.change());
  }

  hide() {
    this.newest.stop();
    this.result = null;
    for (const id of ["confusion-figure", "triangle-figure"]) byId(id).hidden = true;
  }

  show(result) {
    this.result = result;
    this.rows = Uint8Array.from(atob(result.unseen), (letter) => letter.charCodeAt(0));
    byId("confusion-figure").hidden = false;
    this.offer(this.table.actions);
    this.draw(result);
    if (byId("most-rows").value.trim()) this.change();
  }

  // Other costs or another limit.
  change() {
    if (!this.result?.classes.every((name) => this.table.classes.includes(name))) return; // no fit, or of another target
    this.offer(this.table.actions);
    this.newest.ask();
  }

  // Decisions that can have a limit; a limit on one that is gone goes with it.
  offer(actions) {
    const chosen = byId("limited-action").value;
    byId("limited-action").replaceChildren(...actions.map((action) => new Option(action, action)));
    if (!actions.includes(chosen)) byId("most-rows").value = "";
    byId("limited-action").value = actions.includes(chosen) ? chosen : actions.at(-1);
  }

  async ask(signal) {
    const { result } = this;
    const question = { costs: this.table.costs(), classes: result.classes, trained: result.trained, unit: result.unit, limited: byId("limited-action").value, most: byId("most-rows").value };
    let [answer, refused] = [null, null];
    try {
      answer = await askAboutRows("class_costs", this.rows, question, signal);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused = error;
    }
    signal.throwIfAborted();
    for (const field of ["costs", "most"]) showProblem(byId(`problem-${field}`), refused?.field === field ? refused : null);
    if (refused) {
      if (!["costs", "most"].includes(refused.field)) this.say(refused.message, "mistake");
      return;
    }
    this.draw(answer);
    this.say(answer.sentence, answer.cheaper ? "calibrated" : "not calibrated");
  }

  draw(answer) {
    const { actions } = answer;
    byId("said-limit").textContent = answer.limit;
    byId("cost-remarks").textContent = answer.remarks.join(" ");
    this.drawConfusion(answer);
    this.drawTriangle(answer.triangle, answer.names, actions);
  }

  // -- rows and money -----------------------------------------------------------------------------------------------

  drawConfusion({ names, actions, counts, paid }) {
    const wanted = this.table.classes.map((name) => names.indexOf(name)).filter((place) => place >= 0);
    const order = wanted.length === names.length ? wanted : names.map((_, k) => k); // another target was chosen meanwhile
    const top = Math.max(...paid.flat().map(Math.abs)) || 1;
    const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
    const totals = actions.map((_, k) => order.map((i) => [counts[i][k], paid[i][k]]).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]));
    const head = row(cell("td", "true ↓ decision →"), ...actions.map((action) => cell("th", action, "col")), cell("th", "all", "col"));
    const body = order.map((i) => row(
      cell("th", names[i], "row"), ...actions.map((action, k) => this.heat(counts[i][k], paid[i][k], top, names[i] === action)),
      this.heat(sum(counts[i]), sum(paid[i]), null),
    ));
    const foot = row(cell("th", "all", "row"), ...totals.map(([rows, money]) => this.heat(rows, money, null)), this.heat(sum(counts.flat()), sum(paid.flat()), null));
    byId("confusion").replaceChildren(part("thead", head), part("tbody", ...body, foot));
  }

  heat(rows, money, top, right = false) {
    const one = document.createElement("td");
    one.append(cell("b", rows.toLocaleString("en")), cell("span", amount(money)));
    if (top !== null) {
      const share = Math.round(55 * Math.sqrt(Math.abs(money) / top));
      one.style.setProperty("background-color", `color-mix(in srgb, var(--${money > 0 ? "second" : "third"}) ${share}%, var(--panel))`);
      if (right) one.className = "right";
    } else one.className = "sum";
    return one;
  }

  // -- three classes ------------------------------------------------------------------------------------------------

  drawTriangle(triangle, names, actions) {
    byId("triangle-figure").hidden = !triangle;
    if (!triangle) return;
    const known = [...names, ...actions.filter((action) => !names.includes(action))];
    const hue = (name) => HUES[known.indexOf(name) % HUES.length];
    const [x, y] = [(value) => 110 + 400 * value, (value) => 375 - 400 * value];
    const shape = (kind, fields, text = "") => {
      const made = document.createElementNS(SVG, kind);
      for (const [name, value] of Object.entries(fields)) made.setAttribute(name, value);
      made.textContent = text;
      return made;
    };
    const regions = triangle.regions.map(({ action, x: xs, y: ys }) => shape("polygon", {
      points: xs.map((value, k) => `${x(value)},${y(ys[k])}`).join(" "), fill: `hsl(${hue(action)} 75% 55% / .28)`, stroke: `hsl(${hue(action)} 60% 50%)`, "stroke-width": 1.5,
    }));
    const dots = triangle.rows.flatMap(({ x: xs, y: ys }, k) => xs.map((value, i) => shape("circle", { cx: x(value), cy: y(ys[i]), r: 2.2, fill: `hsl(${hue(names[k])} 70% 45%)`, "fill-opacity": 0.75 })));
    const words = triangle.regions.map(({ action, x: xs, y: ys }) => {
      const middle = (values) => values.reduce((total, one) => total + one, 0) / values.length;
      return shape("text", { x: x(middle(xs)), y: y(middle(ys)), "text-anchor": "middle", class: "region" }, action);
    });
    const corners = [[0, 0, 18], [1, 0, 18], [0.5, Math.sqrt(3) / 2, -8]].map(([a, b, away], k) => shape("text", {
      x: x(a), y: y(b) + away, "text-anchor": "middle", class: "corner",
    }, `${names[k]} is certain`));
    const drawing = shape("svg", { viewBox: "0 0 620 400", role: "img" });
    drawing.setAttribute("aria-label", `Where each decision is the cheapest: ${triangle.regions.map(({ action }) => action).join(", ")}.`);
    drawing.append(...regions, ...dots, ...words, ...corners);
    const legend = Object.assign(document.createElement("p"), { className: "legend" });
    for (const name of names) {
      const mark = Object.assign(document.createElement("i"), { className: "round" });
      mark.style.setProperty("color", `hsl(${hue(name)} 70% 45%)`);
      const one = document.createElement("span");
      one.append(mark, `${name} is true`);
      legend.append(one);
    }
    byId("triangle").replaceChildren(legend, drawing);
  }
}

function amount(money) {
  const size = Math.abs(money);
  return size >= 1000 ? Math.round(money).toLocaleString("en") : short(money, 3);
}
