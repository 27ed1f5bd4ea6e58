// The tab of losses: controls, the sentence on top, and what the server says about them.

import { ask, Newest, Refused } from "/static/api.js";
import { LossPictures } from "/static/loss_pictures.js";
import { HEADS, mathml, showProblem } from "/static/formula.js";
import { question, toAddress } from "/static/state.js";

const REST = 250; // milliseconds without a move after which proofs begin
const FIELDS = ["phi", "text", "positive", "negative", "zoo", "gamma", "beta", "alpha", "fp", "fn", "weighted"];
const TYPED = ["text", "positive", "negative"];
const byId = (id) => document.getElementById(id);

export class LossesTab {
  constructor(page, choices, remember, reset) {
    this.page = page;
    this.choices = choices;
    this.remember = remember;
    this.pictures = new LossPictures(page, choices.etas, remember);
    this.phiOf = null;
    this.curves = new Newest((signal) => this.drawCurves(signal), 250);
    this.proofs = new Newest((signal) => this.prove(signal), 0);
    this.typed = new Newest((signal) => this.render(signal), 0);
    this.timer = null;
    this.fill();
    this.listen(reset);
  }

  get state() {
    return this.page.state;
  }

  // -- controls ------------------------------------------------------------------------------------------------------

  fill() {
    for (const phi of this.choices.phis) byId("phi").append(new Option(phi.label, phi.name));
    if (this.choices.zoo.length) {
      for (const name of this.choices.zoo) byId("zoo").append(new Option(name, name));
      const option = byId("kind").querySelector("option[value=zoo]");
      option.hidden = option.disabled = false;
    }
    byId("functions").textContent = this.choices.functions.join(", ");
  }

  listen(reset) {
    const set = (id, event, change) => byId(id).addEventListener(event, () => { change(byId(id)); this.changed(); });
    set("kind", "change", (e) => { this.state.kind = e.value; if (e.value === "zoo" && !this.state.zoo) this.state.zoo = this.choices.zoo[0]; this.showControls(); });
    set("phi", "change", (e) => { this.state.phi = e.value; this.state.parameters = {}; this.showControls(); });
    set("zoo", "change", (e) => { this.state.zoo = e.value; });
    for (const id of TYPED) set(id, "input", (e) => { this.state[id] = e.value; this.typed.ask(); });
    for (const id of ["gamma", "beta", "alpha", "fp", "fn"]) set(id, "input", (e) => { this.state[id] = e.value; this.showSliders(); });
    set("gamma-slider", "input", (e) => { this.state.gamma = power(2, e.value); this.showNumbers(); });
    set("beta-slider", "input", (e) => { this.state.beta = power(2, e.value); this.showNumbers(); });
    set("alpha-slider", "input", (e) => { this.state.alpha = alphaAt(e.value); this.showNumbers(); });
    set("keep-beta", "change", (e) => { this.state.beta = e.checked ? null : inverse(this.state.gamma); this.showControls(); });
    for (const id of ["costs-two", "costs-alpha"]) set(id, "change", (e) => { this.chooseCosts(e.value); this.showControls(); });
    set("weighted", "change", (e) => { this.state.weighted = e.checked; });
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
    byId("reset").addEventListener("click", () => { reset(); this.restore(); this.remember(); });
    byId("apply-remedy").addEventListener("click", () => { Object.assign(this.state, structuredClone(this.remedy)); this.restore(); this.remember(); });
    byId("certify").addEventListener("click", () => this.certify());
    byId("copy-link").addEventListener("click", () => this.copyLink());
  }

  // Changing how costs are given keeps the costs.
  chooseCosts(how) {
    this.state.costs = how;
    const { fp, fn } = this.state;
    const alpha = number(this.state.alpha);
    if (how === "alpha" && Number(fp) > 0 && Number(fn) > 0) this.state.alpha = fractionOf(Number(fp), Number(fn));
    if (how === "two" && alpha > 0 && alpha < 1) Object.assign(this.state, { fp: "1", fn: String(Number(((1 - alpha) / alpha).toPrecision(6))) });
  }

  restore() {
    this.phiOf = null;
    this.showControls();
    this.pictures.restore();
    this.changed(false);
  }

