// Starts both tabs, and keeps the address and the tabs in step.

import { ask } from "/static/api.js";
import { DataTab } from "/static/data.js";
import { LossesTab } from "/static/losses.js";
import { fresh, fromAddress, History } from "/static/state.js";

const page = { state: fresh() };
const tabs = [...document.querySelectorAll("[role=tab]")];

function showTab(name) {
  for (const tab of tabs) {
    const chosen = tab.getAttribute("aria-controls") === name;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
  document.title = name === "data" ? "Your data – uneven explorer" : "Losses – uneven explorer";
}

async function start() {
  const choices = await ask("choices", {});
  page.state = fromAddress(location.search); // not sooner: it may change while the page waits
  const past = new History(() => page.state, (state) => {
    page.state = state;
    losses.restore();
    showTab(state.tab);
  });
  document.getElementById("version").textContent = `uneven ${choices.version}`;
  const losses = new LossesTab(page, choices, (control) => past.changed(control), () => { page.state = { ...fresh(), tab: page.state.tab }; });
  const data = new DataTab(page);
  const choose = (name) => {
    page.state.tab = name;
    data.adoptCosts();
    showTab(name);
    past.changed("tab");
  };
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => choose(tab.getAttribute("aria-controls")));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(k + step + tabs.length) % tabs.length];
      next.focus();
      choose(next.getAttribute("aria-controls"));
    });
  });
  showTab(page.state.tab);
  losses.restore();
  // Until now nobody listened.
  for (const part of document.querySelectorAll("[role=tab], main fieldset:not(#asked)")) part.disabled = false;
  await data.openGiven();
}

start().catch((error) => {
  document.getElementById("sentence").textContent = error.message;
  document.getElementById("verdict").dataset.status = "mistake";
});
