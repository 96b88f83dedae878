/** Light or dark: what the system says, until somebody chooses. */

import { find } from "./dom.mjs";

const KEY = "sojourn-playground-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** @param {() => void} changed */
export function start(changed) {
  const set = (/** @type {string} */ theme) => {
    document.documentElement.dataset.theme = theme;
    find("theme").setAttribute("aria-pressed", String(theme === "dark"));
  };
  set(stored() ?? (system.matches ? "dark" : "light"));
  system.onchange = () => {
    if (!stored()) {
      set(system.matches ? "dark" : "light");
      changed();
    }
  };
  find("theme").onclick = () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      /* not kept where storage is blocked */
    }
    set(theme);
    changed();
  };
}

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
