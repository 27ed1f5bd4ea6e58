// The six pictures of the tab of losses.

import { Handle } from "/static/handle.js";
import { colour, decades, dots, line, Picture, roof, short, shortUp, upright } from "/static/plots.js";

const byId = (id) => document.getElementById(id);

export class LossPictures {
  constructor(page, etas, remember) {
    this.page = page;
    this.etas = etas;
    this.remember = remember;
    this.curves = null; // what is drawn; then its version, and what was proved last
    this.drawn = 0;
    this.latest = null;
    this.tied = null;
    this.partial = new Picture("plot-partial", "score t", "loss");
    this.risk = new Picture("plot-risk", "score t", "expected loss");
    this.h = new Picture("plot-h", "η = P(Y=1)", "H(η)");
    this.psi = new Picture("plot-psi", "cost regret ε", "surrogate regret");
    this.bound = new Picture("plot-bound", "surrogate regret in", "cost regret out");
    this.alpha = new Picture("plot-alpha", "γ", "α(γ)");
    this.handle = new Handle(this.h, {
      label: "eta, the probability that Y is 1", steps: etas, read: () => this.eta, shown: (value) => `η = ${short(value)}`,
      write: (value) => this.moveEta(Math.round(value * etas)),
    });
    byId("eta-slider").max = etas;
    byId("eta-slider").addEventListener("input", () => this.moveEta(Number(byId("eta-slider").value)));
    byId("regret-slider").addEventListener("input", () => {
      page.state.regret = Number(byId("regret-slider").value);
      remember("regret");
      this.showBound();
    });
  }

  get eta() {
    return this.page.state.eta / this.etas;
  }

  moveEta(step) {
    this.page.state.eta = Math.min(Math.max(step, 0), this.etas);
    this.remember("eta");
    this.showEta();
  }

  restore() {
    this.showEta();
    this.showBound();
    this.showTied();
  }

  // What is proved about the curves that are drawn; null as long as it belongs to others.
  get proved() {
    return this.latest?.version === this.drawn ? this.latest.found : null;
  }

  // The pictures show what was there before a mistake.
  fade() {
    byId("panels").classList.add("stale");
    byId("panels").hidden = !this.curves;
  }

  draw(found, version) {
    this.curves = found;
    this.drawn = version;
    byId("panels").classList.remove("stale");
    byId("panels").hidden = false;
    this.partial.show(() => this.partialContent());
    this.h.show(() => this.hContent());
    this.showEta();
    this.showPsi();
    this.showBound();
    this.showTied();
  }

  // The bounds may come before the curves they belong to.
  enclose(found, version, asked) {
    this.latest = { found, version, asked };
    this.showPsi();
    this.showBound();
  }

  tie(found) {
    this.tied = found;
    this.showTied();
  }

  partialContent() {
    const { t, positive, negative } = this.curves;
    const top = roof([positive, negative], t);
    return {
      traces: [line("positive, L(1, t)", t, positive, "first"), line("negative, L(−1, t)", t, negative, "second")],
      x: { range: [t[0], t.at(-1)] }, y: { range: [-0.02 * top, top] },
      words: `Loss of a positive and of a negative for scores from ${t[0]} to ${t.at(-1)}; at score 0 they are ${short(valueAt(t, positive, 0))} and ${short(valueAt(t, negative, 0))}.`,
    };
  }

  showEta() {
    byId("eta-slider").value = this.page.state.eta;
    byId("eta-value").textContent = short(this.eta);
    byId("eta-slider").setAttribute("aria-valuetext", `eta ${short(this.eta)}`);
    this.handle.follow();
    if (!this.curves) return;
    this.risk.show(() => this.riskContent());
    byId("said-risk").textContent = this.riskInWords();
  }

