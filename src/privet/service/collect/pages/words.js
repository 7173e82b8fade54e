// What the page says: the texts of a language, over which a collector may put texts of its own for title, fields and
// values. A text that a language lacks is taken from English.

const FALLBACK = "en";

/** Return the language of the list that the browser would like best. */
export function preferred(languages, wanted = navigator.languages) {
  const short = wanted.map((language) => language.toLowerCase().split("-")[0]);
  return short.find((language) => languages.includes(language)) ?? (languages.includes(FALLBACK) ? FALLBACK : languages[0]);
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

/** Return how often of 100 a guess between two answers can be right, rounded up. */
export function rightGuesses(epsilon) {
  return Math.min(100, Math.ceil(100 / (1 + Math.exp(-epsilon))));
}

/** Return an epsilon with at most three digits after the point, rounded up: it never looks smaller than it is. */
export function shortEpsilon(epsilon, words) {
  if (epsilon === Infinity) return words.say("own.unlimited");
  return words.number(Math.ceil(Number((epsilon * 1000).toPrecision(9))) / 1000);
}