  showControls() {
    const state = this.state;
    byId("kind").value = state.kind;
    for (const part of document.querySelectorAll("[data-kind]")) part.hidden = !part.dataset.kind.split(" ").includes(state.kind);
    byId("phi").value = state.phi;
    byId("zoo").value = state.zoo;
    for (const id of TYPED) if (byId(id).value !== state[id]) byId(id).value = state[id];
    byId("keep-beta").checked = state.beta === null;
    byId("beta-row").hidden = state.beta === null;
    byId(`costs-${state.costs}`).checked = true;
    byId("two-costs").hidden = state.costs !== "two";
    byId("alpha-row").hidden = state.costs !== "alpha";
    byId("weighted").checked = state.weighted;
    this.showParameters();
    this.showNumbers();
    this.showSliders();
  }

  showParameters() {
    const chosen = this.choices.phis.find((phi) => phi.name === this.state.phi);
    const rows = (chosen?.parameters ?? []).map(({ name, default: usual }) => {
      const label = document.createElement("label");
      label.textContent = name;
      const input = Object.assign(document.createElement("input"), { type: "text", inputMode: "decimal", value: this.state.parameters[name] ?? usual });
      input.addEventListener("input", () => { this.state.parameters = { ...this.state.parameters, [name]: input.value }; this.changed(); });
      label.append(input);
      return label;
    });
    byId("parameters").replaceChildren(...rows);
  }

  showNumbers() {
    for (const id of ["gamma", "beta", "alpha", "fp", "fn"]) {
      const value = this.state[id] ?? "";
      if (byId(id).value !== value) byId(id).value = value;
    }
  }

  showSliders() {
    const put = (id, value) => { if (Number.isFinite(value)) byId(id).value = value; };
    put("gamma-slider", Math.log2(number(this.state.gamma)));
    put("beta-slider", Math.log2(number(this.state.beta ?? "1")));
    const alpha = number(this.state.alpha);
    put("alpha-slider", Math.log10(alpha / (1 - alpha)));
    byId("gamma-slider").setAttribute("aria-valuetext", `gamma ${this.state.gamma}`);
    byId("beta-slider").setAttribute("aria-valuetext", `beta ${this.state.beta ?? "1/gamma"}`);
    byId("alpha-slider").setAttribute("aria-valuetext", `alpha ${this.state.alpha}`);
  }

  // -- answers -------------------------------------------------------------------------------------------------------

