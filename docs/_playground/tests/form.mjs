/**
 * What the form writes, for tests in Python: reads a list of `[canonical scenario, changes]`, writes a
 * list of texts, null where a scenario has no model.
 */

import { readFileSync } from "node:fs";

import { changed, modelOf } from "../model.mjs";
import { textOf } from "../text.mjs";

const asked = JSON.parse(readFileSync(0, "utf8"));
const texts = asked.map(([scenario, changes]) => {
  const model = modelOf(scenario);
  return model && textOf(changed(model, changes));
});
process.stdout.write(JSON.stringify(texts));
