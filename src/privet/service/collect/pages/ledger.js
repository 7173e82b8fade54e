// What this browser keeps for the person: a secret, the pins of channels, the ledger, and a report without a receipt; and
// the place where the person sees it.

import { byId, download, element, shortEpsilon } from "./page.js";

const PLACE = "privet-respondent";
const FORMAT = "privet-respondent-backup";
const HEX = /^[0-9a-f]{64}$/;

/** Return what is kept; `secret` is null where nothing is. */
export function kept() {
  const stored = JSON.parse(localStorage.getItem(PLACE) ?? "null");
  return stored === null ? nothing() : fromJson(stored);
}

/** Return what is kept where nobody has answered yet. */
export function nothing() {
  return { secret: null, pins: new Map(), ledger: [], pending: null };
}

export function keep({ secret, pins, ledger, pending }) {
  const text = JSON.stringify({ secret: toHex(secret), pins: [...pins], ledger, pending });
  localStorage.setItem(PLACE, text);
}

export function forgetAll() {
  localStorage.removeItem(PLACE);
}

/** Return the text of a backup; a report under way is not part of it. */
export function backupOf({ secret, pins, ledger }) {
  return JSON.stringify({ format: FORMAT, version: 1, secret: toHex(secret), pins: [...pins], ledger }, null, 1);
}

/** Return what a backup holds, or null if it is none. */
export function fromBackup(text) {
  try {
    const told = JSON.parse(text);
    return told.format === FORMAT && told.version === 1 ? fromJson({ ...told, pending: null }) : null;
  } catch {
    return null;
  }
}

/** Return what is kept once a backup is back: its secret, and all that either of the two has spent and pinned. */
export function restored(before, backup) {
  const isSame = before.secret !== null && toHex(before.secret) === toHex(backup.secret);
  // Of two pins of a field the later holds: the page's where it answers by this secret, else the backup's.
  const pins = isSame ? [...backup.pins, ...before.pins] : [...before.pins, ...backup.pins];
  const known = backup.ledger.map((entry) => JSON.stringify(entry));
  const since = before.ledger.filter((entry) => {
    const place = known.indexOf(JSON.stringify(entry));
    if (place >= 0) known.splice(place, 1);
    return place < 0;
  });
  return { secret: backup.secret, pins: new Map(pins), ledger: [...backup.ledger, ...since], pending: before.pending };
}

function keptIfWhole() {
  try {
    return kept();
  } catch {
    return nothing();
  }
}

function fromJson({ secret, pins, ledger, pending }) {
  const isWhole = HEX.test(secret) && Array.isArray(ledger) && ledger.every(isEntry) && Array.isArray(pins);
  if (!isWhole) throw new TypeError("what this browser keeps is damaged; restore a backup, or forget it");
  return { secret: fromHex(secret), pins: new Map(pins), ledger, pending: pending ?? null };
}

function isEntry({ day, study, channel, epsilon }) {
  const isText = [day, study, channel].every((text) => typeof text === "string");
  return isText && (epsilon === null || (typeof epsilon === "number" && epsilon >= 0));
}

function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(text) {
  return Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
}

/** Return what all answers of a ledger cost at most; an entry without a limit has null. */
export function total(ledger) {
  return ledger.reduce((sum, { epsilon }) => sum + (epsilon ?? Infinity), 0);
}

/** Return the pins without those that another channel set: only for a person who agreed to pay again. */
export function pinsAgreed(pins, marks) {
  return new Map([...pins].filter(([field, mark]) => !marks.has(field) || marks.get(field) === mark));
}

/** Show the ledger in its place. */
export function showLedger(words) {
  const { secret, ledger } = kept();
  byId("backup").hidden = byId("forget").hidden = secret === null;
  byId("ledger").replaceChildren(ledger.length ? ledgerTable(ledger, words) : element("p", {}, words.say("own.empty")));
}

function ledgerTable(ledger, words) {
  const heads = ["own.day", "own.study", "own.channel", "own.epsilon"].map((key, i) =>
    element("th", { scope: "col", className: i === 3 ? "number" : "" }, words.say(key)),
  );
  const short = (text) => element("td", { className: "nowrap" }, text);
  const rows = ledger.map(({ day, study, channel, epsilon }) =>
    element("tr", {}, short(day), element("td", {}, study), short(channel.slice(0, 6)), cost(epsilon ?? Infinity, words)),
  );
  const sum = element("th", { scope: "row", colSpan: 3 }, words.say("own.total"));
  return element(
    "table", {},
    element("caption", {}, words.say("own.caption")),
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows),
    element("tfoot", {}, element("tr", {}, sum, cost(total(ledger), words))),
  );
}

function cost(epsilon, words) {
  return element("td", { className: "number" }, shortEpsilon(epsilon, words));
}

/** Let the buttons work; `changed` is called after something was restored or forgotten. */
export function connectLedger(words, changed) {
  const say = (key) => (byId("own-status").textContent = words().say(key));
  byId("backup").addEventListener("click", () => download("privet-backup.json", backupOf(kept())));
  byId("forget").addEventListener("click", () => {
    if (!confirm(words().say("own.forget-sure"))) return;
    forgetAll();
    say("own.forgotten");
    changed();
  });
  byId("restore").addEventListener("change", async ({ target }) => {
    const backup = target.files.length ? fromBackup(await target.files[0].text()) : null;
    if (backup) keep(restored(keptIfWhole(), backup));
    say(backup ? "own.restored" : "own.no-backup");
    target.value = "";
    if (backup) changed();
  });
}
