// Questions to the server. A question that is asked again replaces the one before.

export class Refused extends Error {
  constructor(message, status, field = null, column = null) {
    super(message);
    this.status = status;
    this.field = field;
    this.column = column;
  }
}

const GONE = "The explorer does not answer. Is `uneven explore` still running?";
const RETRIES = 5;

async function send(name, options) {
  for (let attempt = 0; ; attempt += 1) {
    let reply;
    try {
      reply = await fetch(`/api/${name}`, { method: "POST", ...options });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refused(GONE, 0);
    }
    if (reply.ok) return reply;
    let said = {};
    try {
      said = await reply.json();
    } catch { /* no words came */ }
    options.signal?.throwIfAborted(); // a refusal of what was asked before is no news
    if (reply.status === 503 && attempt < RETRIES) {
      await new Promise((done) => setTimeout(done, 300 * (attempt + 1)));
      options.signal?.throwIfAborted();
      continue;
    }
    throw new Refused(said.error ?? `The explorer answered with error ${reply.status}.`, reply.status, said.field, said.column);
  }
}

export async function ask(name, data, signal) {
  const reply = await send(name, { headers: { "content-type": "application/json" }, body: JSON.stringify(data), signal });
  return reply.json();
}

export async function askText(name, signal) {
  const reply = await send(name, { headers: { "content-type": "application/json" }, body: "{}", signal });
  return reply.text();
}

function withBytes(body, question, signal) {
  return { headers: { "content-type": "application/octet-stream", "x-question": encodeURIComponent(JSON.stringify(question)) }, body, signal };
}

function withTable(file, question, signal) {
  return withBytes(file, { ...question, name: file.name }, signal);
}

// A question about the rows of a fit.
export async function askAboutRows(name, rows, question, signal) {
  return (await send(name, withBytes(rows, question, signal))).json();
}

export async function askTable(file, sheet, signal) {
  return (await send("table", withTable(file, { sheet }, signal))).json();
}

// The table that the command was started with, and what it says about it; null if there is none.
export async function askGiven() {
  const reply = await send("given", { headers: { "content-type": "application/json" }, body: "{}" });
  if (reply.status === 204) return null;
  const { name, ...question } = JSON.parse(decodeURIComponent(reply.headers.get("x-question")));
  return { file: new File([await reply.arrayBuffer()], name), question };
}

// A fit, or a file that may need the fit again. New rows follow the table. Each line of the answer is a part of it; the last
// one has no progress.
export async function askFit(file, question, receive, signal, { name = "fit", rows = null } = {}) {
  const asked = rows ? { ...question, rows_at: file.size, rows_name: rows.name } : question;
  const reply = await send(name, withBytes(rows ? new Blob([file, rows]) : file, { ...asked, name: file.name }, signal));
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let last = null;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
    const lines = text.split("\n");
    text = lines.pop();
    for (const line of lines) {
      last = JSON.parse(line);
      if (last.error) throw new Refused(last.error, 400, last.field, last.column);
      receive(last);
    }
  }
  if (last === null || (last.sentence ?? last.file) === undefined) throw new Refused("The fit was cut short.", 0);
  return last;
}

// One kind of question of which only the newest matters. A newer one waits for one that was just asked, so that the
// picture follows a slider; it replaces one that takes long.
export class Newest {
  constructor(work, patience) {
    this.work = work;
    this.patience = patience;
    this.controller = null;
    this.started = 0;
    this.timer = null;
    this.wanted = false;
  }

  ask() {
    const running = this.controller;
    if (!running) {
      this.run();
      return;
    }
    this.wanted = true;
    const left = this.started + this.patience - performance.now();
    if (left <= 0) running.abort();
    else this.timer ??= setTimeout(() => running.abort(), left);
  }

  stop() {
    this.wanted = false;
    this.controller?.abort();
  }

  async run() {
    do {
      this.wanted = false;
      this.controller = new AbortController();
      this.started = performance.now();
      try {
        await this.work(this.controller.signal);
      } catch (error) {
        if (error.name !== "AbortError") throw error;
      } finally {
        clearTimeout(this.timer);
        this.timer = this.controller = null;
      }
    } while (this.wanted);
  }
}
