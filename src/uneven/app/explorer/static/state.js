// The state of the page, and the address that holds it.

export const DEFAULTS = Object.freeze({
  tab: "losses", kind: "phi", phi: "logistic", parameters: {}, text: "softplus(-t)", positive: "10*softplus(-t)",
  negative: "softplus(t)", zoo: "", gamma: "2", beta: null, costs: "two", fp: "1", fn: "20", alpha: "1/21",
  weighted: true, eta: 60, regret: 20,
});
const TEXTS = ["tab", "kind", "phi", "text", "positive", "negative", "zoo", "gamma", "costs", "fp", "fn", "alpha"];
const NUMBERS = { eta: 200, regret: 40 };
const USED_BY = { phi: ["phi"], text: ["own"], positive: ["pair"], negative: ["pair"], zoo: ["zoo"], gamma: ["phi", "own"], beta: ["phi", "own"] };
const LONGEST = 4000;

export function fresh() {
  return structuredClone({ ...DEFAULTS });
}

export function fromAddress(search) {
  const state = fresh();
  const given = new URLSearchParams(search);
  for (const name of TEXTS) if (given.has(name)) state[name] = given.get(name).slice(0, LONGEST);
  for (const [name, most] of Object.entries(NUMBERS)) {
    const value = Number.parseInt(given.get(name), 10);
    if (value >= 0 && value <= most) state[name] = value;
  }
  if (given.has("beta")) state.beta = given.get("beta").slice(0, LONGEST);
  if (given.get("weighted") === "0") state.weighted = false;
  for (const [name, value] of given) if (name.startsWith("p.")) state.parameters[name.slice(2, 60)] = value.slice(0, 60);
  if (!["losses", "data"].includes(state.tab)) state.tab = DEFAULTS.tab;
  if (!["phi", "own", "pair", "zoo"].includes(state.kind)) state.kind = DEFAULTS.kind;
  if (!["two", "alpha"].includes(state.costs)) state.costs = DEFAULTS.costs;
  return state;
}

export function toAddress(state) {
  const given = new URLSearchParams();
  const used = (name) => !USED_BY[name] || USED_BY[name].includes(state.kind);
  for (const name of TEXTS) {
    if (name === "alpha" && state.costs !== "alpha") continue;
    if ((name === "fp" || name === "fn") && state.costs !== "two") continue;
    if (used(name) && state[name] !== DEFAULTS[name]) given.set(name, state[name]);
  }
  if (used("beta") && state.beta !== null) given.set("beta", state.beta);
  if (!state.weighted) given.set("weighted", "0");
  for (const name of Object.keys(NUMBERS)) if (state[name] !== DEFAULTS[name]) given.set(name, String(state[name]));
  if (state.kind === "phi") for (const [name, value] of Object.entries(state.parameters)) given.set(`p.${name}`, value);
  const text = given.toString();
  return text ? `?${text}` : "";
}

// What the server is asked: only what matters for the answer.
export function question(state) {
  const asked = { kind: state.kind, weighted: state.weighted };
  if (state.kind === "phi") Object.assign(asked, { phi: state.phi, parameters: state.parameters });
  if (state.kind === "own") asked.text = state.text;
  if (state.kind === "pair") Object.assign(asked, { positive: state.positive, negative: state.negative });
  if (state.kind === "zoo") asked.zoo = state.zoo;
  if (state.kind === "phi" || state.kind === "own") Object.assign(asked, { gamma: state.gamma, beta: state.beta });
  if (state.costs === "alpha") asked.alpha = state.alpha;
  else Object.assign(asked, { fp: state.fp, fn: state.fn });
  return asked;
}

// The address follows the state: a change is a new step of the history, and what the same control changes soon after it
// belongs to the same step, so that a drag is one step back, not a hundred. Browsers do not note hundreds of changes in a
// few seconds, so the rest of a step is written at its end.
export class History {
  constructor(read, restore, delay = 350) {
    this.read = read;
    this.delay = delay;
    this.timer = null;
    this.control = null;
    this.address = null;
    window.addEventListener("popstate", () => {
      clearTimeout(this.timer);
      this.timer = null;
      restore(fromAddress(location.search));
    });
  }

  changed(control) {
    const address = toAddress(this.read());
    if (this.timer === null || control !== this.control) {
      this.settle();
      write("pushState", address);
    }
    clearTimeout(this.timer);
    Object.assign(this, { control, address, timer: setTimeout(() => this.settle(), this.delay) });
  }

  settle() {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
    write("replaceState", this.address);
  }
}

function write(how, address) {
  if (address !== location.search) history[how](null, "", address || location.pathname);
}
