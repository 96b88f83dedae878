/** The scenario file, to be read and edited, with what the core says beside the line. */

import { make } from "./dom.mjs";

export class Editor {
  /**
   * @param {HTMLElement} place
   * @param {(text: string) => void} change
   */
  constructor(place, change) {
    this.gutter = make("pre", { className: "gutter", "aria-hidden": "true" });
    this.said = make("div", { id: "said", className: "said", "aria-live": "polite" });
    this.area = make("textarea", {
      spellcheck: false,
      autocapitalize: "off",
      wrap: "off",
      rows: 18,
      "aria-label": "Scenario file (TOML)",
      "aria-describedby": "said",
      oninput: () => {
        this.#number();
        change(this.area.value);
      },
      onscroll: () => this.#follow(),
    });
    this.line = 0;
    place.append(this.said, make("div", { className: "file" }, this.gutter, this.area));
  }

  /** @param {string} text */
  show(text) {
    if (this.area.value === text) return;
    this.area.value = text;
    this.#number();
  }

  /**
   * Shows what the core says of the text; nothing where it says nothing.
   * @param {{ message: string, line: number | null, local: string | null }[]} remarks
   * @param {boolean} wrong whether the text cannot be run
   */
  tell(remarks, wrong) {
    this.line = remarks.find(({ line }) => line !== null)?.line ?? 0;
    this.area.setAttribute("aria-invalid", String(wrong));
    this.said.classList.toggle("wrong", wrong);
    this.said.replaceChildren(...remarks.map(remark));
    this.#number();
  }

  #number() {
    const lines = this.area.value.split("\n").length;
    this.gutter.replaceChildren(
      ...Array.from({ length: lines }, (_, k) =>
        make("span", { className: k + 1 === this.line ? "at" : "" }, `${k + 1}\n`),
      ),
    );
    this.#follow();
  }

  #follow() {
    this.gutter.scrollTop = this.area.scrollTop;
  }
}

/** @param {{ message: string, line: number | null, local: string | null }} told */
function remark({ message, line, local }) {
  // What is no TOML at all says its line itself.
  const place = line === null || message.includes(`line ${line},`) ? null : make("b", {}, `Line ${line}: `);
  return make("p", {}, place, message, local && `; ${local}`);
}
