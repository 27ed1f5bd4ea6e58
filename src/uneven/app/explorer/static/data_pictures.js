// The pictures of the tab "Your data".

import { Handle } from "/static/handle.js";
import { colour, dots, line, Picture, short, upright } from "/static/plots.js";

const byId = (id) => document.getElementById(id);
const TICKS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 0.997, 0.999];
const logit = (p) => Math.log(p / (1 - p));
const expit = (x) => 1 / (1 + Math.exp(-x));
const SMALLEST = 1e-4;

// As the server writes amounts.
function money(amount, unit) {
  const size = Math.abs(amount);
  const text = size >= 1e15 ? amount.toExponential(3) : size >= 1000 ? Math.round(amount).toLocaleString("en") : short(amount, 4);
  return unit ? `${text} ${unit}` : text;
}

export class DataPictures {
  constructor() {
    this.threshold = new Picture("plot-threshold", "flag where the probability is above", "cost per 1,000 rows");
    this.curve = new Picture("plot-curve", "α: a false alarm costs α, a miss 1 − α", "expected cost");
    this.path = new Picture("plot-path", "γ", "cost per 1,000 rows");
    this.at = 0;
    this.handle = new Handle(this.threshold, {
      label: "threshold", steps: 200, read: () => this.at, shown: (value) => short(expit(value)), write: (value) => { this.at = value; this.showMoney(); },
    });
  }

  hide() {
    for (const id of ["threshold-figure", "curve-figure", "path-figure"]) byId(id).hidden = true;
  }

  showPath(path) {
    byId("path-figure").hidden = false;
    this.path.show(() => {
      const [low, high] = [path.cost.map((c, k) => c - path.error[k]), path.cost.map((c, k) => c + path.error[k])];
      const range = [0, 1.08 * Math.max(...high)];
      const edge = { line: { width: 0 }, hoverinfo: "skip", hovertemplate: null, showlegend: false };
      const k = path.gamma.reduce((best, gamma, i) => (Math.abs(Math.log(gamma / path.chosen)) < Math.abs(Math.log(path.gamma[best] / path.chosen)) ? i : best), 0);
      return {
        traces: [
          line("", path.gamma, high, "first", edge), line("one standard error", path.gamma, low, "first", { ...edge, fill: "tonexty", showlegend: true, fillcolor: colour("band") }),
          line("mean over 5 folds", path.gamma, path.cost, "accent", { mode: "lines+markers" }),
          dots("chosen", [path.chosen], [path.cost[k]], "second"), upright("even margins", 1, range),
        ],
        x: { type: "log", range: [Math.log10(path.gamma[0]) - 0.05, Math.log10(path.gamma.at(-1)) + 0.05], tickvals: [1 / 16, 1 / 4, 1, 4, 16, 64], ticktext: ["1/16", "1/4", "1", "4", "16", "64"] },
        y: { range }, words: `Cross-validated cost for ${path.gamma.length} gammas; the cheapest is ${short(path.chosen)}.`,
      };
    });
    byId("said-path").textContent = `Logistic loss, calibrated for your costs at every γ; the cheapest γ is ${short(path.chosen)}. The band is one standard error.`;
  }

  showResult(result) {
    this.result = result;
    byId("threshold-figure").hidden = false;
    byId("curve-figure").hidden = false;
    const { at, cost } = result.threshold;
    this.costs = cost;
    this.x = at.map((p) => logit(Math.min(Math.max(p, SMALLEST), 1 - SMALLEST)));
    this.at = logit(Math.min(Math.max(result.threshold.chosen, SMALLEST), 1 - SMALLEST));
    this.threshold.show(() => this.thresholdContent());
    this.curve.show(() => this.curveContent());
    this.showMoney();
    const { own } = result.curve;
    byId("said-curve").textContent = `Your costs are${result.per_row ? " on average" : ""} at α = ${short(own)}. Dashed: flag everyone or no one. Dotted: ${result.per_row ? "each row decided by its own costs" : "this threshold kept at other costs"}. Line: the best threshold for each.`;
  }

  thresholdContent() {
    const { result, costs, x } = this;
    const [low, high] = [logit(SMALLEST * 5), logit(1 - SMALLEST * 5)];
    const ends = (value) => ({ x: [low, high], y: [value, value] });
    const ticks = TICKS.filter((_, k) => this.threshold.size[0] > 500 || k % 2 === 0);
    const [all, none] = [1000 * result.everyone, 1000 * result.no_one];
    const top = Math.min(Math.max(...costs), 1.6 * Math.max(Math.min(all, none), costs[0])) * 1.05;
    const rule = (name, value) => line(name, ends(value).x, ends(value).y, "grey", { line: { dash: "dash", width: 1.4 } });
    const rules = [["flag everyone", all], ["flag no one", none]].filter(([, value]) => value <= top).map(([name, value]) => rule(name, value));
    if (result.per_row) rules.push(line("each row by its own costs", ends(result.threshold.own.cost).x, ends(result.threshold.own.cost).y, "third"));
    return {
      traces: [line(result.per_row ? "one threshold for all rows" : "cost", [...x, high], [...costs, costs.at(-1)], "accent", { line: { shape: "hv" } }), ...rules],
      x: { range: [low, high], zeroline: false, tickvals: ticks.map(logit), ticktext: ticks.map((p) => String(p)) }, y: { range: [0, top] },
      words: `Cost at each threshold. ${byId("money").textContent}`,
    };
  }

  // Cost, misses and false alarms at the line: a search in what the server has sent.
  showMoney() {
    const { result, x } = this;
    const { misses, alarms } = result.threshold;
    let k = 0;
    while (k + 1 < x.length && x[k + 1] <= this.at + 1e-12) k += 1;
    const cost = this.costs[k];
    const rule = Math.min(1000 * result.everyone, 1000 * result.no_one);
    const name = result.everyone <= result.no_one ? "flagging everyone" : "flagging no one";
    const saved = rule - cost;
    const against = saved >= 0 ? `saves ${money(saved, result.unit)} against ${name}` : `costs ${money(-saved, result.unit)} more than ${name}`;
    const { own } = result.threshold;
    const instead = result.per_row ? ` Each row by its own costs: ${own.misses.toLocaleString("en")} missed, ${own.alarms.toLocaleString("en")} false alarms, ${money(own.cost, result.unit)}.` : "";
    byId("money").textContent = `${result.per_row ? "One threshold for all rows: flag" : "Flag"} above ${short(expit(this.at))}: ${misses[k].toLocaleString("en")} of ${result.positives.toLocaleString("en")} missed, ${alarms[k].toLocaleString("en")} false alarms. Per 1,000 rows it costs ${money(cost, result.unit)} and ${against}.${instead}`;
  }

  curveContent() {
    const { alpha, cost, best, constant, own } = this.result.curve;
    const range = [0, 1.1 * Math.max(...constant)];
    return {
      traces: [
        line("one rule for all", alpha, constant, "grey", { line: { dash: "dash", width: 1.4 } }),
        line(this.result.per_row ? "own costs" : "this threshold", alpha, cost, "second", { line: { dash: "dot", width: 1.8 } }), line("best threshold", alpha, best, "accent"),
        upright("your costs", own, range),
      ],
      x: { range: [0, 1] }, y: { range },
      words: `Expected cost for every alpha; yours is ${short(own)}.`,
    };
  }
}
