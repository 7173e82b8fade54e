// The respondent's side of privet in a page, or in node from version 18 on (there as respondent.mjs): a clear record
// in, the answers that may leave out. Nothing is sent and nothing is stored here.
//
//   import { answer, givenClear, localEpsilon, newSecret } from "./respondent.js";
//   givenClear(channel);         // what is given as it is, the label first: show it before anything is asked
//   localEpsilon(channel);       // what all answers cost together; Infinity where a field has no bound
//   const secret = newSecret();  // 32 bytes that stay with the person: keep them, or never ask again
//   const pins = new Map();      // keep it beside the secret
//   await answer(channel, secret, "ann", { age: 44, sex: "female" }, pins, { maxEpsilon: 1 });
//
// `maxEpsilon` is the person's own limit: a channel that costs more is refused before anything is answered, and so is one
// that gives a field as it is, unless `clear` names it: { maxEpsilon: 1, clear: ["age"] }. Serve the page over https:
// browsers lend their cryptography to secure pages only, and on others whoever is on the line can change this script.
//
// `channel` is the published description, as JSON.parse returns it. The same secret, person, channel and value give the
// same answer whenever they are asked, here and in privet's Python. A second channel for a field would be a second
// answer, and several answers average the noise away: `pins` remembers which channel a field was answered through, and
// another one is refused. To keep `pins`, and the secret, is up to the page; without pins nothing is remembered and
// nothing refused. No two people may share both a secret and a name. What the answers promise is in columns.md.

const FORMAT = "privet-channel";
const VERSION = 1;
const TOTAL_WEIGHT = 2n ** 64n;
const KEY_BYTES = 32;
const GRID = 4096;
const LEAST_GRID = 64;
const MOST_RANGES = 1000;
const DEFAULT_CELLS = 255;
const RECORD = "";
const CLEAR = "clear";
const UNKNOWN = "the channel is of a kind or version unknown to this script; update the script";
const UNFIT = "are not those of its schema; fetch it again";
const utf8 = new TextEncoder();

/** Return a new secret from the system's secure generator. */
export function newSecret() {
  checkSecure();
  return crypto.getRandomValues(new Uint8Array(KEY_BYTES));
}

/** Return the answers that a person with this clear record gives through the channel. */
export async function answer(channel, secret, person, record, pins = null, limits = {}) {
  const strange = Object.keys(limits).find((name) => name !== "maxEpsilon" && name !== "clear");
  check(strange === undefined, `no limit is called ${JSON.stringify(strange)}; pass maxEpsilon and clear`);
  check(pins === null || pins instanceof Map, "pins are a Map, or null; limits come after them");
  const { pinned, answers } = await ready(channel);
  if (limits.maxEpsilon !== undefined) refuseBeyond(channel, limits);
  else if (alwaysKept(channel).length) {
    console.warn(`privet: the channel always keeps ${alwaysKept(channel).join(", ")}: these answers are the clear values`);
  }
  const draw = await drawer(secret, person);
  const asked = answers(record);
  if (pins) pin(pins, pinned);
  return asked(draw);
}

/**
 * Return what all answers of a person cost together, rounded up to ten digits as privet states it. It is Infinity where a
 * field has no local epsilon, is always kept, or is given as it is and not named in `clear`.
 */
export function localEpsilon(channel, clear = []) {
  checkFormat(channel);
  const { schema, fields, label, record } = channel;
  if (record !== null) return Infinity;
  const asked = [...fields, label ?? { field: schema.target, channel: "clear" }];
  const costs = asked.flatMap((own, j) => (clear.includes(own.field) ? [] : [epsilonOf(own, schema.attributes[j])]));
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  return total === 0 || total === Infinity ? total : roundedUp(total);
}

/** Return the fields that everybody can read, the label first: those given as they are, and those always kept. */
export function givenClear(channel) {
  checkFormat(channel);
  const { schema, fields, label, record } = channel;
  const hidesLabel = label !== null || record?.flips_label;
  const clear = fields.filter((own) => record === null && own.channel === "clear").map((own) => own.field);
  const names = new Set([...clear, ...alwaysKept(channel), ...(hidesLabel ? [] : [schema.target])]);
  return [...names].sort((one, other) => Number(other === schema.target) - Number(one === schema.target));
}

