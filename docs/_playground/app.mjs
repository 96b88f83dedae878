/** The page: one setting or two, the form and the file of the one that is edited, a lesson, the address. */

import { Actions } from "./actions.mjs";
import { tell } from "./compare.mjs";
import { find, notify } from "./dom.mjs";
import { Editor } from "./editor.mjs";
import { Form } from "./form.mjs";
import * as lessons from "./lessons.mjs";
import { changed, FIRST } from "./model.mjs";
import { Player } from "./player.mjs";
import { Setting } from "./setting.mjs";
import * as theme from "./theme.mjs";
import { View } from "./view.mjs";
import { Zoom } from "./zoom.mjs";

class App {
  constructor() {
    this.zoom = new Zoom((range) => this.#each((setting) => setting.view.look(range)));
    this.player = new Player((time) => this.#each((setting) => setting.view.reveal(time)));
    this.form = new Form(find("sliders"), (model) => this.#edited((setting) => setting.setModel(model)));
    this.editor = new Editor(find("editor"), (text) => this.#edited((setting) => setting.setText(text)));
    this.actions = new Actions(
      () => this.texts(),
      () => this.active.text,
    );
    this.a = this.#setting("A");
    this.b = null;
    this.active = this.a;
    this.lessons = lessons.lessons();
    this.lessons.then(lessons.list, () => notify("The lessons could not be loaded."));
    theme.start(() => this.#each((setting) => setting.view.recolor()));
    find("compare").onclick = () => {
      this.#compare(this.b ? null : this.a.text);
      this.actions.remember();
    };
    find("copy").onclick = () => this.#edited((setting) => setting.setText(this.#other(setting).text));
    find("back").onclick = () => this.#edited((setting) => setting.setModel(setting.last ?? FIRST));
    find("leave").onclick = () => {
      lessons.show(null);
      this.actions.remember();
    };
    for (const name of ["A", "B"]) find(`edit-${name}`).onchange = () => this.#activate(name === "A" ? this.a : this.b);
    addEventListener("hashchange", () => this.#follow());
  }

  async start() {
    find("unstarted").hidden = true;
    await this.#follow();
    const narrow = matchMedia("(max-width: 799px)");
    find("settings").open = !narrow.matches;
    find("settings").ontoggle = () => {
      if (narrow.matches && find("settings").open) find("views").scrollIntoView();
    };
  }

  texts() {
    return { a: this.a.text, ...(this.b && { b: this.b.text }) };
  }

  /** Does what the address says. */
  async #follow() {
    try {
      const said = await this.actions.said();
      if (said?.lesson !== undefined) {
        await this.#teach(said);
        return;
      }
      lessons.show(null);
      if (said) this.a.setText(said.a);
      else this.a.setModel(FIRST);
      this.#compare(said?.b ?? null);
    } catch (error) {
      notify(error.message);
      await this.#teach({ lesson: (await this.lessons)[0].name, changes: {} });
    }
    this.#show();
  }

  /** @param {import("./address.mjs").Said} said */
  async #teach({ lesson, changes: { file = lesson, ...changes } }) {
    const found = (await this.lessons).find(({ name }) => name === lesson);
    if (!found || !Object.hasOwn(found.scenarios, file))
      throw new Error(`there is no lesson ${lesson} with a file ${file}`);
    lessons.show(found);
    this.#compare(null);
    this.wanted = Object.keys(changes).length > 0 ? changes : null;
    this.a.setText(found.scenarios[file]);
    this.zoom.all();
    this.#show();
  }

  /** @param {"A" | "B"} name */
  #setting(name) {
    const setting = new Setting(name, {
      zoom: (from, to) => this.zoom.to(from, to),
      ran: (ran) => this.#ran(ran),
      told: (told) => this.#told(told),
      failed: (message) => notify(`The engine could not be started: ${message}`, Infinity),
    });
    find("views").append(setting.element);
    return setting;
  }

  /** @param {(setting: Setting) => void} edit */
  #edited(edit) {
    this.wanted = null;
    edit(this.active);
    this.#show();
    this.actions.remember();
  }

  /** @param {Setting} setting */
  #ran(setting) {
    if (this.wanted && setting.model && !setting.reading) return this.#change(setting, setting.model);
    const all = this.#settings().filter(({ series }) => series);
    const tops = all.map(({ series }) => View.tops(series));
    const highest = Object.fromEntries(
      Object.keys(tops[0]).map((key) => [key, Math.max(...tops.map((top) => top[key]))]),
    );
    this.zoom.measure(Math.max(...all.map(({ series }) => series.end)));
    for (const { view, series } of all) view.show(series, this.zoom.range, highest);
    this.player.measure(this.zoom.end);
    this.actions.about(setting.opened, setting.milliseconds);
    this.#told(setting);
    return undefined;
  }

  /** Changes a lesson's scenario, now that it is read, as its address asks. */
  #change(setting, model) {
    const { wanted } = this;
    this.wanted = null;
    try {
      setting.setModel(changed(model, wanted));
      this.#show();
    } catch (error) {
      notify(error.message);
      this.#ran(setting);
    }
  }

  /** @param {Setting} setting */
  #told(setting) {
    if (setting === this.active) this.#show();
  }

  /** Shows the form and the file of what is edited. */
  #show() {
    const { text, model, last, reading, refusal, opened } = this.active;
    // Sliders would undo what somebody has typed.
    const refused = reading && refusal !== null;
    const off = refused || (model === null && opened !== null);
    this.form.show(model ?? last ?? FIRST);
    find("sliders").disabled = off;
    find("off").hidden = !off;
    find("why").textContent = refused ? "The file cannot be run." : "The file has more than the sliders show.";
    if (off) find("text").open = true;
    this.editor.show(text);
    this.editor.tell(refusal ? [refusal] : (opened?.warnings ?? []), refusal !== null);
    if (this.b) tell(this.a.text, this.b.text);
  }

  /** Puts a second setting beside the first, or takes it away. @param {string | null} text */
  #compare(text) {
    if (text === null) {
      this.b?.end();
      this.b = null;
    } else {
      this.b ??= this.#setting("B");
      this.b.setText(text);
    }
    document.body.classList.toggle("comparing", this.b !== null);
    find("compare").setAttribute("aria-pressed", String(this.b !== null));
    this.#activate(this.b ?? this.a);
  }

  /** @param {Setting} setting */
  #activate(setting) {
    this.active = setting;
    find(`edit-${setting.name}`).checked = true;
    this.#show();
  }

  #other(setting) {
    return setting === this.a ? this.b : this.a;
  }

  #settings() {
    return this.b ? [this.a, this.b] : [this.a];
  }

  /** @param {(setting: Setting) => void} work */
  #each(work) {
    this.#settings().forEach(work);
  }
}

new App().start();