  // The expected loss is linear in eta, so that dragging eta asks the server nothing.
  riskContent() {
    const { t, positive, negative } = this.curves;
    const eta = this.eta;
    const mix = (a, b) => (a === null || b === null ? null : eta * a + (1 - eta) * b);
    const risk = t.map((_, k) => mix(positive[k], negative[k]));
    const [no, yes] = [this.minimum("negative"), this.minimum("positive")];
    const top = roof([risk], t);
    const low = Math.min(no.value, yes.value, ...risk.filter((value) => value !== null));
    const range = [low - 0.08 * (top - low), Math.max(top, low + 1e-9)];
    const mark = (name, of, one) => dots(name, [one.shown], [one.value], of, { marker: { symbol: one.beyond ? (one.shown < 0 ? "triangle-left" : "triangle-right") : "circle", size: 11 } });
    return {
      traces: [
        upright("", 0, range, { showlegend: false }), line("expected loss", t, risk, "accent", { showlegend: false }),
        mark("best not flagged", "second", no), mark("best flagged", "third", yes),
      ],
      x: { range: [t[0], t.at(-1)] }, y: { range },
      words: `Expected loss where P is ${short(eta)}. ${this.riskInWords()}`,
    };
  }

  minimum(side) {
    const found = this.curves.minima[side];
    const step = this.page.state.eta;
    const at = found.at[step];
    const edge = (side === "positive" ? 1 : -1) * this.curves.t.at(-1);
    const beyond = at === null || Math.abs(at) > Math.abs(edge);
    return { value: found.value[step], at: far(at) ? null : at, beyond, shown: beyond ? 0.97 * edge : at };
  }

  riskInWords() {
    const [no, yes] = [this.minimum("negative"), this.minimum("positive")];
    const where = (one) => (one.at === null ? `for ${one.shown > 0 ? "large" : "very negative"} t` : `at t = ${short(one.at)}`);
    const gap = no.value - yes.value;
    const tiny = 1e-6 * Math.max(no.value, yes.value, 1e-300);
    const loss = Math.abs(gap) <= tiny ? "The loss does not mind" : gap > 0 ? "The loss prefers to flag" : "The loss prefers not to flag";
    const apart = this.eta - this.curves.alpha;
    const costs = Math.abs(apart) < 1e-12 ? "your costs do not mind" : apart > 0 ? "your costs say: flag" : "your costs say: do not flag";
    return `Flagged, the least is ${short(yes.value)} (${where(yes)}); not flagged, ${short(no.value)} (${where(no)}). ${loss}; ${costs}.`;
  }

  hContent() {
    const { H, alpha } = this.curves;
    const top = Math.max(...H.y);
    const range = [-0.02 * top, 1.06 * top || 1];
    return {
      traces: [line("H", H.x, H.y, "accent"), upright("α, from your costs", alpha, range)], x: { range: [0, 1] }, y: { range, nticks: 5 },
      words: `H for all probabilities from 0 to 1; alpha is ${short(alpha)}. The largest value is ${short(top)}.`,
    };
  }

  showPsi() {
    if (!this.curves) return;
    this.psi.show(() => this.psiContent());
    const proved = this.proved;
    byId("said-psi").textContent = proved?.lower
      ? `Cost regret: how much more the decisions cost than the best ones, costs scaled to sum to 1. It needs a surrogate regret of at least ψ (theorem 1), which is proved to within ${short(Math.max(...proved.upper.map((u, k) => u - proved.lower[k])), 1)}.`
      : proved?.reason ?? "Proving the bounds of ψ …";
  }

  psiContent() {
    const { nu, psi, largest } = this.curves;
    const traces = [line("ν", nu.x, nu.y, "grey", { line: { dash: "dash", width: 1.6 } }), line("ψ", psi.x, psi.y, "accent")];
    const proved = this.proved;
    if (proved?.lower) {
      const edge = { line: { width: 1, color: colour("first") }, hoverinfo: "skip", hovertemplate: null };
      traces.unshift(
        line("", proved.eps, proved.upper, "first", { ...edge, showlegend: false }),
        line("proved bounds of ψ", proved.eps, proved.lower, "first", { ...edge, fill: "tonexty", fillcolor: colour("band") }),
      );
    }
    const top = Math.max(...nu.y.filter((value) => value !== null));
    return {
      traces, x: { range: [0, largest] }, y: { range: [-0.02 * top, 1.08 * top || 1], nticks: 5 },
      words: `nu and psi up to the largest cost regret, ${short(largest)}, where psi is ${short(psi.y.at(-1))}.`,
    };
  }

