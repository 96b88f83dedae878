/** Elements, made without markup: texts stay texts, whoever wrote them. */

/**
 * @param {string} tag
 * @param {Record<string, any>} [properties] `on...` and what elements have as properties are set so,
 *   all else as attributes; null leaves one out
 * @param {...(Node | string | null)} children
 * @returns {any}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null) continue;
    if (name in element && !name.includes("-")) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/**
 * The page's element of that id.
 * @param {string} id
 * @returns {any}
 */
export const find = (id) => document.getElementById(id);

/**
 * Says something to whoever sees or hears the page, for a while.
 * @param {string} text
 * @param {number} [seconds]
 */
export function notify(text, seconds = 6) {
  const place = find("notice");
  place.textContent = text;
  clearTimeout(Number(place.dataset.timer));
  if (seconds < Infinity)
    place.dataset.timer = String(
      setTimeout(() => {
        place.textContent = "";
      }, seconds * 1000),
    );
}