function alwaysKept({ fields, label, record }) {
  if (record !== null) return record.keep === 1 ? ["whole records"] : [];
  return [...(label === null ? [] : [label]), ...fields].filter((own) => own.keep === 1).map((own) => own.field);
}

function refuseBeyond(channel, { maxEpsilon, clear = [] }) {
  check(typeof maxEpsilon === "number" && maxEpsilon > 0, "maxEpsilon is a number above 0; smaller hides more");
  check(Array.isArray(clear), "clear is an array of the fields that need not be hidden");
  const costs = localEpsilon(channel, clear);
  const named = givenClear(channel).filter((name) => !clear.includes(name));
  const why = named.length ? `gives ${named.join(", ")} as it is` : `costs epsilon = ${costs}`;
  check(costs <= maxEpsilon, `the channel ${why}, where the limit is ${maxEpsilon}; ask for one that hides more`);
}

/** Return the fingerprint of the channel of each field: what `pins` remembers. */
export async function fingerprints(channel) {
  return (await ready(channel)).pinned;
}

function pin(pins, pinned) {
  for (const [field, mark] of pinned) {
    check(
      mark !== CLEAR || !pins.has(field),
      `the field ${JSON.stringify(field)} was disturbed with this secret before, and this channel gives it as it is; ` +
        "leave it out, or take a new secret if it need not be hidden any more",
    );
    check(
      !pins.has(field) || pins.get(field) === mark,
      `the field ${JSON.stringify(field)} was answered through another channel with this secret, and a second ` +
        "answer would let the collector average the noise away; use the channel of the first time",
    );
  }
  for (const [field, mark] of pinned) if (mark !== CLEAR) pins.set(field, mark);
}

// The last channel, made ready: distributions can have a million outcomes.
let last = { text: null, promise: null };

function ready(channel) {
  const spelledOut = JSON.stringify(channel);
  if (last.text !== spelledOut) last = { text: spelledOut, promise: prepare(structuredClone(channel)) };
  return last.promise;
}

function checkFormat(channel) {
  const isChannel = channel !== null && typeof channel === "object" && channel.format === FORMAT;
  check(isChannel, "this is no description of a channel; pass the published JSON document, parsed");
  check(channel.version === VERSION, UNKNOWN);
}

async function prepare(channel) {
  checkFormat(channel);
  checkSecure();
  return channel.record === null ? fieldByField(channel) : wholeRecord(channel);
}

async function fieldByField({ schema, fields, label }) {
  const pinned = new Map();
  const columns = [];
  for (const [j, attribute] of schema.attributes.entries()) {
    const field = fields[j];
    check(field?.field === attribute.name, `the channel's fields ${UNFIT}`);
    const mark = field.channel === "clear" ? CLEAR : await fingerprint([field, attribute]);
    pinned.set(attribute.name, mark);
    columns.push({ name: attribute.name, question: questionAbout(field, attribute, mark) });
  }
  pinned.set(schema.target, label === null ? CLEAR : await fingerprint([label, schema.classes]));
  const labels = labelQuestion(schema, label, pinned.get(schema.target));
  return { pinned, answers: (record) => answersOf(record, columns, schema.target, labels) };
}

function answersOf(record, columns, target, labels) {
  const questions = columns.map(({ name, question }) => [name, question(valueIn(record, name))]);
  if (has(record, target)) questions.push([target, labels(record[target])]);
  return async (draw) => {
    const given = [];
    for (const [name, ask] of questions) given.push([name, await ask(draw)]);
    return Object.fromEntries(given);
  };
}

// The kinds of fields: how each is asked, and its local epsilon where it has one. A new kind is registered here.
const KINDS = {
  clear: { question: asItIs },
  intervals: { question: intervalOf },
  randomized_response: { question: randomAnswer, epsilon: answerEpsilon },
  uniform: { question: addedNoise },
  gaussian: { question: addedNoise },
  laplace: { question: addedNoise, epsilon: laplaceEpsilon },
};

