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

// A field's shares as a table with a bar in each row; what is beyond the longest rows is folded away.
function figureOf({ field, values }) {
  const { words } = state;
  const isLong = values.length > MOST_ROWS + 1 && values[0].value !== undefined;
  const shown = isLong ? [...values].sort((one, other) => other.share - one.share) : values;
  const most = Math.max(0.01, ...values.map(({ share, high_share: high }) => Math.max(share, high ?? 0)));
  const classes = (values[0].classes ?? []).map((own) => own.class);
  const table = (rows) => tableOf(field, rows, most, classes, words);
  if (!isLong) return element("figure", {}, element("figcaption", {}, words.field(field)), table(shown));
  const rest = shown.slice(MOST_ROWS);
  const more = element("summary", {}, words.say("bars.more", { n: words.number(rest.length) }));
  const first = table(shown.slice(0, MOST_ROWS));
  return element("figure", {}, element("figcaption", {}, words.field(field)), first, element("details", {}, more, table(rest)));
}

function tableOf(field, rows, most, classes, words) {
  const heads = [words.say("bars.value"), "", words.say("bars.share"), ...classes.map((own) => words.value(state.target, own))];
  const head = element("tr", {}, ...heads.map((text) => element(text ? "th" : "td", text ? { scope: "col" } : {}, text)));
  const body = rows.map((row) => {
    const bar = element("td", { className: "bar", "aria-hidden": "true" }, barOf(row, most));
    const shares = [row, ...(row.classes ?? [])].map((own) => element("td", { className: "number" }, ...shareOf(own, words)));
    return element("tr", {}, element("th", { scope: "row" }, nameOf(field, row, words)), bar, ...shares);
  });
  return element("table", { className: "bars" }, element("thead", {}, head), element("tbody", {}, ...body));
}

function nameOf(field, { value, low, high }, words) {
  if (value !== undefined) return words.value(field, value);
  return words.say("cell.range", { low: words.number(low), high: words.number(high) });
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
function shareOf({ share, low_share: low, high_share: high }, words) {
  const percent = (own) => words.number(Math.round(own * 1000) / 10);
  const interval = low === null ? null : element("small", {}, words.say("cell.range", { low: percent(low), high: percent(high) }));
  return [`${percent(share)} %`, interval];
}

start();