  changed(remember = true) {
    if (remember) this.remember();
    byId("verdict").classList.add("waiting");
    byId("certificate-said").textContent = "";
    this.moved = performance.now();
    this.curves.ask();
    this.proofs.stop();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.proofs.ask(), REST);
  }

  // The formula as it is typed: it appears even where it is no loss yet.
  async render(signal) {
    const field = this.state.kind === "own" ? "text" : document.activeElement?.id;
    if (!TYPED.includes(field)) return;
    try {
      const { mathml: markup } = await ask("formula", { text: this.state[field], field }, signal);
      if (this.state.kind === "own") byId("formula").replaceChildren(mathml(markup, HEADS.phi));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.refuse(error);
    }
  }

  // A picture of an older state is drawn, so that it follows a slider; an older mistake is not shown any more.
  async drawCurves(signal) {
    const asked = this.moved;
    try {
      const found = await ask("curves", question(this.state), signal);
      if (asked === this.moved) this.typed.stop(); // its formula is among these
      this.clear();
      this.showFormulas(found.formulas);
      this.pictures.draw(found);
      performance.clearMeasures("redraw");
      performance.measure("redraw", { start: this.moved });
      byId("panels").classList.remove("stale");
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (asked === this.moved) this.refuse(error);
    }
  }

  showFormulas(formulas) {
    const wanted = this.state.kind === "phi" || this.state.kind === "own" ? ["phi", "positive", "negative"] : ["positive", "negative"];
    byId("formula").replaceChildren(...wanted.filter((name) => formulas[name]).map((name) => mathml(formulas[name], HEADS[name])));
  }

  async prove(signal) {
    const asked = question(this.state);
    this.tie(asked, signal);
    const parts = [this.judge(asked, signal), this.enclose(asked, signal)];
    await Promise.all(parts);
  }

  async judge(asked, signal) {
    try {
      const found = await ask("verdict", asked, signal);
      this.showVerdict(found);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.refuse(error);
    }
  }

  async enclose(asked, signal) {
    try {
      this.pictures.enclose(await ask("enclosure", asked, signal));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.pictures.enclose({ reason: error.message });
    }
  }

  // alpha(gamma) depends on phi alone, so it is asked for only when phi changes.
  async tie(asked, signal) {
    const key = JSON.stringify([asked.kind, asked.phi, asked.parameters, asked.text]);
    if (this.phiOf === key) return;
    try {
      this.pictures.tie(await ask("alpha_of_gamma", asked, signal));
      this.phiOf = key;
    } catch (error) {
      if (error instanceof Refused) this.pictures.tie({ reason: "" });
      else if (error.name !== "AbortError") throw error;
    }
  }

  showVerdict(found) {
    const box = byId("verdict");
    box.classList.remove("waiting");
    box.dataset.status = found.status.startsWith("calibrated") ? "calibrated" : found.status;
    if (byId("sentence").textContent !== found.sentence) byId("sentence").textContent = found.sentence;
    byId("reason").textContent = `Why: ${found.reason}.`;
    byId("implied").textContent = found.implied;
    this.remedy = found.remedy?.set ?? null;
    byId("remedy").hidden = !found.remedy;
    byId("remedy-words").textContent = found.remedy ? `Remedy: ${found.remedy.words}.` : "";
    byId("apply-remedy").hidden = !this.remedy;
    byId("certify").disabled = false;
  }

  clear() {
    for (const field of FIELDS) showProblem(byId(`problem-${field}`), null);
    for (const field of FIELDS) byId(field)?.removeAttribute("aria-invalid");
    if (byId("verdict").dataset.status === "mistake") {
      byId("verdict").dataset.status = "waiting";
      byId("sentence").textContent = "One moment …";
    }
  }

  refuse(refused) {
    const box = byId("verdict");
    this.clear();
    byId("panels").classList.add("stale");
    box.classList.remove("waiting");
    box.dataset.status = "mistake";
    for (const id of ["reason", "implied"]) byId(id).textContent = "";
    byId("remedy").hidden = true;
    byId("certify").disabled = true;
    const place = FIELDS.includes(refused.field) ? byId(`problem-${refused.field}`) : null;
    if (place) {
      showProblem(place, refused, TYPED.includes(refused.field) ? this.state[refused.field] : null);
      byId(refused.field)?.setAttribute("aria-invalid", "true");
      byId("sentence").textContent = TYPED.includes(refused.field) ? "There is a mistake in the formula." : "One of the numbers or names cannot be used.";
    } else {
      byId("sentence").textContent = refused.message;
    }
  }

  // -- buttons -------------------------------------------------------------------------------------------------------

  async certify() {
    const said = byId("certificate-said");
    said.textContent = "Proving …";
    byId("certify").disabled = true;
    try {
      const made = await ask("certificate", question(this.state));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([made.text], { type: "application/json" }));
      link.download = made.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      const checked = made.checked ? " Checked again from its text: valid. `uneven verify` checks it, too." : "";
      said.textContent = `${made.summary[0].toUpperCase()}${made.summary.slice(1)}${checked}`;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      said.textContent = error.message;
    } finally {
      byId("certify").disabled = false;
    }
  }

  async copyLink() {
    const said = byId("certificate-said");
    const link = location.origin + location.pathname + toAddress(this.state);
    try {
      await navigator.clipboard.writeText(link);
      said.textContent = "The link is in the clipboard.";
    } catch {
      said.textContent = `The link is the address of this page: ${link}`;
    }
  }
}

function number(text) {
  const [above, below] = text.split("/").map(Number);
  return below === undefined ? above : above / below;
}

function power(base, exponent) {
  return String(Number((base ** Number(exponent)).toPrecision(3)));
}

function inverse(text) {
  return text.includes("/") ? text.split("/").reverse().join("/").replace(/\/1$/, "") : `1/${text}`;
}

function fractionOf(fp, fn) {
  const whole = Number.isInteger(fp) && Number.isInteger(fn);
  return whole ? `${fp}/${fp + fn}` : String(Number((fp / (fp + fn)).toPrecision(6)));
}

// alpha from its log-odds to base 10; where the ratio of costs is a whole number, as an exact fraction.
function alphaAt(slider) {
  const odds = 10 ** Number(slider);
  const ratio = Number((odds < 1 ? 1 / odds : odds).toPrecision(2));
  if (Number.isInteger(ratio)) return odds < 1 ? `1/${ratio + 1}` : `${ratio}/${ratio + 1}`;
  const value = odds < 1 ? 1 / (1 + ratio) : ratio / (1 + ratio);
  return String(Number(value.toPrecision(4)));
}
