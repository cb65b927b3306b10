// Tabs over one panel, as the ARIA pattern has them: one tab stop, arrows move, every group shows the same choice.

import { element } from "./page.js";

/** A choice that several groups of tabs share. */
export class Choice {
  #id;
  #listeners = [];

  /** @param id chosen first */
  constructor(id) {
    this.#id = id;
  }

  get id() {
    return this.#id;
  }

  set id(id) {
    this.#id = id;
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` after every change. */
  onChange(listener) {
    this.#listeners.push(listener);
  }
}

/** A list of tabs that control `panel`. @param tabs of an `id` and a `name` @param label names the list to screen readers */
export function tabList(tabs, { choice, panel, label }) {
  const buttons = tabs.map(({ id, name }) => {
    const attributes = { type: "button", role: "tab", id: `${panel.id}-${id}`, "aria-controls": panel.id };
    const button = element("button", attributes, name);
    button.addEventListener("click", () => {
      choice.id = id;
    });
    return button;
  });
  const show = () => {
    buttons.forEach((button, i) => {
      const isChosen = tabs[i].id === choice.id;
      button.setAttribute("aria-selected", `${isChosen}`);
      button.tabIndex = isChosen ? 0 : -1;
      if (isChosen) panel.setAttribute("aria-labelledby", button.id);
    });
  };
  panel.setAttribute("role", "tabpanel");
  const list = element("div", { class: "tabs", role: "tablist", "aria-label": label }, ...buttons);
  list.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (at === -1 || next === undefined) return;
    event.preventDefault();
    const button = buttons.at(next % buttons.length);
    button.click();
    button.focus();
  });
  choice.onChange(show);
  show();
  return list;
}
