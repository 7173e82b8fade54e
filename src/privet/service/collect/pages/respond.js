// The respondent's page: consent, questions, a look at what would be sent, sending, thanks.

import { attributeOf, comparison } from "./compared.js";
import { connectLedger, keep, kept, nothing, pinsAgreed, showLedger, total } from "./ledger.js";
import { allTexts, byId, download, element, inGroups, offerLanguages, setTexts, shortEpsilon, tell, wordsOf } from "./page.js";
import { enteredRecord, showQuestions } from "./questions.js";
import * as respondent from "./respondent.js";
import { connectModel, fetchStudy, needsLink, scriptFingerprint, sendReport } from "./served.js";

const STEPS = ["welcome", "asking", "compared", "thanks", "hand", "withdrawn", "pending"];
const PERSON = "me"; // every browser has a secret of its own
// Texts that hold where nothing is sent as it is.
const SAYS_ALL_STAYS = '[data-say="welcome.how"], [data-say="thanks.arrived"]';
const WRONG = {
  network: "wrong.network", rate_limited: "wrong.busy", unavailable: "wrong.busy", token_used: "wrong.used",
  token_unknown: "wrong.token", closed: "wrong.closed",
};

// What is entered, drawn and read from the link lives here and nowhere else until the person sends.
const state = { token: takenFromAddress(), words: null, isGuest: false, entered: new Map(), own: null, asked: [], record: null, answers: null };

function takenFromAddress() {
  const token = location.hash.slice(1);
  if (token) history.replaceState(null, "", location.pathname + location.search);
  return token;
}

async function start() {
  try {
    Object.assign(state, await fetchStudy());
    state.texts = allTexts(state.texts, state.study.texts);
    state.clear = respondent.givenClear(state.channel);
    // A channel that disturbs nothing limits nothing.
    state.epsilon = respondent.localEpsilon(state.channel, state.clear) || Infinity;
  } catch (error) {
    const texts = state.texts ?? { en: { "wrong.load": "The survey could not be loaded. Check the network and open your link again." } };
    return tell(wordsOf("en", texts).say(state.texts ? "wrong.script" : "wrong.load", { why: error.message }));
  }
  byId("offline-how").hidden = byId("code-part").hidden = needsLink;
  byId("send").dataset.say = needsLink ? "compared.send" : "offline.take";
  connect();
  state.showModel = connectModel(() => state.words, () => state.channel.schema);
  offerLanguages(state.texts, speak);
  byId("model").hidden = !state.study.model;
  begin();
  byId("script-hash").textContent = inGroups(await scriptFingerprint());
}

function begin() {
  byId("consent").hidden = !state.study.open;
  showStep(kept().pending ? "pending" : "welcome");
  if (!state.study.open) tell(state.words.say("wrong.closed"));
  else if (needsLink && !state.token && !kept().pending) tell(state.words.say("welcome.no-link"));
}

// Show one of the steps and hide the others; the focus goes to its heading.
function showStep(id) {
  for (const name of STEPS) byId(name).hidden = name !== id;
  document.querySelectorAll(".steps li").forEach((mark, i) => mark.classList.toggle("done", i <= STEPS.indexOf(id)));
  tell("");
  byId(`${id}-title`).focus();
  scrollTo(0, 0);
}

function speak(language) {
  state.words = wordsOf(language, state.texts, state.study.texts);
  tell("");
  setTexts(state.words);
  showWelcome();
  showAsked();
  if (state.answers) showCompared();
  showLedger(state.words);
  state.showModel();
}

function connect() {
  byId("consent").addEventListener("submit", guarded(agree));
  byId("not-me").addEventListener("click", answerAsGuest);
  byId("questions").addEventListener("submit", guarded(disturb));
  byId("code").addEventListener("change", ({ target }) => (state.token = target.value.trim().split("#").pop()));
  byId("change").addEventListener("click", () => showStep("asking"));
  byId("send").addEventListener("click", guarded(send));
  byId("resend").addEventListener("click", guarded(() => deliver(byId("resend"))));
  byId("hand-save").addEventListener("click", () => download("privet-answer.json", byId("hand-text").textContent));
  byId("hand-copy").addEventListener("click", guarded(copyText));
  for (const button of document.querySelectorAll(".withdraw")) button.addEventListener("click", withdraw);
  connectLedger(() => state.words, () => speak(state.words.language));
}

function guarded(action) {
  return async (event) => {
    event.preventDefault();
    tell("");
    try {
      await action();
    } catch (error) {
      tell(state.words.say("wrong.script", { why: error.message }));
    }
  };
}