  showBound() {
    const slider = byId("regret-slider");
    slider.value = this.page.state.regret;
    const proved = this.proved;
    const ready = Boolean(proved?.bound);
    slider.disabled = !ready;
    if (!ready) {
      byId("regret-value").textContent = "";
      byId("said-bound").textContent = proved?.reason ?? "Proving the bound …";
      byId("plot-bound").dataset.shown = proved ? "no" : "before";
      return;
    }
    const step = Math.min(this.page.state.regret, proved.regret.length - 1);
    const [given, bound] = [proved.regret[step], proved.bound[step]];
    byId("regret-value").textContent = short(given);
    slider.setAttribute("aria-valuetext", `surrogate regret ${short(given)}`);
    byId("plot-bound").dataset.shown = "yes";
    this.bound.show(() => this.boundContent(proved, step));
    const useless = bound >= proved.largest * (1 - 1e-9);
    byId("said-bound").textContent = useless
      ? `A surrogate regret of ${short(given)} guarantees nothing: the largest cost regret is ${short(proved.largest)}.`
      : `Surrogate regret ${short(given)} in, cost regret at most ${shortUp(bound)} out${this.inUnits(bound)} (proved, theorem 1).`;
  }

  inUnits(bound) {
    const { fp, fn } = this.latest.asked; // none if alpha was asked for
    const sum = Number(fp) + Number(fn);
    return Number.isFinite(sum) ? `, which is ${shortUp(bound * sum)} in your unit per decision` : "";
  }

  boundContent(proved, step) {
    const { regret, bound, largest } = proved;
    const least = Math.max(Math.min(...bound.filter((value) => value > 0)), 1e-6);
    return {
      traces: [
        line("largest cost regret", [1e-4, 1], [largest, largest], "grey", { line: { width: 1.4, dash: "dot" } }), line("proved bound", regret, bound, "accent"),
        dots("chosen", [regret[step]], [bound[step]], "second"),
      ],
      x: decades(-4, 0), y: decades(Math.log10(least) - 0.1, Math.log10(largest) + 0.15),
      words: `The largest cost regret that a surrogate regret allows. ${byId("said-bound").textContent}`,
    };
  }

  showTied() {
    const found = this.tied;
    const said = byId("said-alpha");
    byId("plot-alpha").dataset.shown = found?.gamma ? "yes" : found ? "no" : "before";
    if (!found?.gamma) {
      said.textContent = found ? found.reason : "Searching α for every γ …";
      return;
    }
    this.alpha.show(() => this.tiedContent(found));
    said.textContent = found.convex
      ? "Every convex φ keeps α = 1/2 for every γ (corollary 2), so γ can be tuned freely."
      : "Without weights and with β = 1/γ, the loss is calibrated for this α only. Other costs need weights.";
  }

  tiedContent({ gamma, alpha }) {
    const [above, below] = this.page.state.gamma.split("/").map(Number);
    const own = below === undefined ? above : above / below;
    const traces = [line("α(γ)", gamma, alpha, "accent", { showlegend: false })];
    if (own >= gamma[0] && own <= gamma.at(-1)) traces.push(dots("γ now", [own], [onLine(gamma, alpha, own)], "second", { showlegend: false }));
    return {
      traces, x: { type: "log", range: [Math.log10(gamma[0]), Math.log10(gamma.at(-1))], tickvals: [1 / 16, 1 / 4, 1, 4, 16], ticktext: ["1/16", "1/4", "1", "4", "16"] },
      y: { range: [0, 1], dtick: 0.25 }, words: `alpha for gammas from ${short(gamma[0])} to ${short(gamma.at(-1))}. ${byId("said-alpha").textContent}`,
    };
  }
}

// A loss that levels off is smallest at infinity; in floats it is level from some large score on.
function far(at) {
  return at === null || Math.abs(at) > 100;
}

function valueAt(x, y, at) {
  let best = 0;
  x.forEach((value, k) => { if (Math.abs(value - at) < Math.abs(x[best] - at)) best = k; });
  return y[best];
}

function onLine(x, y, at) {
  let k = 1;
  while (k < x.length - 1 && x[k] < at) k += 1;
  const share = Math.log(at / x[k - 1]) / Math.log(x[k] / x[k - 1]);
  return y[k - 1] + share * (y[k] - y[k - 1]);
}
