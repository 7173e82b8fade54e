// The collector's page: numbers, distributions as they come, training and publishing.

import { barFigure } from "./bars.js";
import { byId, element, tell } from "./elements.js";
import { preferred, setTexts, shortEpsilon, wordsOf } from "./words.js";

const LANGUAGES = ["en", "de", "fr"];
const EVERY = 5000;
const state = { words: null, texts: {}, told: null, timer: null };

async function start() {
  const load = async (language) => [language, await (await fetch(`texts/${language}.json`)).json()];
  state.texts = Object.fromEntries(await Promise.all(LANGUAGES.map(load)));
  state.study = await (await fetch("study.json")).json();
  byId("language").append(...LANGUAGES.map((language) => element("option", { value: language }, state.texts[language].name)));
  byId("language").addEventListener("change", ({ target }) => speak(target.value));
  byId("login").addEventListener("submit", logIn);
  for (const action of ["release", "train", "publish", "close", "open"]) {
    byId(action).addEventListener("click", () => act(action));
  }
  byId("logout").addEventListener("click", logOut);
  speak(preferred(LANGUAGES));
  await look();
}

function speak(language) {
  state.words = wordsOf(language, state.texts, state.study.texts);
  byId("language").value = language;
  setTexts(state.words);
  document.title = state.words.say("collector.title");
  byId("study-title").textContent = state.study.title ?? "";
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
}

function modelLines({ method, answers, quality, guarantee, published }) {
  const { words } = state;
  const told = typeof guarantee === "string" ? guarantee : guarantee?.sentence ?? JSON.stringify(guarantee);
  const lines = [words.say("collector.model", { method, answers: words.number(answers) })];
  if (typeof quality === "string") lines.push(quality);
  return [...lines, told, words.say(published ? "collector.published" : "collector.unpublished")];
}

function figureOf({ field, class: ofClass, values }) {
  const { words } = state;
  const rows = values.map(({ value, low, high, share, low_share: from, high_share: to }) => ({
    name: value === undefined ? words.say("cell.range", { low: words.number(low), high: words.number(high) }) : words.value(field, value),
    share, low: from ?? null, high: to ?? null,
  }));
  const isPart = ofClass !== undefined && ofClass !== null;
  const title = isPart ? words.say("collector.of-class", { field: words.field(field), class: ofClass }) : words.field(field);
  return barFigure(title, rows, words);
}

start();
