// The tab "Your data", after a fit: at most so many flags, or a person who decides for a price. The page keeps the rows
// that no model had seen and sends them with each question, so that a slider needs no new fit.

import { askAboutRows, Newest, Refused } from "/static/api.js";
import { showProblem } from "/static/formula.js";
import { Handle } from "/static/handle.js";
import { dots, line, Picture } from "/static/plots.js";

const byId = (id) => document.getElementById(id);
const PATIENCE = 500; // milliseconds that a newer question waits for an older one
const PRICES = { start: 25, pays: 100 }; // steps of the slider: where it starts, and where a person without errors ceases to pay
const REVIEWS = 200; // steps of the slider of reviews; the last one is no limit
const FIELDS = { most_flags: "most-flags", price: "price", misses: "person-misses", false_alarms: "person-alarms", most_reviews: "most-reviews" };
const DONE = { clear: ["cleared", "third"], review: ["reviewed", "first"], flag: ["flagged", "second"] };

export class Limits {
  constructor() {
    this.result = null;
    this.picture = new Picture("plot-flags", "most rows that are flagged", "cost per 1,000 rows");
    this.handle = new Handle(this.picture, {
      label: "most flags", steps: 100, read: () => this.mostFlags(), shown: (value) => Math.round(value).toLocaleString("en"),
      write: (value) => this.setFlags(Math.round(value)),
    });
    this.flags = new Newest((signal) => this.askFlags(signal), PATIENCE);
    this.review = new Newest((signal) => this.askReview(signal), PATIENCE);
    this.questions = [this.flags, this.review];
    this.chosen = new Set(); // fields that the user has changed: they stay as they are when the same table is fitted again
    const on = (id, field, change) => byId(id).addEventListener("input", () => { this.chosen.add(field); change(); });
    on("flags-slider", "most-flags", () => this.setFlags(Number(byId("flags-slider").value)));
    on("most-flags", "most-flags", () => { this.followFlags(); this.flags.ask(); });
    on("price-slider", "price", () => { byId("price").value = this.priceAt(Number(byId("price-slider").value)); this.review.ask(); });
    on("price", "price", () => { this.followPrice(); this.review.ask(); });
    on("reviews-slider", "most-reviews", () => { byId("most-reviews").value = this.reviewsAt(Number(byId("reviews-slider").value)); this.review.ask(); });
    on("most-reviews", "most-reviews", () => { this.followReviews(); this.review.ask(); });
    for (const id of ["person-misses", "person-alarms"]) on(id, id, () => this.review.ask());
  }

  forget() {
    this.chosen.clear();
  }

  hide() {
    for (const question of this.questions) question.stop();
    for (const id of ["flags-figure", "review-figure"]) byId(id).hidden = true;
  }

  show(result) {
    this.result = result;
    if (!result.limits) return; // too many rows with costs of their own
    const { unseen, flags, capacity } = result.limits;
    this.rows = Uint8Array.from(atob(unseen), (letter) => letter.charCodeAt(0));
    byId("flags-slider").max = capacity.at(-1);
    const usual = { "most-flags": String(flags), price: this.priceAt(PRICES.start), "person-misses": "0", "person-alarms": "0", "most-reviews": "" };
    for (const [id, value] of Object.entries(usual)) if (!this.chosen.has(id)) byId(id).value = value;
    for (const id of ["said-flags", "said-review", "shares"]) byId(id).replaceChildren();
    byId("flags-figure").hidden = false;
    byId("review-figure").hidden = result.per_row; // its sentence is about one pair of costs
    this.picture.show(() => this.curve());
    this.followFlags();
    if (result.per_row) {
      this.flags.ask();
      return;
    }
    this.followPrice();
    this.followReviews();
    for (const question of this.questions) question.ask();
  }

  // -- sliders and the numbers beside them --------------------------------------------------------------------------