// A question takes a clear value and returns what is to be done with it, once there is somebody to draw.

function questionAbout(field, attribute, mark) {
  check(Object.hasOwn(KINDS, field.channel), UNKNOWN);
  return KINDS[field.channel].question(field, attribute, mark);
}

function checkNumber(attribute) {
  check(attribute.type === "continuous", "noise is for numbers, not for categories; fetch the channel again");
}

function asItIs() {
  return (value) => () => (isMissing(value) ? null : value);
}

function intervalOf(field, attribute) {
  checkNumber(attribute);
  const codeOf = coderOf(attribute);
  const middles = [...middlesOf(attribute), null];
  return (value) => () => middles[codeOf(value)];
}

function gridOf({ channel, scale }, [low, high]) {
  const spread = scale / (high - low);
  check(spread >= 4 / GRID && spread <= MOST_RANGES, "the noise is out of proportion to its range; fetch it again");
  const steps = stepsOf(spread);
  const step = (high - low) / steps;
  const reach = Math.ceil((NOISES[channel].reach * scale) / step);
  return { steps, step, reach, farthest: reach + (channel === "laplace" ? steps : 0) };
}

function addedNoise(field, attribute, mark) {
  checkNumber(attribute);
  const { name, bounds } = attribute;
  const [low, high] = bounds;
  const { steps, step, reach, farthest } = gridOf(field, bounds);
  const outcome = ofNoise(NOISES[field.channel].lowerHalf, field.scale, step, farthest);
  return (value) => {
    const x = numberIn(value, name);
    if (x === null) return () => null;
    const code = Math.min(nearestWhole((Math.min(Math.max(x, low), high) - low) / step), steps);
    return async (draw) => {
      const place = code + outcome(await draw(mark, code));
      return low + Math.min(Math.max(place, -reach), steps + reach) * step;
    };
  };
}

function stepsOf(spread) {
  let steps = GRID;
  for (let rest = spread; rest >= 2; rest /= 2) steps /= 2;
  return Math.max(LEAST_GRID, steps);
}

function randomAnswer(field, attribute, mark) {
  const values = attribute.type === "continuous" ? middlesOf(attribute) : attribute.categories;
  const toSay = [...values, null];
  const { answers, keep } = field;
  check(answers === values.length + Number(field.covers_missing), `the channel's answers ${UNFIT}`);
  const outcome = keepOr(keep, answers);
  const codeOf = coderOf(attribute);
  return (value) => {
    const code = codeOf(value);
    const known = code < answers || isMissing(value) || attribute.type === "continuous";
    check(known, `${JSON.stringify(attribute.name)} must be one of the channel's categories; correct it, or leave it out`);
    if (code >= answers) return () => null; // missing, and for all to see
    return async (draw) => toSay[(code + outcome(await draw(mark, code))) % answers];
  };
}

function labelQuestion({ classes, target }, label, mark) {
  check(label === null || label.answers === classes.length, `the channel's classes ${UNFIT}`);
  const outcome = label === null ? null : keepOr(label.keep, classes.length);
  return (value) => {
    if (outcome === null) return () => (isMissing(value) ? null : value);
    const code = classCode(classes, target, value);
    return async (draw) => classes[(code + outcome(await draw(mark, code))) % classes.length];
  };
}

function classCode(classes, target, value) {
  const code = classes.indexOf(value);
  check(code >= 0, `${JSON.stringify(target)} must be one of the channel's classes; leave it out, or correct it`);
  return code;
}

// Whole records in bits: as they are, or every bit flipped.

async function wholeRecord({ schema, record: field }) {
  check(field.channel === "record_complement", UNKNOWN);
  check(field.keep > 0.5 && field.keep <= 1, "a record must be kept with a chance above 1/2; fetch the channel again");
  const mark = await fingerprint([field, schema]);
  const outcome = ofWeights([kept(field.keep), TOTAL_WEIGHT - kept(field.keep)]);
  const coders = schema.attributes.map((attribute, j) => bitsOf(attribute, field.coding.fields[j]));
  const told = [RECORD, ...schema.attributes.map(({ name }) => name), ...(field.flips_label ? [schema.target] : [])];
  const pinned = new Map([[schema.target, CLEAR], ...told.map((name) => [name, mark])]);
  return { pinned, answers: (record) => flipped(record, schema, coders, field.flips_label, outcome, mark) };
}

