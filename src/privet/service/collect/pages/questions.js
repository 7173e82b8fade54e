// The form: a control for each field, and the record that is in it.

import { element } from "./page.js";

const MOST_RADIOS = 7;

/** Fill a place with a question for each attribute; `entered` holds what was entered before, by name. */
export function showQuestions(place, attributes, words, entered, prefix = "q") {
  place.replaceChildren(...attributes.map((attribute, j) => question(attribute, `${prefix}${j}`, words, entered)));
}

function question(attribute, id, words, entered) {
  if (attribute.type === "continuous") return numberQuestion(attribute, id, words, entered);
  const isLong = attribute.categories.length > MOST_RADIOS;
  return (isLong ? listQuestion : radioQuestion)(attribute, id, words, entered);
}

function numberQuestion({ name, bounds: [low, high], never_missing: isNeverMissing }, id, words, entered) {
  const range = words.say("asking.range", { low: words.number(low), high: words.number(high) });
  const hint = isNeverMissing ? range : `${range} ${words.say("asking.empty")}`;
  const control = element("input", {
    id, type: "number", step: "any", inputMode: "decimal", autocomplete: "off", value: entered.get(name) ?? "",
    "aria-describedby": `${id}-hint ${id}-error`,
  });
  control.addEventListener("input", () => entered.set(name, control.value));
  const label = element("label", { className: "asked", htmlFor: id }, words.field(name));
  return boxed(id, label, control, element("p", { className: "hint", id: `${id}-hint` }, hint));
}

function listQuestion(attribute, id, words, entered) {
  const { name } = attribute;
  const control = element("select", { id, "aria-describedby": `${id}-error` });
  control.append(element("option", { value: "" }, words.say("asking.choose")));
  for (const [value, text] of optionsOf(attribute, words)) control.append(element("option", { value }, text));
  control.value = entered.get(name) ?? "";
  control.addEventListener("change", () => entered.set(name, control.value));
  return boxed(id, element("label", { className: "asked", htmlFor: id }, words.field(name)), control);
}

function radioQuestion(attribute, id, words, entered) {
  const { name } = attribute;
  const choices = optionsOf(attribute, words).map(([value, text], i) => {
    const own = element("input", { type: "radio", name: id, value, id: i === 0 ? id : `${id}-${i}` });
    own.checked = entered.get(name) === value;
    own.addEventListener("change", () => entered.set(name, value));
    return element("label", { className: "choice" }, own, element("span", {}, text));
  });
  const legend = element("legend", { className: "asked" }, words.field(name));
  const set = element("fieldset", { className: "question", "aria-describedby": `${id}-error` }, legend);
  set.append(element("div", { className: "choices" }, ...choices), errorPlace(id));
  return set;
}

function boxed(id, ...parts) {
  return element("div", { className: "question" }, ...parts, errorPlace(id));
}

function errorPlace(id) {
  return element("p", { className: "error", id: `${id}-error`, hidden: true });
}

// An answer is the place of a category, or "none".
function optionsOf({ name, categories, never_missing: isNeverMissing }, words) {
  const options = categories.map((category, code) => [String(code), words.value(name, category)]);
  return isNeverMissing ? options : [...options, ["none", words.say("asking.none")]];
}

/** Return the record that was entered, or null after marking what is wrong; the focus goes to the first of these. */
export function enteredRecord(attributes, words, entered, prefix = "q") {
  const wrong = [];
  const record = {};
  for (const [j, attribute] of attributes.entries()) {
    const { value, problem } = valueOf(attribute, entered.get(attribute.name) ?? "");
    mark(`${prefix}${j}`, problem ? words.say(problem) : "");
    if (problem) wrong.push(`${prefix}${j}`);
    else record[attribute.name] = value;
  }
  if (wrong.length) document.getElementById(wrong[0]).focus();
  return { record: wrong.length ? null : record, wrong: wrong.length };
}

function valueOf({ type, categories, never_missing: isNeverMissing }, text) {
  if (type === "continuous") {
    if (text.trim() === "" && !isNeverMissing) return { value: null };
    const value = Number(text);
    return text.trim() === "" || !Number.isFinite(value) ? { problem: "asking.number" } : { value };
  }
  if (text === "") return { problem: "asking.must" };
  return { value: text === "none" ? null : categories[Number(text)] };
}

function mark(id, problem) {
  const [control, place] = [document.getElementById(id), document.getElementById(`${id}-error`)];
  control.setAttribute("aria-invalid", String(Boolean(problem)));
  place.textContent = problem;
  place.hidden = !problem;
}
