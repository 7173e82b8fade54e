// The published model, asked in the browser: what is entered here goes nowhere.

import { byId, element, tell } from "./elements.js";
import { enteredRecord, showQuestions } from "./questions.js";
import { loadModel } from "./served.js";

const PREFIX = "m";

/** Offer the model below the page. `words` and `schema` are functions, since the language may change. */
export function connectModel(words, schema) {
  let model = null;
  const entered = new Map();
  const show = () => {
    if (model === null) return;
    showQuestions(byId("model-controls"), attributesOf(schema()), words(), entered, PREFIX);
    byId("model-guarantee").textContent = words().say("model.guarantee", { guarantee: inShort(model.guarantee) });
    byId("model-answer").replaceChildren();
  };
  byId("model-open").addEventListener("click", async () => {
    try {
      model ??= await loadModel();
    } catch {
      return tell(words().say("wrong.load"));
    }
    byId("model").hidden = false;
    show();
    byId("model-title").focus();
  });
  byId("model-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const { record } = enteredRecord(attributesOf(schema()), words(), entered, PREFIX);
    if (record) byId("model-answer").replaceChildren(...prediction(model, record, words()));
  });
  return show;
}

// A model takes a missing value of any attribute.
function attributesOf({ attributes }) {
  return attributes.map((attribute) => ({ ...attribute, never_missing: false }));
}

function prediction(model, row, words) {
  const { target, classes } = model;
  const best = words.say("model.answer", { target: words.field(target), value: words.value(target, model.predict(row)) });
  const shares = model.predictProba(row).map((share, c) => {
    const told = { value: words.value(target, classes[c]), share: words.number(Math.round(share * 1000) / 10) };
    return element("li", {}, words.say("model.chance", told));
  });
  return [element("p", {}, element("strong", {}, best)), element("ul", {}, ...shares)];
}

function inShort(guarantee) {
  return typeof guarantee === "string" ? guarantee : guarantee?.sentence ?? JSON.stringify(guarantee);
}