function kept(keep) {
  return BigInt(keep * 2 ** 64); // whole, since a double above 1/2 has no bit below 2^-53
}

function flipped(record, { classes, target }, coders, flipsLabel, outcome, mark) {
  const named = coders.flatMap((coder) => coder(record));
  const hasLabel = has(record, target);
  check(hasLabel || !flipsLabel, "the channel flips the label too; add it to the record");
  const label = hasLabel ? classCode(classes, target, record[target]) : null;
  const digits = named.map(([, bit]) => bit).join("") + (flipsLabel ? label : "");
  return async (draw) => {
    const flip = outcome(await draw(mark, 0, JSON.stringify(digits)));
    const given = named.map(([name, bit]) => [name, bit ^ flip]);
    if (hasLabel) given.push([target, classes[flipsLabel ? label ^ flip : label]]);
    return Object.fromEntries(given);
  };
}

function bitsOf(attribute, { field, bits, codes, shares }) {
  check(field === attribute.name, `the coding's fields ${UNFIT}`);
  const codeOf = coderOf(attribute);
  const values = cellsIn(attribute);
  const ofMissing = codes.length > values ? codes[values] : codes[shares.indexOf(Math.max(...shares))];
  return (record) => {
    const value = codeOf(valueIn(record, attribute.name));
    const code = value < values ? codes[value] : ofMissing;
    return Array.from({ length: bits }, (_, j) => [`${attribute.name}:${j}`, (code >> (bits - 1 - j)) & 1]);
  };
}

// Values and their codes. Errors name fields, never values.

function checkSecure() {
  check(
    globalThis.crypto?.subtle !== undefined,
    "answers are drawn by the browser's cryptography, which it lends to secure pages only; open this page over https, " +
      "or on localhost",
  );
}

function check(holds, otherwise) {
  if (!holds) throw new TypeError(otherwise);
}

function has(record, name) {
  return Object.hasOwn(record, name);
}

function valueIn(record, name) {
  check(record !== null && typeof record === "object", "a record is an object by the names of its fields");
  check(has(record, name), `the record lacks ${JSON.stringify(name)}; pass null where it is missing`);
  return record[name];
}

function isMissing(value) {
  return value === undefined || value === null || Number.isNaN(value);
}

function numberIn(value, name) {
  if (isMissing(value)) return null;
  const isNumber = typeof value === "number" || typeof value === "boolean";
  check(isNumber, `${JSON.stringify(name)} needs a number; convert it first, such as by Number()`);
  return Number(value);
}

function coderOf(attribute) {
  return attribute.type === "continuous" ? cellCoder(attribute) : categoryCoder(attribute);
}

function cellCoder(attribute) {
  const cuts = edgesOf(attribute).slice(1, -1);
  return (value) => {
    const x = numberIn(value, attribute.name);
    return x === null ? cuts.length + 1 : countUpTo(cuts, x);
  };
}

function categoryCoder({ name, categories }) {
  const kind = typeof categories[0];
  const codeOf = new Map(categories.map((category, code) => [category, code]));
  return (value) => {
    if (isMissing(value)) return categories.length;
    check(typeof value === kind, `${JSON.stringify(name)} needs a ${kind}, as its categories are; convert it first`);
    return codeOf.get(value) ?? categories.length;
  };
}

function cellsIn({ type, categories, bins, edges }) {
  if (type !== "continuous") return categories.length;
  return edges ? edges.length + 1 : bins ?? DEFAULT_CELLS;
}

function edgesOf({ bounds: [low, high], bins, edges }) {
  if (edges) return [low, ...edges, high];
  const cells = bins ?? DEFAULT_CELLS;
  return Array.from({ length: cells + 1 }, (_, i) => low * (1 - i / cells) + high * (i / cells));
}

