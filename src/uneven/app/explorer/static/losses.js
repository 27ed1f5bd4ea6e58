// The tab of losses: controls, the sentence on top, and what the server says about them.

import { ask, Newest, Refused } from "/static/api.js";
import { LossPictures } from "/static/loss_pictures.js";
import { HEADS, mathml, showProblem } from "/static/formula.js";
import { short } from "/static/plots.js";
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
    this.version = 0; // counts changes; an answer belongs to the version that asked for it
    this.judged = 0; // the version that has a verdict, or a reason why there is none
    this.tiedTo = null; // the loss whose alpha(gamma) is shown
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
      for (const [library, names] of byLibrary(this.choices.zoo)) {
        const group = Object.assign(document.createElement("optgroup"), { label: library });
        group.append(...names.map((name) => new Option(name.slice(library.length + 1), name)));
        byId("zoo").append(group);
      }
      const option = byId("kind").querySelector("option[value=zoo]");
      option.hidden = option.disabled = false;
    }
    byId("functions").textContent = this.choices.functions.join(", ");
  }

  listen(reset) {
    const set = (id, event, change) => byId(id).addEventListener(event, () => { change(byId(id)); this.changed(id); });
    set("kind", "change", (e) => this.chooseKind(e.value));
    set("phi", "change", (e) => { this.state.phi = e.value; this.state.parameters = {}; this.showControls(); });
    set("zoo", "change", (e) => { this.state.zoo = e.value; });
    for (const id of TYPED) set(id, "input", (e) => { this.state[id] = e.value; this.field = id; this.typed.ask(); });
    for (const id of ["gamma", "beta", "alpha", "fp", "fn"]) set(id, "input", (e) => { this.state[id] = e.value; this.showSliders(); this.showWorth(); });
    set("gamma-slider", "input", (e) => { this.state.gamma = power(2, e.value); this.showNumbers(); });
    set("beta-slider", "input", (e) => { this.state.beta = power(2, e.value); this.showNumbers(); });
    set("alpha-slider", "input", (e) => { this.state.alpha = alphaAt(e.value); this.showNumbers(); });
    set("keep-beta", "change", (e) => { this.state.beta = e.checked ? null : inverse(this.state.gamma); this.showControls(); });
    for (const id of ["costs-two", "costs-alpha"]) set(id, "change", (e) => { this.chooseCosts(e.value); this.showControls(); });
    set("weighted", "change", (e) => { this.state.weighted = e.checked; });
    set("worth", "input", (e) => { Object.assign(this.state, { costs: "two", fp: "1", fn: e.value }); this.showControls(); });
    byId("case").addEventListener("change", () => this.showWorth());
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
    byId("reset").addEventListener("click", () => { reset(); this.restore(); this.remember("reset"); });
    byId("apply-remedy").addEventListener("click", () => { Object.assign(this.state, structuredClone(this.remedy)); this.restore(); this.remember("remedy"); });
    byId("certify").addEventListener("click", () => this.certify());
    byId("copy-link").addEventListener("click", () => this.copyLink());
  }

  // A loss that someone else wrote has weights of its own; a phi gets those of the costs.
  chooseKind(kind) {
    Object.assign(this.state, { kind, weighted: kind === "phi" || kind === "own" });
    if (kind === "zoo" && !this.state.zoo) this.state.zoo = this.choices.zoo[0];
    this.showControls();
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
    this.showControls();
    this.pictures.restore();
    this.changed();
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
      input.addEventListener("input", () => { this.state.parameters = { ...this.state.parameters, [name]: input.value }; this.changed(`p.${name}`); });
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
    this.showWorth();
  }

  // The question in words: the ratio of the two costs, however they are given.
  showWorth() {
    const { costs, fp, fn, alpha } = this.state;
    const worth = costs === "two" ? number(fn) / number(fp) : 1 / number(alpha) - 1;
    const [word] = byId("case").selectedOptions;
    byId("case-word").textContent = word.value;
    const known = worth > 0 && Number.isFinite(worth);
    if (document.activeElement !== byId("worth")) byId("worth").value = known ? String(Number(worth.toPrecision(6))) : "";
    byId("worth-said").textContent = known
      ? `Then flag every case whose chance of ${word.dataset.chance} is above ${short(100 / (1 + worth))} %. Below you see whether a loss learns exactly that.`
      : "A number above 0, such as 20.";
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

  // By a control; without one, by what the address says.
  changed(control = null) {
    if (control) this.remember(control);
    this.version += 1;
    this.moved = performance.now();
    byId("verdict").classList.add("waiting");
    byId("certificate-said").textContent = "";
    byId("apply-remedy").disabled = true; // it repairs what was there before
    if (this.tiedTo !== lossOf(question(this.state))) {
      this.tiedTo = null;
      this.pictures.tie(null);
    }
    this.curves.ask();
    this.proofs.stop();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.proofs.ask(), REST);
  }

  // The formula as it is typed: it appears even where it is no loss yet.
  async render(signal) {
    const field = this.field;
    const { kind, [field]: text } = this.state;
    const current = () => this.state.kind === kind && this.state[field] === text && !byId(field).closest("[data-kind]").hidden;
    if (!current()) return;
    try {
      const { mathml: markup } = await ask("formula", { text, field }, signal);
      if (!current() || kind !== "own") return;
      this.formulaOf = null;
      byId("formula").replaceChildren(mathml(markup, HEADS.phi));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (!current()) return;
      this.refuse(error);
      this.pictures.fade();
    }
  }

  // A picture of older numbers is drawn, so that it follows a slider; older words are not shown any more.
  async drawCurves(signal) {
    const { version } = this;
    const asked = question(this.state);
    try {
      const found = await ask("curves", asked, signal);
      this.pictures.draw(found, version);
      performance.clearMeasures("redraw");
      performance.measure("redraw", { start: this.moved });
      if (lossOf(asked) === lossOf(question(this.state))) this.showFormulas(found.formulas);
      if (version !== this.version) return;
      this.typed.stop(); // its formula is among these
      this.clear();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (version !== this.version) return;
      this.refuse(error);
      this.pictures.fade();
      clearTimeout(this.timer); // there is nothing to prove
      this.proofs.stop();
    }
  }

  showFormulas(formulas) {
    const shown = ["phi", "positive", "negative"].filter((name) => formulas[name]).map((name) => [name, formulas[name]]);
    if (this.formulaOf === JSON.stringify(shown)) return;
    this.formulaOf = JSON.stringify(shown);
    byId("formula").replaceChildren(...shown.map(([name, markup]) => mathml(markup, HEADS[name])));
  }

  async prove(signal) {
    const asked = question(this.state);
    const { version } = this;
    await Promise.all([this.judge(asked, version, signal), this.enclose(asked, version, signal), this.tie(asked, signal)]);
  }

  async judge(asked, version, signal) {
    try {
      const found = await ask("verdict", asked, signal);
      this.judged = version;
      this.showVerdict(found);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.judged = version;
      this.refuse(error);
    }
  }

  async enclose(asked, version, signal) {
    try {
      this.pictures.enclose(await ask("enclosure", asked, signal), version, asked);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.pictures.enclose({ reason: `No bound: ${error.message}.` }, version, asked);
    }
  }

  // alpha(gamma) depends on phi alone, so it is asked for only when phi changes.
  async tie(asked, signal) {
    if (this.tiedTo === lossOf(asked) || !(asked.kind === "phi" || asked.kind === "own")) return;
    try {
      this.pictures.tie(await ask("alpha_of_gamma", asked, signal));
      this.tiedTo = lossOf(asked);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.pictures.tie({ reason: error.message });
    }
  }

  showVerdict(found) {
    const box = byId("verdict");
    this.clear();
    box.classList.remove("waiting");
    box.dataset.status = found.status.startsWith("calibrated") ? "calibrated" : found.status;
    if (byId("sentence").textContent !== found.sentence) byId("sentence").textContent = found.sentence;
    byId("reason").textContent = `Why: ${found.reason}.`;
    byId("implied").textContent = found.implied;
    this.remedy = found.remedy?.set ?? null;
    byId("remedy").hidden = !found.remedy;
    byId("remedy-words").textContent = found.remedy ? `Remedy: ${found.remedy.words}.` : "";
    byId("apply-remedy").hidden = !this.remedy;
    byId("apply-remedy").disabled = false;
    byId("certify").disabled = false;
  }

  clear() {
    for (const field of FIELDS) showProblem(byId(`problem-${field}`), null);
    for (const field of FIELDS) byId(field)?.removeAttribute("aria-invalid");
    if (byId("verdict").dataset.status === "mistake" && this.judged !== this.version) {
      byId("verdict").dataset.status = "waiting";
      byId("sentence").textContent = "One moment …";
    }
  }

  refuse(refused) {
    const box = byId("verdict");
    this.clear();
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
    const { version } = this;
    const say = (words) => { if (version === this.version) said.textContent = words; };
    say("Proving …");
    byId("certify").disabled = true;
    try {
      const made = await ask("certificate", question(this.state));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([made.text], { type: "application/json" }));
      link.download = made.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      const checked = made.checked ? " Checked again from its text: valid. `uneven verify` checks it, too." : "";
      say(`${made.summary[0].toUpperCase()}${made.summary.slice(1)}${checked}`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      say(error.message);
    } finally {
      byId("certify").disabled = byId("verdict").dataset.status === "mistake";
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

// The loss that was asked about, whatever its numbers.
function lossOf({ kind, phi, parameters, text, positive, negative, zoo }) {
  return JSON.stringify([kind, phi, parameters, text, positive, negative, zoo]);
}

function byLibrary(names) {
  const groups = new Map();
  for (const name of names) {
    const library = name.split(".")[0];
    groups.set(library, [...(groups.get(library) ?? []), name]);
  }
  return groups;
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
