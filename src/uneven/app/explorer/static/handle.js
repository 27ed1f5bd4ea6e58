// A line across a picture that can be dragged, by mouse, finger or keyboard.

export class Handle {
  // steps: how many steps the whole way has, for the arrow keys.
  constructor(picture, { label, steps, read, write, shown }) {
    this.picture = picture;
    this.read = read;
    this.write = write;
    this.shown = shown;
    this.steps = steps;
    this.element = document.createElement("div");
    this.element.className = "handle";
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "slider");
    this.element.setAttribute("aria-label", label);
    this.element.setAttribute("aria-orientation", "horizontal");
    this.element.append(document.createElement("span"));
    this.element.hidden = true; // until there is something to drag it along
    picture.element.append(this.element);
    picture.onRange.push(() => this.follow());
    this.element.addEventListener("pointerdown", (event) => this.grab(event));
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  follow() {
    if (!this.picture.range) return;
    if (this.element.parentNode !== this.picture.element) this.picture.element.append(this.element);
    this.element.hidden = false;
    const [low, high] = this.picture.range;
    const value = Math.min(Math.max(this.read(), low), high);
    const place = this.picture.place(value);
    this.element.style.left = `${place}px`;
    this.element.style.top = `${this.picture.margin.t}px`;
    this.element.style.bottom = `${this.picture.margin.b}px`;
    this.element.classList.toggle("left", place > this.picture.size[0] * 0.7);
    this.element.firstChild.textContent = this.shown(this.read());
    this.element.setAttribute("aria-valuemin", low);
    this.element.setAttribute("aria-valuemax", high);
    this.element.setAttribute("aria-valuenow", value);
    this.element.setAttribute("aria-valuetext", this.shown(this.read()));
  }

  set(value) {
    const [low, high] = this.picture.range;
    this.write(Math.min(Math.max(value, low), high));
    this.follow();
  }

  grab(event) {
    event.preventDefault();
    this.element.focus();
    this.element.setPointerCapture(event.pointerId);
    const move = (moved) => {
      const box = this.picture.element.getBoundingClientRect();
      this.set(this.picture.value(moved.clientX - box.left));
    };
    const drop = () => {
      this.element.removeEventListener("pointermove", move);
      this.element.removeEventListener("pointerup", drop);
      this.element.removeEventListener("pointercancel", drop);
    };
    this.element.addEventListener("pointermove", move);
    this.element.addEventListener("pointerup", drop);
    this.element.addEventListener("pointercancel", drop);
  }

  key(event) {
    const [low, high] = this.picture.range;
    const step = (high - low) / this.steps;
    const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
    if (event.key in moves) this.set(this.read() + moves[event.key] * step);
    else if (event.key === "Home") this.set(low);
    else if (event.key === "End") this.set(high);
    else return;
    event.preventDefault();
  }
}