function middlesOf(attribute) {
  // The ends are the bounds themselves, which the formula for edges may miss by a rounding.
  const edges = [attribute.bounds[0], ...edgesOf(attribute).slice(1, -1), attribute.bounds[1]];
  return edges.slice(1).map((edge, i) => (edges[i] + edge) / 2);
}

// How many of the sorted numbers are at most x.
function countUpTo(sorted, x) {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (sorted[middle] <= x) from = middle + 1;
    else to = middle;
  }
  return from;
}

// Halves go to the even neighbour, as they do in Python.
function nearestWhole(x) {
  const below = Math.floor(x);
  if (x - below !== 0.5) return Math.round(x);
  return below % 2 === 0 ? below : below + 1;
}

// Public distributions: whole-number weights that add up to 2^64. A function for one turns 64 bits into an outcome.

// The weight of the true answer, and of each other one.
function shares(keep, answers) {
  check(keep > 1 / answers && keep <= 1, "the true answer must be likelier than any other; fetch the channel again");
  const [top, bottom] = asFraction(keep);
  const shared = (bottom - top) * TOTAL_WEIGHT;
  const parts = bottom * BigInt(answers - 1);
  const other = (shared + parts - 1n) / parts; // rounded up
  return [TOTAL_WEIGHT - other * BigInt(answers - 1), other];
}

function keepOr(keep, answers) {
  const [own, other] = shares(keep, answers);
  return ofWeights([own, ...Array(answers - 1).fill(other)]);
}

function asFraction(x) {
  let [top, bottom] = [x, 1n];
  while (!Number.isInteger(top)) [top, bottom] = [top * 2, bottom * 2n]; // doubling is exact
  return [BigInt(top), bottom];
}

function ofWeights(weights) {
  let held = 0n;
  const sums = weights.map((weight) => (held += weight)).filter((sum) => sum < TOTAL_WEIGHT);
  const upTo = BigUint64Array.from(sums);
  return (word) => countUpTo(upTo, word);
}

function lowerWeights(lowerHalf, scale, step, farthest) {
  const weights = Array.from(lowerHalf(scale, step, farthest), (chance) => BigInt(Math.ceil(chance * 2 ** 64)));
  return weights.filter((weight) => weight > 0n); // what cannot happen is left out
}

function ofNoise(...noise) {
  const lower = lowerWeights(...noise);
  const reach = lower.length;
  const upTo = new BigUint64Array(2 * reach);
  let held = 0n;
  for (let i = 0; i < reach; i += 1) upTo[i] = held += lower[i];
  held = TOTAL_WEIGHT - held; // the middle has what both halves leave
  for (let i = reach; i < 2 * reach; i += 1) {
    upTo[i] = held;
    held += lower[2 * reach - 1 - i];
  }
  return (word) => countUpTo(upTo, word) - reach;
}

// Local epsilons, from the weights that are drawn from: the argument is in columns.md.

function epsilonOf(field, attribute) {
  const kind = Object.hasOwn(KINDS, field.channel) ? KINDS[field.channel] : {};
  return kind.epsilon ? kind.epsilon(field, attribute) : Infinity;
}

function answerEpsilon({ keep, answers }) {
  const [own, other] = shares(keep, answers);
  const least = own < other ? own : other;
  return least === 0n ? Infinity : logRatio(own > other ? own - other : other - own, least);
}

function laplaceEpsilon(field, { bounds }) {
  const { steps, step, reach, farthest } = gridOf(field, bounds);
  const lower = lowerWeights(NOISES.laplace.lowerHalf, field.scale, step, farthest);
  const held = lower.reduce((sum, weight) => sum + weight, 0n);
  const middle = TOTAL_WEIGHT - 2n * held;
  const weight = (d) => (d === 0 ? middle : lower[farthest - Math.abs(d)]);
  const nearest = lower.slice(0, steps + 1).reduce((sum, own) => sum + own, 0n);
  let [more, least] = [nearest - lower[0], lower[0]]; // on the border
  for (let j = 1 - reach; j < steps + reach; j += 1) {
    const [one, other] = [weight(j), weight(j - steps)];
    const [low, high] = one < other ? [one, other] : [other, one];
    const most = j >= 0 && j <= steps ? middle : high;
    if ((most - low) * least > more * low) [more, least] = [most - low, low];
  }
  return logRatio(more, least);
}