function showWelcome() {
  const { words, study, channel, clear } = state;
  const title = words.study("title") ?? study.title ?? words.say("welcome.title");
  document.title = byId("welcome-title").textContent = title;
  byId("by").textContent = study.by ? words.say("welcome.by", { by: study.by }) : "";
  byId("purpose").textContent = words.study("purpose") ?? study.purpose ?? "";
  byId("clear-warning").hidden = clear.length === 0;
  for (const place of document.querySelectorAll(SAYS_ALL_STAYS)) place.hidden = clear.length > 0;
  byId("clear-fields").textContent = words.say("clear.fields", { fields: clear.map(words.field).join(", ") });
  byId("channel-hash").textContent = inGroups(state.channelHash);
  showPrice();
  showAgain();
  showAskedList(channel);
}

function showPrice() {
  const { words, epsilon, clear } = state;
  const isLimited = epsilon !== Infinity;
  const key = !isLimited ? "price.none" : clear.length ? "price.rest" : "price.odds";
  byId("price").textContent = words.say(key, { right: rightGuesses(epsilon) });
  byId("price-small").textContent = isLimited ? words.say("price.small", { epsilon: shortEpsilon(epsilon, words) }) : "";
}

// What is kept of whoever answers now: of a guest nothing.
function held() {
  return state.isGuest ? nothing() : kept();
}

// Two people who answer by one secret send the same report where their answers are the same, so that this shows.
function answerAsGuest() {
  state.isGuest = true;
  showAgain();
  byId("guest").focus();
}

function showAgain() {
  const { words, epsilon, isGuest } = state;
  const { ledger } = held();
  const [before, together] = [total(ledger), total(ledger) + epsilon];
  const told = { before: shortEpsilon(before, words), total: shortEpsilon(together, words), right: rightGuesses(together) };
  byId("again").hidden = ledger.length === 0;
  byId("guest").hidden = !isGuest;
  byId("again-sum").textContent = words.say(together === Infinity ? "again.sum-none" : "again.sum", told);
}

// How often of 100 a guess between two answers can be right, rounded up.
function rightGuesses(epsilon) {
  return Math.min(100, Math.ceil(100 / (1 + Math.exp(-epsilon))));
}

function isSampled() {
  return state.channel.record?.channel === "sampled_fields";
}

function showAskedList({ schema, record }) {
  const { words } = state;
  const target = words.field(schema.target);
  const counts = isSampled() ? { ask: words.number(record.ask), all: words.number(record.questions.length), target } : {};
  byId("asked-how").textContent = words.say(isSampled() ? "asked.coin" : "asked.all", counts);
  const names = [...schema.attributes.map(({ name }) => words.field(name)), isSampled() ? words.say("asked.target", { target }) : target];
  byId("asked").replaceChildren(...names.map((name) => element("li", {}, name)));
}

async function agree() {
  const { words } = state;
  const isAgain = !byId("again").hidden;
  for (const [box, must, isNeeded] of [["agree-again", "again.must", isAgain], ["agree", "consent.must", true]]) {
    if (!isNeeded || byId(box).checked) continue;
    tell(words.say(must));
    return byId(box).focus();
  }
  const own = held();
  const marks = await respondent.fingerprints(state.channel);
  state.own = { secret: own.secret ?? respondent.newSecret(), pins: isAgain ? pinsAgreed(own.pins, marks) : own.pins };
  state.asked = await fieldsAsked();
  showAsked();
  showStep("asking");
}

// Only what the person's own coin picked, and the label.
async function fieldsAsked() {
  const { channel, own } = state;
  const { attributes, target } = channel.schema;
  if (!isSampled()) return [...attributes.map(({ name }) => name), target].map((name) => attributeOf(channel.schema, name));
  const picked = await respondent.picked(channel, own.secret, PERSON);
  const names = new Set([...picked.flatMap(({ fields }) => fields), target]);
  return [...names].map((name) => attributeOf(channel.schema, name));
}

function showAsked() {
  const { words, asked, entered, channel } = state;
  showQuestions(byId("controls"), asked, words, entered);
  const { target } = channel.schema;
  const names = asked.map(({ name }) => name).filter((name) => name !== target || asked.length === 1); // or it alone
  byId("coin").textContent = isSampled() ? words.say("asking.coin", { fields: names.map(words.field).join(", ") }) : "";
}

async function disturb() {
  const { words, asked, entered, channel, own, epsilon, clear } = state;
  const { record, wrong } = enteredRecord(asked, words, entered);
  if (record === null) return tell(words.say("asking.wrong", { n: wrong }));
  const pins = new Map(own.pins); // these channels count as used once something is sent
  state.answers = await respondent.answer(channel, own.secret, PERSON, record, pins, limits(epsilon, clear, own.pins));
  Object.assign(state, { record, pinsUsed: pins });
  showCompared();
  showStep("compared");
}

