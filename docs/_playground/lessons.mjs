/**
 * The lessons, which are pages of the site as well.
 *
 * @typedef {{ name: string, title: string, scenarios: Record<string, string>, html: string }} Lesson
 */

import { find, make } from "./dom.mjs";

/** @returns {Promise<Lesson[]>} in the order in which they are taught */
export async function lessons() {
  return (await fetch(new URL("lessons.json", import.meta.url))).json();
}

/** @param {Lesson[]} all */
export function list(all) {
  const menu = find("menu");
  const close = () => {
    menu.open = false;
    menu.firstElementChild.focus();
  };
  find("lessons").append(
    ...all.map(({ name, title }) => make("li", {}, make("a", { href: `#lesson=${name}`, onclick: close }, title))),
  );
  menu.onkeydown = (event) => {
    if (event.key === "Escape") close();
  };
  addEventListener("pointerdown", ({ target }) => {
    if (!menu.contains(target)) menu.open = false;
  });
}

/**
 * Shows a lesson beside its run; null for none.
 *
 * Its words were written here and rendered as the site was built: nothing of an address is among them.
 * @param {Lesson | null} lesson
 */
export function show(lesson) {
  find("lesson").hidden = lesson === null;
  if (!lesson) return;
  const rendered = new DOMParser().parseFromString(lesson.html, "text/html");
  find("lesson-text").replaceChildren(...rendered.body.childNodes);
}