// The logarithm of 1 + more / least, rounded up by more than its arithmetic can err.
function logRatio(more, least) {
  return Math.log1p(Number((more << 128n) / least) / 2 ** 128) * (1 + 1e-12);
}

// Ten digits, the last rounded up; an epsilon never looks smaller than it is.
function roundedUp(x) {
  const near = Number(x.toPrecision(10));
  if (near >= x) return near;
  const [digits, exponent] = x.toExponential(9).split("e");
  return Number(`${BigInt(digits.replace(".", "")) + 1n}e${Number(exponent) - 9}`);
}

// The chances of -reach, ..., -1 steps; the first has the whole tail.
const NOISES = {
  uniform: { reach: 1, lowerHalf: (scale, ...grid) => differences((z) => uniformBelow(z, scale), ...grid) },
  gaussian: { reach: 9.1, lowerHalf: (scale, ...grid) => differences((z) => normalBelow(z / scale), ...grid) },
  laplace: { reach: 12, lowerHalf: geometric },
};

function differences(below, step, reach) {
  const chances = new Float64Array(reach);
  let before = 0;
  for (let i = 0; i < reach; i += 1) {
    const upToHere = below((i + 1 - reach - 0.5) * step);
    chances[i] = upToHere - before;
    before = upToHere;
  }
  return chances;
}

function geometric(scale, step, reach) {
  const rest = -Math.expm1(-step / scale);
  const chances = new Float64Array(reach);
  for (let i = 0; i < reach; i += 1) chances[i] = (rest / (2 - rest)) * Math.exp(((i - reach) * step) / scale);
  chances[0] /= rest;
  return chances.map((chance) => Math.max(chance, 2 ** -64));
}

function uniformBelow(z, scale) {
  return Math.min(Math.max((z + scale) / (2 * scale), 0), 1);
}

// The normal distribution below z <= 0, to about 1e-16: near the middle the series of Marsaglia (Journal of Statistical
// Software 11, 2004), further out Laplace's continued fraction.
function normalBelow(z) {
  const density = Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);
  if (z < -2.5) {
    let fraction = -z;
    for (let k = 160; k >= 1; k -= 1) fraction = -z + k / fraction;
    return density / fraction;
  }
  let [sum, term] = [z, z];
  for (let k = 3; Math.abs(term) > 1e-18; k += 2) {
    term *= (z * z) / k;
    sum += term;
  }
  return 0.5 + density * sum;
}

// The 64 bits that decide an answer: HMAC-SHA256 of person and value, under a key of the field's own channel, which is
// HMAC-SHA256 of the channel's fingerprint under the secret.

async function drawer(secret, person) {
  const isSecret = secret instanceof Uint8Array && secret.length === KEY_BYTES;
  check(isSecret, "a secret is a Uint8Array of 32 bytes; make one with newSecret()");
  check(typeof person === "string" && person, "a person is a text that no other person has; pass one");
  const key = await hmacKey(secret);
  return async (mark, code, more = null) => {
    const told = more === null ? JSON.stringify(person) : `${JSON.stringify(person)},${more}`;
    const own = await hmacKey(await hmac(key, mark));
    return new DataView(await hmac(own, `[${told},${code}]`)).getBigUint64(0);
  };
}

function hmacKey(bytes) {
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

function hmac(key, message) {
  return crypto.subtle.sign("HMAC", key, utf8.encode(message));
}

async function fingerprint(document) {
  const digest = await crypto.subtle.digest("SHA-256", utf8.encode(JSON.stringify(spelled(document))));
  return hexadecimal(digest);
}

// JSON values with sorted keys, and numbers as the hexadecimal digits of a double: alike in any language.
function spelled(value) {
  if (Array.isArray(value)) return value.map(spelled);
  if (typeof value === "number") {
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setFloat64(0, value);
    return { "": hexadecimal(bytes.buffer) };
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, spelled(value[key])]));
}

function hexadecimal(buffer) {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
