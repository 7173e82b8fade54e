// What both pages are made of: elements, and words. Names, categories and words come from files of others: they are set
// as text, never as markup.

const FALLBACK = "en";

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

/** Put a message where screen readers read it at once. */
export function tell(message) {
  const place = byId("messages");
  place.textContent = message;
  if (message) place.scrollIntoView({ block: "nearest" });
}

/** Offer a text as a file. */
export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Return the SHA-256 fingerprint of bytes, in hexadecimal. */
export async function sha256(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return a fingerprint in groups of four, for people to compare. */
export function inGroups(hash) {
  return hash.replace(/(.{4})(?=.)/g, "$1 ");
}

/** Return the page's texts by language: those that it has, and whole languages that a collector added. */
export function allTexts(known, added) {
  const whole = Object.entries(added).filter(([language, { name }]) => name && !Object.hasOwn(known, language));
  return { ...known, ...Object.fromEntries(whole) };
}

/** Let people choose a language; the one that the browser would like best is taken first. */
export function offerLanguages(texts, speak) {
  const languages = Object.keys(texts);
  const short = navigator.languages.map((language) => language.toLowerCase().split("-")[0]);
  const first = short.find((language) => languages.includes(language)) ?? FALLBACK;
  const options = languages.map((value) => element("option", { value, lang: value }, texts[value].name));
  byId("language").replaceChildren(...options);
  byId("language").value = first;
  byId("language").addEventListener("change", ({ target }) => speak(target.value));
  speak(first);
}

/** Return what says things in a language: `texts` and `own` map languages to texts. */
export function wordsOf(language, texts, own = {}) {
  const [known, fallback] = [texts[language] ?? {}, texts[FALLBACK] ?? {}];
  const collectors = own[language] ?? own[FALLBACK] ?? {};
  const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 4 });
  const number = (value) => numbers.format(value);
  const say = (key, values = {}) => filled(known[key] ?? fallback[key] ?? key, values);
  return {
    language,
    say,
    number,
    direction: known.dir ?? "ltr",
    study: (key) => collectors[key],
    field: (name) => textIn(collectors.fields, name) ?? name,
    value: (name, value) => (value === null ? say("asking.none") : textIn(collectors.values?.[name], value) ?? String(value)),
  };
}

function textIn(texts, name) {
  const key = String(name);
  return texts && Object.hasOwn(texts, key) ? texts[key] : undefined;
}

function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}

/** Set all texts of the page that stand in its markup. */
export function setTexts(words) {
  document.documentElement.lang = words.language;
  document.documentElement.dir = words.direction;
  for (const place of document.querySelectorAll("[data-say]")) place.textContent = words.say(place.dataset.say);
}

/** Return an epsilon with at most three digits after the point, rounded up: it never looks smaller than it is. */
export function shortEpsilon(epsilon, words) {
  if (epsilon === Infinity) return words.say("own.unlimited");
  return words.number(Math.ceil(Number((epsilon * 1000).toPrecision(9))) / 1000);
}