// What was agreed to: this price, on top of what earlier waves cost.
function limits(epsilon, clear, pins) {
  return epsilon > 0 && epsilon !== Infinity ? { maxEpsilon: epsilon + respondent.spent(pins), clear } : {};
}

function showCompared() {
  const { channel, record, answers, words, own, isGuest } = state;
  byId("pairs").replaceChildren(...comparison(channel, record, answers, words));
  byId("exactly").textContent = JSON.stringify(answers, null, 1);
  const before = isGuest ? respondent.spent(own.pins) : total(kept().ledger); // a guest's answers that were refused
  const cost = costOfThis();
  const told = { epsilon: shortEpsilon(cost, words), total: shortEpsilon(before + cost, words) };
  byId("cost").textContent = before === 0 ? "" : words.say(cost === 0 ? "compared.same" : "compared.cost", told);
}

// The pins of sampled fields know an answer that was sent before: it is the same report, and costs nothing more.
function costOfThis() {
  const { own, pinsUsed, epsilon, answers, refused } = state;
  if (refused === JSON.stringify(answers)) return 0; // in the ledger already
  return isSampled() ? Number((respondent.spent(pinsUsed) - respondent.spent(own.pins)).toPrecision(10)) : epsilon;
}

async function send() {
  const { token, answers, own, pinsUsed, words, isGuest } = state;
  if (needsLink && !token) return tell(words.say("welcome.no-link"));
  const before = kept();
  const cost = costOfThis();
  const entry = { study: state.study.title ?? "", channel: state.channelHash, epsilon: cost === Infinity ? null : cost };
  const pending = { token, reportId: newId(), answers, entry: isGuest ? null : entry };
  const keeps = isGuest ? { secret: before.secret ?? respondent.newSecret() } : { secret: own.secret, pins: pinsUsed };
  keep({ ...before, ...keeps, pending });
  await deliver(byId("send"));
}

// A report is kept until its receipt is here: whatever fails between, the same report is sent again and counts once.
async function deliver(button) {
  const { words } = state;
  const { pending } = kept();
  button.disabled = true;
  button.textContent = words.say("compared.sending");
  const { receipt, handOver, error, message, mayRepeat } = await sendReport(pending);
  button.disabled = false;
  button.textContent = words.say(button.dataset.say);
  if (receipt) return received(receipt, pending.entry);
  if (handOver) return handedOver(handOver, pending.entry);
  if (mayRepeat) showStep("pending"); // other answers now would be a second report
  else refused(pending);
  tell(words.say(WRONG[error] ?? "wrong.refused", { why: message ?? error }));
}

// Who refuses an answer has it all the same: it counts, once.
function refused({ answers, entry }) {
  enter(entry?.epsilon === 0 ? null : entry);
  const { own, isGuest, pinsUsed } = state;
  const pins = isGuest ? pinsUsed : kept().pins;
  if (own) Object.assign(state, { own: { ...own, pins }, refused: JSON.stringify(answers) });
  speak(state.words.language);
}

function received(receipt, entry) {
  enter(entry && { ...entry, receipt });
  leave();
  byId("receipt").textContent = inGroups(receipt);
  showStep("thanks");
}

function handedOver(text, entry) {
  enter(entry);
  leave();
  byId("hand-text").textContent = text;
  showStep("hand");
}

// The report has arrived; without an entry it is not in the ledger.
function enter(entry) {
  const before = kept();
  const day = new Date().toISOString().slice(0, 10);
  const ledger = entry ? [...before.ledger, { day, ...entry }] : before.ledger;
  keep({ ...before, ledger, pending: null });
}

function leave() {
  wipe();
  speak(state.words.language);
}

async function copyText() {
  await navigator.clipboard.writeText(byId("hand-text").textContent);
  byId("hand-status").textContent = state.words.say("offline.copied");
}

function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Nothing of an answer is stored before it is sent, so that wiping the page wipes all.
function withdraw() {
  wipe();
  showStep("withdrawn");
}

function wipe() {
  state.entered.clear();
  Object.assign(state, { token: "", isGuest: false, own: null, asked: [], record: null, answers: null, pinsUsed: null, refused: null });
  for (const id of ["controls", "pairs", "exactly", "cost"]) byId(id).replaceChildren();
  for (const id of ["agree", "agree-again"]) byId(id).checked = false;
}

start();
