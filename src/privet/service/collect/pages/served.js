// What the page has of its server: the study, a receipt, and the model that was published. API.md beside the server says
// what it answers.

import { byId, element, sha256, tell } from "./page.js";
import { makePredictor } from "./predictor.js";
import { enteredRecord, showQuestions } from "./questions.js";

export const needsLink = true;
const TRIES = 3;
const PAUSE = 1500;
const PREFIX = "m";

/** Return the study, the channel with its fingerprint, and the texts of the page by language. */
export async function fetchStudy() {
  const study = await fetchedJson("study.json");
  const [channelBytes, ...texts] = await Promise.all([
    fetched("channel.json").then((reply) => reply.arrayBuffer()),
    ...study.languages.map((language) => fetchedJson(`texts/${language}.json`)),
  ]);
  return {
    study,
    channel: JSON.parse(new TextDecoder().decode(channelBytes)),
    channelHash: await sha256(channelBytes),
    texts: Object.fromEntries(study.languages.map((language, i) => [language, texts[i]])),
  };
}

async function fetched(name) {
  const reply = await fetch(name, { credentials: "omit", cache: "no-store" });
  if (!reply.ok) throw new Error(`${name}: ${reply.status}`);
  return reply;
}

async function fetchedJson(name) {
  return (await fetched(name)).json();
}

/**
 * Send a report. It is repeated as it is while the network fails, so that it arrives at most once. Return its receipt,
 * or the code of what went wrong, and whether the same report may be sent once more.
 */
export async function sendReport({ token, reportId, answers }) {
  const body = JSON.stringify({ token, report_id: reportId, answers });
  for (let tried = 1; ; tried += 1) {
    try {
      return await posted(body);
    } catch {
      if (tried === TRIES) return { error: "network", mayRepeat: true };
      await new Promise((done) => setTimeout(done, PAUSE * tried));
    }
  }
}

async function posted(body) {
  const headers = { "Content-Type": "application/json" };
  const reply = await fetch("answers", { method: "POST", body, headers, credentials: "omit" });
  const told = await reply.json();
  if (reply.ok) return { receipt: told.receipt };
  return { error: told.error, message: told.message, mayRepeat: reply.status === 429 || reply.status >= 500 };
}

/** Return the fingerprint of the script: that to which the browser held it. */
export function scriptFingerprint() {
  const [, digest] = document.querySelector("script[integrity]").integrity.split("sha256-");
  return Array.from(atob(digest), (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}

/**
 * Let the published model be asked in the browser: what is entered goes nowhere. `words` and `schema` are functions, since
 * the language may change; the function returned shows the model in another language.
 */
export function connectModel(words, schema) {
  let model = null;
  const entered = new Map();
  const show = () => {
    if (model === null) return;
    showQuestions(byId("model-controls"), attributesOf(schema()), words(), entered, PREFIX);
    byId("model-guarantee").textContent = words().say("model.guarantee", { guarantee: model.guarantee });
    byId("model-answer").replaceChildren();
  };
  byId("model").addEventListener("toggle", async ({ target }) => {
    if (!target.open || model !== null) return;
    try {
      model = await loadModel();
    } catch {
      return tell(words().say("wrong.load"));
    }
    for (const { name, type } of attributesOf(schema())) if (type !== "continuous") entered.set(name, "none");
    show();
  });
  byId("model-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const { record } = enteredRecord(attributesOf(schema()), words(), entered, PREFIX);
    if (record) byId("model-answer").replaceChildren(...prediction(model, record, words()));
  });
  return show;
}

// Only numbers are loaded: what predicts by them is part of this script, and of its fingerprint.
async function loadModel() {
  const model = await fetchedJson("model.json");
  return { ...model, ...makePredictor(model) };
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
