// The tab "Your data": a table, a fit, and a threshold to drag.

import { askFit, askGiven, askTable, askText, Refused } from "/static/api.js";
import { showProblem } from "/static/formula.js";
import { DataPictures } from "/static/data_pictures.js";
import { Limits } from "/static/limits.js";
import { ClassResult } from "/static/class_result.js";
import { CostTable } from "/static/cost_table.js";

const MOST = 64 * 1024 * 1024;
const PROBLEMS = { file: "file", target: "target", positive: "target", fp: "data-fp", fn: "data-fn", unit: "unit", rows: "rows", seconds: "seconds", members: "seconds", columns: "columns", costs: "costs", most: "most" };
const CLASSES = [3, 10]; // from so many values of the target on, and up to so many, each confusion can have a cost
const EVERY = ""; // in place of one value to find
const byId = (id) => document.getElementById(id);

export class DataTab {
  constructor(page) {
    this.page = page;
    this.file = null;
    this.targets = [];
    this.columns = [];
    this.leftOut = new Set();
    this.asked = false; // whether this table was fitted: then another choice of columns is computed at once
    this.controller = null; // of the fit under way
    this.reading = null; // of the table that is read: a newer one replaces it
    this.pictures = new DataPictures();
    this.limits = new Limits();
    this.costTable = new CostTable(() => this.recost(), (error) => this.refuse(error));
    this.classResult = new ClassResult(this.costTable, (...words) => this.sayAgain(...words));
    this.warning = ""; // of columns that may give the target away: other costs do not change that
    this.note = "";
    this.ownCosts = false;
    for (const id of ["data-fp", "data-fn"]) byId(id).addEventListener("input", () => { this.ownCosts = true; });
    this.adoptCosts();
    byId("file").addEventListener("click", () => { byId("file").value = ""; }); // the same file again may have changed
    byId("file").addEventListener("change", () => { if (byId("file").files[0]) this.take(byId("file").files[0]); });
    byId("sheet").addEventListener("change", () => { const { file } = this; if (file) this.read(`Reading ${byId("sheet").value} …`, () => file, byId("sheet").value); });
    byId("example").addEventListener("click", () => this.takeExample());
    byId("target").addEventListener("change", () => { this.showValues(); this.showColumns(); });
    for (const id of ["columns", "leak-boxes"]) byId(id).addEventListener("change", ({ target }) => this.leave(target.value, target.checked));
    byId("positive-value").addEventListener("change", () => this.showNegatives());
    byId("data-controls").addEventListener("submit", (event) => { event.preventDefault(); this.fit(); });
    byId("save-model").addEventListener("click", () => this.save("model_file", "Writing the model …"));
    byId("save-decisions").addEventListener("click", () => this.save("decisions_file", "Deciding …"));
    byId("new-rows").addEventListener("click", () => { byId("new-rows").value = ""; });
    byId("new-rows").addEventListener("change", () => { const [rows] = byId("new-rows").files; if (rows) this.save("decisions_file", `Deciding about ${rows.name} …`, rows); });
    byId("cancel").addEventListener("click", () => this.controller?.abort());
    const drop = byId("drop");
    for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      if (event.dataTransfer.files[0]) this.take(event.dataTransfer.files[0]);
    });
    // A file that misses the box must not replace the page.
    for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());
  }

  // The costs of the other tab, until others are typed here.
  adoptCosts() {
    if (this.ownCosts || this.page.state.costs !== "two") return;
    byId("data-fp").value = this.page.state.fp;
    byId("data-fn").value = this.page.state.fn;
  }

  say(words, status = "waiting", note = "") {
    byId("result").dataset.status = status;
    byId("result-sentence").textContent = words;
    byId("result-note").textContent = note;
  }

  // What is said at other costs than those of the fit.
  sayAgain(sentence, status) {
    if (this.warning) this.say(this.warning, "mistake", `${sentence} ${this.note}`);
    else this.say(sentence, status, this.note);
  }

  clear() {
    for (const id of new Set(Object.values(PROBLEMS))) showProblem(byId(`problem-${id}`), null);
  }

  refuse(error) {
    if (!(error instanceof Refused)) throw error;
    const id = PROBLEMS[error.field];
    if (id) showProblem(byId(`problem-${id}`), error);
    this.say(id ? "This cannot be fitted yet." : error.message, "mistake");
  }

  hideResult() {
    for (const id of ["data-panels", "leaks", "about", "save"]) byId(id).hidden = true;
    byId("save-said").textContent = "";
    this.pictures.hide();
    this.limits.hide();
    this.classResult.hide();
  }

  takeExample() {
    return this.read("Fetching the example …", async (signal) => new File([await askText("example", signal)], "tumours.csv", { type: "text/csv" }));
  }

  take(file) {
    return this.read(`Reading ${file.name} …`, () => {
      if (file.size <= MOST) return file;
      const size = Math.ceil(file.size / 2 ** 20);
      throw new Refused(`${file.name} has ${size} MB; at most ${MOST / 2 ** 20} MB are read here, and \`uneven fit\` reads larger files`, 413, "file");
    });
  }

  // The table of `uneven explore table.csv`, with what it was told: if that is all, the fit begins at once.
  async openGiven() {
    const given = await askGiven();
    if (!given) return;
    const { sheet, target, positive, fp, fn, unit, costs } = given.question;
    await this.read(`Reading ${given.file.name} …`, () => given.file, sheet);
    if (!this.file) return; // it was refused, or another one was chosen
    const put = (id, value) => { if (value !== undefined) byId(id).value = value; };
    if (target !== undefined && !this.targets.some(({ name }) => name === target)) {
      showProblem(byId("problem-target"), new Refused(`column ${target} has more than 20 different values or only one; choose another`, 400));
      return;
    }
    put("target", target);
    this.showValues();
    this.showColumns();
    put("positive-value", positive);
    this.showNegatives();
    put("data-fp", fp);
    put("data-fn", fn);
    put("unit", unit);
    if (fp !== undefined || fn !== undefined) this.ownCosts = true;
    if (costs) this.costTable.take(costs);
    if (costs || [target, positive, fp, fn].every((value) => value !== undefined)) await this.fit();
  }

  async read(words, fetched, sheet = "") {
    this.controller?.abort();
    this.reading?.abort();
    this.reading = new AbortController();
    const { signal } = this.reading;
    this.clear();
    byId("asked").disabled = true;
    if (!sheet) byId("sheet-row").hidden = true;
    this.hideResult(); // it is of another table
    this.file = null;
    byId("file-said").textContent = words;
    try {
      const file = await fetched(signal);
      const found = await askTable(file, sheet, signal);
      this.file = file;
      this.targets = found.targets;
      this.columns = found.columns;
      this.sheet = found.sheet;
      byId("sheet-row").hidden = found.sheets.length < 2;
      byId("sheet").replaceChildren(...found.sheets.map((name) => new Option(name, name)));
      byId("sheet").value = found.sheet;
      this.leftOut.clear();
      this.limits.forget();
      this.asked = false;
      byId("file-said").textContent = found.words;
      byId("target").replaceChildren(...found.targets.map(({ name }) => new Option(name, name)));
      byId("target").value = likely(found.targets);
      byId("asked").disabled = false;
      this.showValues();
      this.showColumns();
      this.say("Choose what to predict and what mistakes cost, then fit.");
    } catch (error) {
      if (error.name === "AbortError") return;
      byId("file-said").textContent = "";
      this.refuse(error);
    }
  }

  get values() {
    return this.targets.find(({ name }) => name === byId("target").value).values;
  }

  // Whether every value is a class, and each confusion has a cost.
  get several() {
    return byId("positive-value").value === EVERY;
  }

  showValues() {
    const { values } = this;
    const every = values.length >= CLASSES[0] && values.length <= CLASSES[1] ? [new Option(`all ${values.length} values, a table of costs`, EVERY)] : [];
    byId("positive-value").replaceChildren(...every, ...values.map(({ value, rows }) => new Option(`${value} (${rows.toLocaleString("en")} rows)`, value)));
    this.showNegatives();
  }

  showNegatives() {
    const { values, several } = this;
    byId("data-two-costs").hidden = several;
    byId("costs-figure").hidden = !several;
    if (several) this.costTable.show(values.map(({ value }) => value));
    const others = values.filter(({ value }) => value !== byId("positive-value").value);
    byId("negatives").textContent = several ? values.map(({ value, rows }) => `${value}: ${rows.toLocaleString("en")} rows`).join(", ") : others.length > 1 ? `All ${others.length} other values count as negative.` : "";
  }

  // Other costs of the table: everything is decided again, and what is saved follows.
  recost() {
    showProblem(byId("problem-costs"), null);
    if (!this.several || !this.question?.costs || this.question.target !== byId("target").value) return; // of another fit
    this.question = { ...this.question, costs: this.costTable.costs() };
    this.classResult.change();
  }

  showColumns() {
    const names = this.columns.filter((name) => name !== byId("target").value);
    byId("cost-columns").replaceChildren(...names.map((name) => new Option(name)));
    byId("columns").replaceChildren(...names.map((name) => box(name, name, this.leftOut.has(name))));
    byId("columns-count").textContent = this.leftOut.size ? `(${this.leftOut.size})` : "";
  }

  // A column is left out, or used again.
  leave(name, out) {
    if (out) this.leftOut.add(name);
    else this.leftOut.delete(name);
    this.showColumns();
    if (this.asked) this.fit();
  }

  // Columns that may give the target away: first, and red.
  showLeaks(leaks, warning) {
    byId("leaks").hidden = !leaks.length;
    byId("leak-boxes").replaceChildren(...leaks.map(({ column, words }) => box(column, `leave out ${column}: ${words}`, this.leftOut.has(column))));
    if (warning) this.say(warning, "mistake");
  }

  async fit() {
    if (!this.file) return;
    this.clear();
    this.asked = true;
    this.controller?.abort();
    const mine = new AbortController();
    this.controller = mine;
    byId("fit").disabled = true;
    byId("cancel").hidden = false;
    byId("progress").hidden = false;
    this.hideResult();
    this.say("Fitting …");
    const asked = {
      sheet: this.sheet, target: byId("target").value, unit: byId("unit").value, members: byId("members").value, seconds: byId("seconds").value,
      leave_out: [...this.leftOut].filter((name) => name !== byId("target").value),
    };
    const costs = this.several ? { costs: this.costTable.costs() } : { positive: byId("positive-value").value, fp: byId("data-fp").value, fn: byId("data-fn").value };
    const question = this.question = { ...asked, ...costs }; // as it was fitted: what is saved belongs to it
    this.tell({ progress: "starting", share: 0 });
    try {
      const result = await askFit(this.file, question, (part) => { if (this.controller === mine) this.tell(part); }, mine.signal);
      const members = Object.entries(result.members).map(([name, weight]) => `${name.replace("_", " ")} ${Math.round(100 * weight)} %`).join(", ");
      const cheaper = question.costs ? result.cheaper : result.cost.cost < Math.min(result.everyone, result.no_one);
      const out = question.leave_out.length ? `Left out: ${question.leave_out.join(", ")}. ` : "";
      const some = result.kept < result.rows ? `Costs are those of ${result.kept.toLocaleString("en")} rows, drawn from ${result.rows.toLocaleString("en")}. ` : "";
      const note = `${result.note ? `${result.note} ` : ""}${out}${some}Models averaged: ${members}.`;
      Object.assign(this, { note, warning: result.leaks?.length ? result.warning : "" });
      if (result.warning) this.say(result.warning, "mistake", `${result.sentence} ${note}`);
      else this.say(result.sentence, cheaper ? "calibrated" : "not calibrated", note);
      byId("data-panels").hidden = byId("save").hidden = false;
      if (question.costs) {
        this.classResult.show(result);
        if (JSON.stringify(question.costs) !== JSON.stringify(this.costTable.costs())) this.recost(); // changed meanwhile
      } else {
        this.pictures.showResult(result);
        this.limits.show(result);
      }
    } catch (error) {
      if (this.controller !== mine) return; // a newer fit has taken its place
      if (error.name === "AbortError") { if (this.file) this.say("Stopped."); } // else another table was chosen
      else this.refuse(error);
    } finally {
      if (this.controller === mine) {
        byId("fit").disabled = false;
        byId("cancel").hidden = true;
        byId("progress").hidden = true;
        this.controller = null;
      }
    }
  }

  // The model or its decisions as a file; the fit of the page is used, or made again.
  async save(name, words, rows = null) {
    const { file, question } = this;
    if (!file || !question || this.controller) return;
    const mine = new AbortController();
    this.controller = mine;
    this.clear();
    const parts = [byId("save-model"), byId("save-decisions"), byId("new-rows"), byId("fit")];
    for (const part of parts) part.disabled = true;
    byId("save-said").textContent = words;
    try {
      if (rows && file.size + rows.size > MOST) throw new Refused(`both tables have more than ${MOST / 2 ** 20} MB; \`uneven predict\` decides about larger ones`, 413, "rows");
      const found = await askFit(file, question, (part) => { if (part.progress) byId("save-said").textContent = `Fitting again: ${part.progress}`; }, mine.signal, { name, rows });
      if (this.controller !== mine) return;
      download(found.name, found.file);
      byId("save-said").textContent = `${found.name} is saved. ${found.words}`;
    } catch (error) {
      if (this.controller !== mine) return;
      byId("save-said").textContent = "";
      if (error.name !== "AbortError" && !(error instanceof Refused)) throw error;
      if (error instanceof Refused) showProblem(byId("problem-rows"), error);
    } finally {
      for (const part of parts) part.disabled = false;
      if (this.controller === mine) this.controller = null;
    }
  }

  tell(part) {
    if (part.progress) {
      byId("progress-words").textContent = part.progress;
      byId("bar").value = part.share;
    }
    if (part.about) {
      byId("about").hidden = false;
      byId("about-list").replaceChildren(...part.about.map((sentence) => Object.assign(document.createElement("li"), { textContent: sentence })));
    }
    if (part.leaks) this.showLeaks(part.leaks, part.warning);
    if (part.gamma_path) {
      byId("data-panels").hidden = false;
      this.pictures.showPath(part.gamma_path);
    }
  }
}

// Bytes in base64 as a file of the user.
function download(name, content) {
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([bytes])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function box(value, words, checked) {
  const label = Object.assign(document.createElement("label"), { className: "check" });
  label.append(Object.assign(document.createElement("input"), { type: "checkbox", value, checked }), words);
  return label;
}

// The column to predict is most often the last one that has two values.
function likely(targets) {
  const named = targets.find(({ name }) => /^(target|label|class|y|outcome|diagnosis|fraud|churn|default)$/i.test(name));
  return (named ?? targets.findLast(({ values }) => values.length === 2) ?? targets.at(-1)).name;
}
