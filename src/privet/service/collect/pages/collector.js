// The collector's page: numbers, distributions as they come, training and publishing.

import { allTexts, byId, element, offerLanguages, setTexts, shortEpsilon, tell, wordsOf } from "./page.js";

const EVERY = 5000;
const MOST_ROWS = 12;
const state = { words: null, texts: {}, told: null, timer: null };

async function start() {
  const load = async (name) => (await fetch(name)).json();
  state.study = await load("study.json");
  state.target = (await load("channel.json")).schema.target;
  const known = await Promise.all(state.study.languages.map(async (language) => [language, await load(`texts/${language}.json`)]));
  state.texts = allTexts(Object.fromEntries(known), state.study.texts);
  byId("login").addEventListener("submit", logIn);
  for (const action of ["release", "train", "publish", "close", "open"]) {
    byId(action).addEventListener("click", () => act(action));
  }
  byId("logout").addEventListener("click", logOut);
  offerLanguages(state.texts, speak);
  await look();
}

function speak(language) {
  state.words = wordsOf(language, state.texts, state.study.texts);
  setTexts(state.words);
  document.title = state.words.say("collector.title");
  byId("study-title").textContent = state.words.study("title") ?? state.study.title;
  if (state.told) show(state.told);
}

function post(action, body = {}) {
  return fetch(`collector/${action}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

async function logIn(event) {
  event.preventDefault();
  tell("");
  const reply = await post("login", { password: byId("password").value });
  byId("password").value = "";
  if (reply.ok) return look();
  tell(state.words.say(reply.status === 429 ? "wrong.busy" : "collector.password-wrong"));
  byId("password").focus();
}

async function logOut() {
  await post("logout");
  location.reload();
}

async function act(action) {
  tell("");
  byId(action).disabled = true;
  const reply = await post(action);
  byId(action).disabled = false;
  const told = reply.ok ? null : await reply.json();
  await look();
  if (told) tell(told.message);
}

// The state is asked for again while the page is open; without a session there is only the login.
async function look() {
  clearTimeout(state.timer);
  const reply = await fetch("collector/state.json", { cache: "no-store" });
  const isIn = reply.status === 200;
  const wasIn = state.told !== null;
  byId("login-part").hidden = isIn;
  byId("inside").hidden = byId("logout").hidden = !isIn;
  state.told = isIn ? await reply.json() : null;
  if (!isIn) return;
  show(state.told);
  if (!wasIn) byId("numbers-title").focus();
  state.timer = setTimeout(look, EVERY);
}

function show(told) {
  showNumbers(told);
  showModel(told);
  byId("close").hidden = !told.open;
  byId("open").hidden = told.open;
  byId("status").textContent = state.words.say(told.open ? "collector.is-open" : "collector.is-closed");
  const text = JSON.stringify([told.distributions, state.words.language]);
  if (byId("charts").dataset.shown === text) return;
  byId("charts").dataset.shown = text; // drawn anew only where something changed, so that open tables stay open
  byId("charts").replaceChildren(...told.distributions.map(figureOf));
  byId("charts-none").hidden = told.distributions.length > 0;
}

function showNumbers({ answers, people, minimum, batch, epsilon }) {
  const { words } = state;
  const figures = [
    ["collector.answers", words.number(answers)],
    ["collector.people", people === null ? "–" : words.number(people)],
    ["collector.minimum", words.number(minimum)],
    ["collector.batch", words.number(batch)],
    ["own.epsilon", shortEpsilon(epsilon ?? Infinity, words)],
  ];
  const boxes = figures.map(([key, text]) => element("div", {}, element("dt", {}, words.say(key)), element("dd", {}, text)));
  byId("numbers").replaceChildren(...boxes);
}

function showModel({ answers, minimum, training, why, model }) {
  const { words } = state;
  byId("train").disabled = answers < minimum || training === "running";
  byId("publish").disabled = model === null || model.published;
  const lines = [];
  if (answers < minimum) lines.push(words.say("collector.too-few", { minimum: words.number(minimum) }));
  if (training === "running") lines.push(words.say("collector.training"));
  if (training === "failed") lines.push(words.say("collector.failed", { why: why ?? "" }));
  if (model) lines.push(...modelLines(model));
  byId("model-lines").replaceChildren(...lines.map((line) => element("p", {}, line)));
  byId("model-links").hidden = !model?.published;
  byId("guarantee").hidden = model === null;
  byId("guarantee-told").textContent = model?.guarantee ?? "";
}

function modelLines({ method, answers, published }) {
  const { words } = state;
  const line = words.say("collector.model", { method, answers: words.number(answers) });
  return [line, words.say(published ? "collector.published" : "collector.unpublished")];
}

// A field's shares, with a bar for each value; what is beyond the largest, and the classes, are folded away.
function figureOf({ field, values }) {
  const { words, target } = state;
  const folded = (key, told, table) => element("details", {}, element("summary", {}, words.say(key, told)), table);
  const isLong = values.length > MOST_ROWS + 1 && values[0].value !== undefined;
  const shown = isLong ? [...values].sort((one, other) => other.share - one.share) : values;
  const [first, rest] = isLong ? [shown.slice(0, MOST_ROWS), shown.slice(MOST_ROWS)] : [shown, []];
  const most = Math.max(0.01, ...values.map(({ share, high_share: high }) => Math.max(share, high ?? 0)));
  const parts = [barTable(field, first, most)];
  if (isLong) parts.push(folded("bars.more", { n: words.number(rest.length) }, barTable(field, rest, most)));
  if (values[0].classes) parts.push(folded("bars.by-class", { target: words.field(target) }, classTable(field, shown)));
  return element("figure", {}, element("figcaption", {}, words.field(field)), ...parts);
}

function barTable(field, rows, most) {
  const { words } = state;
  const bar = (row) => element("td", { className: "bar", "aria-hidden": "true" }, barOf(row, most));
  const body = rows.map((row) => element("tr", {}, nameOf(field, row), bar(row), shareOf(row)));
  const head = element("tr", {}, headOf(words.say("bars.value")), element("td", {}), headOf(words.say("bars.share")));
  return element("table", { className: "bars" }, element("thead", {}, head), element("tbody", {}, ...body));
}

function classTable(field, rows) {
  const { words, target } = state;
  const heads = rows[0].classes.map((own) => headOf(words.value(target, own.class)));
  const body = rows.map((row) => element("tr", {}, nameOf(field, row), ...row.classes.map(shareOf)));
  const head = element("tr", {}, headOf(words.say("bars.value")), ...heads);
  return element("div", { className: "scroll" },
    element("table", { className: "bars" }, element("thead", {}, head), element("tbody", {}, ...body)));
}

function headOf(text) {
  return element("th", { scope: "col" }, text);
}

function nameOf(field, { value, low, high }) {
  const { words } = state;
  const range = () => words.say("cell.range", { low: words.number(low), high: words.number(high) });
  return element("th", { scope: "row" }, value === undefined ? range() : words.value(field, value));
}

function barOf({ share, low_share: low, high_share: high }, most) {
  const part = (className, from, to) => {
    const made = element("span", { className });
    Object.assign(made.style, { left: `${(100 * from) / most}%`, width: `${(100 * (to - from)) / most}%` });
    return made;
  };
  return element("div", {}, part("share", 0, share), low === null ? null : part("whisker", low, high));
}

// A share, and its interval below it.
function shareOf({ share, low_share: low, high_share: high }) {
  const { words } = state;
  const percent = (own) => words.number(Math.round(own * 1000) / 10);
  const interval = low === null ? null : element("small", {}, words.say("cell.range", { low: percent(low), high: percent(high) }));
  return element("td", { className: "number" }, `${percent(share)} %`, interval);
}

start();