  mostFlags() {
    const { capacity } = this.result.limits;
    const written = whole(byId("most-flags").value);
    return Number.isNaN(written) ? capacity.at(-1) : Math.min(written, capacity.at(-1));
  }

  setFlags(limit) {
    this.chosen.add("most-flags");
    byId("most-flags").value = String(limit);
    this.followFlags();
    this.flags.ask();
  }

  followFlags() {
    byId("flags-slider").value = String(this.mostFlags());
    this.handle.follow();
  }

  priceAt(step) {
    return String(Number(((step / PRICES.pays) * this.result.limits.pays_below).toPrecision(3)));
  }

  followPrice() {
    byId("price-slider").value = String(Math.round((Number(byId("price").value) / this.result.limits.pays_below) * PRICES.pays) || 0);
  }

  // Small limits have more room.
  reviewsAt(step) {
    return step === REVIEWS ? "" : String(Math.round(this.result.rows * (step / REVIEWS) ** 2));
  }

  followReviews() {
    const written = whole(byId("most-reviews").value);
    byId("reviews-slider").value = String(Number.isNaN(written) ? REVIEWS : Math.round(REVIEWS * Math.sqrt(Math.min(1, written / this.result.rows))));
  }

  // -- questions ----------------------------------------------------------------------------------------------------

  async ask(name, fields, said, signal) {
    const { result } = this;
    const written = Object.fromEntries(fields.map((field) => [field, byId(FIELDS[field]).value]));
    const question = { ...written, rows: result.rows, per_row: result.per_row, fp: result.fp_cost, fn: result.fn_cost, unit: result.unit, shift: result.limits.shift };
    let [answer, refused] = [null, null];
    try {
      answer = await askAboutRows(name, this.rows, question, signal);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused = error;
    }
    signal.throwIfAborted(); // another fit, or a newer question
    for (const field of fields) showProblem(byId(`problem-${FIELDS[field]}`), refused?.field === field ? refused : null);
    if (answer) byId(said).textContent = answer.words;
    else byId(said).textContent = refused.field ? "" : refused.message;
    return answer;
  }

  askFlags(signal) {
    return this.ask("flag_limit", ["most_flags"], "said-flags", signal);
  }

  async askReview(signal) {
    const answer = await this.ask("review", ["price", "misses", "false_alarms", "most_reviews"], "said-review", signal);
    this.showShares(answer?.shares);
  }

  // -- pictures -----------------------------------------------------------------------------------------------------

  curve() {
    const { capacity, cost, best, flags } = this.result.limits;
    const top = 1.08 * Math.max(...cost);
    return {
      traces: [
        line("cost", capacity, cost, "accent"),
        dots("cheapest on these rows", [best.capacity], [best.cost], "third"),
      ],
      x: { range: [0, capacity.at(-1)] }, y: { range: [0, top || 1] },
      words: `Cost at each limit. Cheapest on these rows: ${best.capacity.toLocaleString("en")} flags; without a limit: ${flags.toLocaleString("en")}.`,
    };
  }

  showShares(shares) {
    byId("shares").hidden = !shares;
    if (!shares) return;
    const bar = Object.assign(document.createElement("div"), { className: "bar", ariaHidden: "true" });
    const legend = Object.assign(document.createElement("p"), { className: "legend" });
    for (const [name, share] of Object.entries(shares)) {
      const [done, of] = DONE[name];
      const part = document.createElement("i");
      Object.assign(part.style, { width: `${100 * share}%`, backgroundColor: `var(--${of})` });
      bar.append(part);
      const mark = Object.assign(document.createElement("i"), { className: "round" });
      mark.style.color = `var(--${of})`;
      const one = document.createElement("span");
      one.append(mark, `${done} ${(100 * share).toFixed(1)} %`);
      legend.append(one);
    }
    byId("shares").replaceChildren(bar, legend);
  }
}

// A whole number, or NaN.
function whole(text) {
  const plain = text.replaceAll(",", "").trim();
  return /^\d+$/.test(plain) ? Number(plain) : NaN;
}
