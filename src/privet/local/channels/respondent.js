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
// A channel of sampled fields asks each person a few questions only, which their own coin picks:
//
//   await picked(channel, secret, "ann");  // [{ number: 3, fields: ["age"] }]: ask for these alone, and the label
//   spent(pins);                           // what the answers given so far cost, all waves together
//
// `maxEpsilon` is the person's own limit: a channel that costs more is refused before anything is answered, and so is one
// that gives a field as it is, unless `clear` names it: { maxEpsilon: 1, clear: ["age"] }. Answers about sampled fields
// are added up in `pins`: the limit covers all waves, and what a changed record is answered once more. Serve the page over https:
// browsers lend their cryptography to secure pages only, and on others whoever is on the line can change this script.
//
// `channel` is the published description, as JSON.parse returns it. Every function here first refuses a channel that
// privet could not have written (checkChannel). The same secret, person, channel and value give the same answer whenever
// they are asked, here and in privet's Python. A second channel for a field would be a second answer, and several answers
// average the noise away: `pins` remembers which channel a field was answered through, and another one is refused. To
// keep `pins`, and the secret, is up to the page; without pins nothing is remembered and nothing refused. No two people
// may share both a secret and a name. What the answers promise is in columns.md.

const FORMAT = "privet-channel";
const VERSION = 1;
const TOTAL_WEIGHT = 2n ** 64n;
const KEY_BYTES = 32;
const GRID = 4096;
const LEAST_GRID = 64;
const MOST_RANGES = 1000;
const DEFAULT_CELLS = 255;
const MOST_VALUES = 65534;
const MOST_ATTRIBUTES = 2 ** 15 - 1;
const MOST_CELLS = 2 ** 23;
const MOST_BITS = 17;
const MOST_CELLS_ASKED = 2 ** 16;
const MOST_OUTCOMES = 2 ** 48;
const WORDS_A_DIGEST = 4;
const LONGEST_LABEL = 1000;
const RECORD = "";
const CLEAR = "clear";
const WAVES = "waves";
const NO_CHANNEL = "this is no description of a channel; pass the published JSON document, parsed";
const UNKNOWN = "the channel is of a kind or version unknown to this script; update the script";
const CHANGED = "is not as privet writes it; fetch the channel again";
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
  const known = read(channel);
  const { pinned, asked } = await ready(known);
  const always = alwaysKept(known.channel);
  if (limits.maxEpsilon !== undefined) refuseBeyond(known.channel, limits);
  else if (always.length) {
    console.warn(`privet: the channel always keeps ${always.join(", ")}: these answers are the clear values`);
  }
  const draw = await drawer(secret, person);
  const { give, spends = [] } = await asked(record, draw);
  if (pins) {
    refuseBeyondAll(pins, spends, limits);
    pin(pins, pinned);
    for (const [answered, epsilon] of spends) pins.set(answered, epsilon);
  }
  return give(draw);
}

/** Return the questions that this person is asked, with their fields; nothing else of a record is needed but the label. */
export async function picked(channel, secret, person) {
  const known = read(channel);
  const { pick } = await ready(known);
  check(pick !== undefined, "this channel asks everybody for every field; only channels of sampled fields pick");
  const numbers = await pick(await drawer(secret, person));
  return numbers.map((number) => ({ number, fields: [...known.channel.record.questions[number].fields] }));
}

/** Return what all answers about sampled fields that `pins` remembers cost together. */
export function spent(pins) {
  return sumOf([...pins.values()].filter(isNumber));
}

function refuseBeyondAll(pins, spends, { maxEpsilon = Infinity }) {
  const total = sumOf([...new Map([...pins, ...spends]).values()].filter(isNumber));
  check(
    spends.length === 0 || total <= maxEpsilon,
    `all answers together would cost epsilon = ${total}, where the limit is ${maxEpsilon}; do not answer this one`,
  );
}

// Stated epsilons were rounded up to ten digits; twelve are enough for their sum.
function sumOf(epsilons) {
  return Number(epsilons.reduce((sum, epsilon) => sum + epsilon, 0).toPrecision(12));
}

/**
 * Return what all answers of a person cost together, rounded up to ten digits as privet states it. It is Infinity where a
 * field has no local epsilon, is always kept, or is given as it is and not named in `clear`.
 */
export function localEpsilon(channel, clear = []) {
  check(Array.isArray(clear), "clear is an array of the fields that need not be hidden");
  const { schema, fields, label, record } = read(channel).channel;
  if (record !== null) return RECORDS[record.channel].epsilon(record);
  const asked = [...fields, label ?? { field: schema.target, channel: "clear" }];
  const costs = asked.flatMap((own, j) => (clear.includes(own.field) ? [] : [epsilonOf(own, schema.attributes[j])]));
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  return total === 0 || total === Infinity ? total : roundedUp(total);
}

/** Return the fields that everybody can read, the label first: those given as they are, and those always kept. */
export function givenClear(channel) {
  const { schema, fields, label, record } = read(channel).channel;
  const hidesLabel = label !== null || (record !== null && RECORDS[record.channel].hidesLabel(record));
  const clear = fields.filter((own) => record === null && own.channel === "clear").map((own) => own.field);
  const names = new Set([...clear, ...alwaysKept({ fields, label, record }), ...(hidesLabel ? [] : [schema.target])]);
  return [...names].sort((one, other) => Number(other === schema.target) - Number(one === schema.target));
}

function alwaysKept({ fields, label, record }) {
  if (record !== null) return record.keep === 1 ? ["whole records"] : [];
  return [...(label === null ? [] : [label]), ...fields].filter((own) => own.keep === 1).map((own) => own.field);
}

function refuseBeyond(channel, { maxEpsilon, clear = [] }) {
  check(typeof maxEpsilon === "number" && maxEpsilon > 0, "maxEpsilon is a number above 0; smaller hides more");
  const costs = localEpsilon(channel, clear);
  const named = givenClear(channel).filter((name) => !clear.includes(name));
  const why = named.length ? `gives ${named.join(", ")} as it is` : `costs epsilon = ${costs}`;
  check(costs <= maxEpsilon, `the channel ${why}, where the limit is ${maxEpsilon}; ask for one that hides more`);
}

/** Return the fingerprint of the channel of each field: what `pins` remembers. */
export async function fingerprints(channel) {
  return (await ready(read(channel))).pinned;
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

// The last channel, checked and made ready: distributions can have a million outcomes.
let last = { text: null, channel: null, prepared: null };

// The channel as this script uses it: a checked copy, which nobody can change between the check and the answer.
function read(channel) {
  let [text, channelRead] = [null, null];
  try {
    text = JSON.stringify(channel);
    if (text !== last.text) channelRead = structuredClone(channel);
  } catch {
    check(false, NO_CHANNEL);
  }
  if (text !== last.text) {
    checkChannel(channelRead);
    last = { text, channel: channelRead, prepared: null };
  }
  return last;
}

function ready(known) {
  known.prepared ??= prepare(known.channel);
  return known.prepared;
}

async function prepare(channel) {
  checkSecure();
  return channel.record === null ? fieldByField(channel) : RECORDS[channel.record.channel].prepare(channel);
}

async function fieldByField({ schema, fields, label }) {
  const pinned = new Map();
  const columns = [];
  for (const [j, attribute] of schema.attributes.entries()) {
    const field = fields[j];
    const mark = field.channel === "clear" ? CLEAR : await fingerprint([field, attribute]);
    pinned.set(attribute.name, mark);
    const question = KINDS[field.channel].question(field, attribute, mark);
    columns.push({ name: attribute.name, valueIn: readerOf(attribute), question });
  }
  pinned.set(schema.target, label === null ? CLEAR : await fingerprint([label, schema.classes]));
  const labels = labelQuestion(schema, label, pinned.get(schema.target));
  return { pinned, asked: (record) => ({ give: answersOf(record, columns, schema.target, labels) }) };
}

function answersOf(record, columns, target, labels) {
  const questions = columns.map(({ name, valueIn, question }) => [name, question(valueIn(record))]);
  if (has(record, target)) questions.push([target, labels(record[target])]);
  return async (draw) => {
    const given = [];
    for (const [name, ask] of questions) given.push([name, await ask(draw)]);
    return Object.fromEntries(given);
  };
}

// The kinds of fields: the keys that each has beside its name and kind, what they must be, how it is asked, and its
// local epsilon where it has one. A new kind is registered here.
const NOISE = { keys: { scale: isNumber }, checkFit: checkNoise, question: addedNoise };
const KINDS = {
  clear: { keys: {}, checkFit: () => {}, question: asItIs },
  intervals: { keys: { edges: isListOf(isNumber) }, checkFit: checkIntervals, question: intervalOf },
  randomized_response: {
    keys: { answers: isWhole, keep: isNumber, covers_missing: isFlag },
    checkFit: checkAnswers,
    question: randomAnswer,
    epsilon: answerEpsilon,
  },
  uniform: NOISE,
  gaussian: NOISE,
  laplace: { ...NOISE, epsilon: laplaceEpsilon },
};

// The kinds of whole records, likewise.
const RECORDS = {
  record_complement: {
    keys: {
      keep: isNumber,
      flips_label: isFlag,
      coding: (own) => hasKeys(own, { fields: isList, leaks: isListOf((text) => typeof text === "string") }),
    },
    checkFit: checkComplement,
    prepare: wholeRecord,
    hidesLabel: (record) => record.flips_label,
    epsilon: () => Infinity,
  },
  sampled_fields: {
    keys: { ask: isWhole, questions: isList },
    optional: { wave: isName },
    checkFit: checkQuestions,
    prepare: sampledFields,
    hidesLabel: () => true,
    epsilon: sampledEpsilon,
  },
};

// What a channel must be, as in privet's Python: whatever Channel.from_json refuses is refused here.

function checkChannel(channel) {
  check(isObject(channel) && channel.format === FORMAT, NO_CHANNEL);
  check(channel.version === VERSION, UNKNOWN);
  const [isPart, isTexts] = [(part) => part === null || isObject(part), isListOf((text) => typeof text === "string")];
  const keys = { format: isName, version: isWhole, schema: isObject, fields: isList, label: isPart, record: isPart };
  check(hasKeys(channel, { ...keys, leaks: isTexts }), `the channel ${CHANGED}`);
  const { schema, fields, label, record } = channel;
  checkSchema(schema);
  const { attributes, classes, target } = schema;
  check(fields.length === attributes.length, `the channel's fields ${UNFIT}`);
  for (const [j, attribute] of attributes.entries()) checkField(fields[j], attribute);
  if (label !== null) {
    checkField(label, { name: target, type: "categorical", categories: classes });
    const isHidden = label.channel === "randomized_response" && !label.covers_missing;
    check(isHidden, `the channel's label ${CHANGED}`);
  }
  if (record === null) return;
  checkRecord(record, schema);
  const isAlone = label === null && fields.every((field) => field.channel === "clear");
  check(isAlone, "the channel disturbs a record as a whole and field by field too; fetch the channel again");
}

function checkSchema(schema) {
  const keys = { target: isName, classes: isLabels, attributes: isList };
  const isRows = (rows) => isWhole(rows) && rows >= 1 && rows <= 2 ** 53;
  check(hasKeys(schema, keys, { rows: isRows, classes_inferred: isTrue }), `the channel's schema ${CHANGED}`);
  const { target, classes, attributes } = schema;
  check(classes.length >= 2 && increase(classes.map(inOrder)), `the channel's list of classes ${CHANGED}`);
  const isSome = attributes.length >= 1 && attributes.length <= MOST_ATTRIBUTES;
  check(isSome, "the channel's schema has no attributes, or too many; fetch the channel again");
  let cells = 0;
  for (const attribute of attributes) {
    checkAttribute(attribute);
    cells += cellsIn(attribute);
    check(cells <= MOST_CELLS, "the channel's schema has too many values; ask for one with fewer");
  }
  const names = new Set([target, ...attributes.map(({ name }) => name)]);
  check(names.size === attributes.length + 1, "the channel names a field twice; fetch the channel again");
}

function checkAttribute(attribute) {
  const [keys, isNumeric] = [{ name: isName, type: isName }, attribute?.type === "continuous"];
  const flags = { inferred: isTrue, never_missing: isTrue };
  const isBins = (bins) => isWhole(bins) && bins >= 1 && bins <= MOST_VALUES;
  const isKnown = isNumeric
    ? hasKeys(attribute, { ...keys, bounds: isNumbers }, { bins: isBins, edges: isNumbers, ...flags })
    : hasKeys(attribute, { ...keys, categories: isLabels }, flags) && attribute.type === "categorical";
  check(isKnown, `an attribute of the channel's schema ${CHANGED}`);
  if (!isNumeric) return;
  const { name, bounds, bins, edges } = attribute;
  const isCut = bounds.length === 2 && (bins === undefined || edges === undefined) && cellsIn(attribute) <= MOST_VALUES;
  check(isCut && increase(bounds) && increase(edgesOf(attribute)), `the range of ${JSON.stringify(name)} ${CHANGED}`);
}

function checkField(field, attribute) {
  check(isObject(field) && field.field === attribute.name, `the channel's fields ${UNFIT}`);
  const changed = `the channel of ${JSON.stringify(attribute.name)} ${CHANGED}`;
  check(typeof field.channel === "string", changed);
  check(Object.hasOwn(KINDS, field.channel), UNKNOWN);
  const { keys, checkFit } = KINDS[field.channel];
  check(hasKeys(field, { field: isName, channel: isName, ...keys }), changed);
  checkFit(field, attribute);
}

function checkIntervals({ edges }, attribute) {
  checkNumber(attribute);
  const cuts = edgesOf(attribute).slice(1, -1);
  const isSame = edges.length === cuts.length && edges.every((edge, i) => edge === cuts[i]);
  check(isSame, `the channel's intervals ${UNFIT}`);
}

function checkAnswers({ answers, keep, covers_missing: coversMissing }, attribute) {
  const isAll = answers >= 2 && answers === cellsIn(attribute) + (coversMissing ? 1 : 0);
  check(isAll && !(coversMissing && attribute.never_missing), `the channel's answers ${UNFIT}`);
  const isLikeliest = keep > 1 / answers && keep <= 1;
  check(isLikeliest, "the true answer must be likelier than any other; fetch the channel again");
}

function checkNoise({ scale }, attribute) {
  checkNumber(attribute);
  const range = attribute.bounds[1] - attribute.bounds[0];
  const spread = scale / range;
  const step = spread >= 4 / GRID && spread <= MOST_RANGES ? range / stepsOf(spread) : 0;
  const isInProportion = step > 0 && step < 20 * scale && 20 * scale < Infinity;
  check(isInProportion, "the noise is out of proportion to its range; fetch it again");
}

function checkNumber(attribute) {
  check(attribute.type === "continuous", "noise is for numbers, not for categories; fetch the channel again");
}

function checkRecord(record, schema) {
  check(typeof record.channel === "string", `the channel's record ${CHANGED}`);
  check(Object.hasOwn(RECORDS, record.channel), UNKNOWN);
  const { keys, optional, checkFit } = RECORDS[record.channel];
  check(hasKeys(record, { channel: isName, ...keys }, optional), `the channel's record ${CHANGED}`);
  checkFit(record, schema);
}

function checkQuestions({ ask, questions }, { attributes, classes }) {
  check(ask >= 1 && ask <= questions.length, `the number of questions ${CHANGED}`);
  const places = new Map(attributes.map(({ name }, j) => [name, j]));
  for (const question of questions) {
    const keys = { fields: isListOf(isName), cells: isWhole, size: isWhole, keep: isNumber };
    check(hasKeys(question, keys), `a question of the channel ${CHANGED}`);
    const { fields, cells, size, keep } = question;
    const asked = fields.map((name) => places.get(name) ?? -1);
    const isInOrder = asked.length <= 2 && !asked.includes(-1) && increase(asked);
    check(isInOrder, `the fields of a question ${UNFIT}`);
    const shape = asked.map((j) => cellsAsked(attributes[j]));
    const isAll = cells === shape.reduce((product, own) => product * own, classes.length) && cells <= MOST_CELLS_ASKED;
    check(isAll && size >= 1 && size < cells, `the cells of a question ${UNFIT}`);
    const isLikeliest = keep > 0 && keep < 1 && kept(keep) * BigInt(cells) > BigInt(size) * TOTAL_WEIGHT;
    check(isLikeliest, "the true cell must be likelier than any other; fetch the channel again");
  }
  const all = new Set(questions.map(({ fields }) => JSON.stringify(fields)));
  check(all.size === questions.length, "the channel asks a question twice; fetch the channel again");
}

function checkComplement({ keep, flips_label: flipsLabel, coding }, { attributes, classes, target }) {
  check(keep > 0.5 && keep <= 1, "a record must be kept with a chance above 1/2; fetch the channel again");
  check(!flipsLabel || classes.length === 2, `the channel's classes ${UNFIT}`);
  check(coding.fields.length === attributes.length, `the coding's fields ${UNFIT}`);
  let allBits = 0;
  for (const [j, attribute] of attributes.entries()) {
    const own = coding.fields[j];
    const isKnown = hasKeys(own, { field: isName, bits: isWhole, shares: isNumbers, codes: isListOf(isWhole) });
    check(isKnown && own.field === attribute.name, `the coding's fields ${UNFIT}`);
    const { bits, shares, codes } = own;
    const [values, isBits] = [cellsIn(attribute), bits >= 0 && bits <= MOST_BITS];
    const isEach = new Set(codes).size === codes.length && codes.every((code) => code >= 0 && code < 2 ** bits);
    const isFull = codes.length === values || (codes.length === values + 1 && !attribute.never_missing);
    const isShared = shares.length === codes.length && shares.every((share) => share >= 0 && share <= 1);
    check(isBits && isEach && isFull && isShared, `the code of ${JSON.stringify(attribute.name)} ${CHANGED}`);
    const isFree = Array.from({ length: bits }, (_, k) => bitName(attribute, k)).every((name) => name !== target);
    check(isFree, "a bit of the coding has the label's name; ask for a channel with another name");
    allBits += bits;
  }
  check(allBits >= 1 && allBits <= MOST_ATTRIBUTES, "the coding has no bits, or too many; fetch the channel again");
}

// Whether a value is an object with all of these keys, perhaps some of the others, and no further ones.
function hasKeys(value, needed, optional = {}) {
  if (!isObject(value) || !Object.keys(needed).every((key) => has(value, key))) return false;
  const known = new Map(Object.entries({ ...needed, ...optional }));
  return Object.entries(value).every(([key, own]) => known.has(key) && known.get(key)(own));
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function isList(value) {
  return Array.isArray(value);
}

function isListOf(isOne) {
  return (value) => isList(value) && Array.from(value).every((one) => isOne(one));
}

function isNumbers(value) {
  return isListOf((one) => isNumber(one) && Math.abs(one) <= 2 ** 1022)(value);
}

function isNumber(value) {
  return typeof value === "number";
}

function isWhole(value) {
  return Number.isInteger(value);
}

function isFlag(value) {
  return typeof value === "boolean";
}

function isTrue(value) {
  return value === true; // privet leaves it out where it is false
}

function isText(value) {
  return typeof value === "string" && !/[\ud800-\udfff]/u.test(value); // no half of a surrogate pair
}

function isName(value) {
  return isText(value) && value !== "";
}

function isLabels(values) {
  const isLabel = (one) =>
    isFlag(one) || Number.isFinite(one) || (isText(one) && Array.from(one).length <= LONGEST_LABEL);
  if (!isListOf(isLabel)(values) || values.length < 1 || values.length > MOST_VALUES) return false;
  return new Set(values).size === values.length && values.every((one) => typeof one === typeof values[0]);
}

// Python orders texts by whole characters.
function inOrder(label) {
  if (typeof label !== "string") return label;
  return Array.from(label, (character) => character.codePointAt(0).toString(16).padStart(6, "0")).join("");
}

function increase(values) {
  return values.every((value, i) => i === 0 || values[i - 1] < value);
}

// A question takes a clear value and returns what is to be done with it, once there is somebody to draw.

function asItIs() {
  return (value) => () => (isMissing(value) ? null : value);
}

function intervalOf(field, attribute) {
  const codeOf = coderOf(attribute);
  const middles = [...middlesOf(attribute), null];
  return (value) => () => middles[codeOf(value)];
}

function gridOf({ channel, scale }, [low, high]) {
  const steps = stepsOf(scale / (high - low));
  const step = (high - low) / steps;
  const reach = Math.ceil((NOISES[channel].reach * scale) / step);
  return { steps, step, reach, farthest: reach + (channel === "laplace" ? steps : 0) };
}

function addedNoise(field, attribute, mark) {
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
  const outcome = keepOr(keep, answers);
  const codeOf = coderOf(attribute);
  return (value) => {
    const code = codeOf(value);
    const isAnswer = code < answers || isMissing(value);
    check(isAnswer, `${JSON.stringify(attribute.name)} must be one of the channel's categories; correct it, or leave it out`);
    if (code >= answers) return () => null; // missing, and for all to see
    return async (draw) => toSay[(code + outcome(await draw(mark, code))) % answers];
  };
}

function labelQuestion({ classes, target }, label, mark) {
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
  const mark = await fingerprint([field, schema]);
  const outcome = ofWeights([kept(field.keep), TOTAL_WEIGHT - kept(field.keep)]);
  const coders = schema.attributes.map((attribute, j) => bitsOf(attribute, field.coding.fields[j]));
  const told = [RECORD, ...schema.attributes.map(({ name }) => name), ...(field.flips_label ? [schema.target] : [])];
  const pinned = new Map([[schema.target, CLEAR], ...told.map((name) => [name, mark])]);
  const give = (record) => flipped(record, schema, coders, field.flips_label, outcome, mark);
  return { pinned, asked: (record) => ({ give: give(record) }) };
}

function kept(keep) {
  return BigInt(Math.floor(keep * 2 ** 64)); // a power of two times a double is exact
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

function bitName({ name }, j) {
  return `${name}:${j}`;
}

function bitsOf(attribute, { bits, codes, shares }) {
  const [codeOf, valueIn] = [coderOf(attribute), readerOf(attribute)];
  const values = cellsIn(attribute);
  const ofMissing = codes.length > values ? codes[values] : codes[shares.indexOf(Math.max(...shares))];
  return (record) => {
    const value = codeOf(valueIn(record));
    const code = value < values ? codes[value] : ofMissing;
    return Array.from({ length: bits }, (_, j) => [bitName(attribute, j), (code >> (bits - 1 - j)) & 1]);
  };
}

// Sampled fields: a few questions, which the person's own coin picks, each answered by some cells, the true one mostly
// among them. The argument is in sampled_fields.md.

async function sampledFields({ schema, record: field }) {
  const mark = await fingerprint([field, schema]);
  const told = field.wave === undefined ? mark : WAVES;
  const pinned = new Map([RECORD, ...schema.attributes.map(({ name }) => name), schema.target].map((name) => [name, told]));
  const epsilon = sampledEpsilon(field);
  const pick = (draw) => pickedOf(field, (place) => wordAt(draw, mark, '"pick"', place));
  const asked = async (record, draw) => {
    const cells = (await pick(draw)).map((number) => [number, cellOf(record, schema, field.questions[number])]);
    const answered = await draw(mark, 0, JSON.stringify(["spent", ...cells]));
    return { give: () => sentCells(cells, field, draw, mark), spends: [[answered.toString(16), epsilon]] };
  };
  return { pinned, pick, asked };
}

async function pickedOf({ ask, questions }, wordOf) {
  return (await lots(questions.length, ask, wordOf)).sort((one, other) => one - other);
}

function cellsAsked(attribute) {
  return cellsIn(attribute) + (attribute.never_missing ? 0 : 1);
}

// The number of a record's cell: row-major, the attributes in order, the label last.
function cellOf(record, { attributes, classes, target }, { fields }) {
  let cell = 0;
  for (const attribute of attributes.filter(({ name }) => fields.includes(name))) {
    cell = cell * cellsAsked(attribute) + coderOf(attribute)(readerOf(attribute)(record));
  }
  check(has(record, target), `every question is about ${JSON.stringify(target)} too; add it to the record`);
  return cell * classes.length + classCode(classes, target, record[target]);
}

async function sentCells(cells, { questions }, draw, mark) {
  const answers = {};
  for (const [i, [number, cell]] of cells.entries()) {
    const wordOf = (place) => wordAt(draw, mark, `[${number},${cell}]`, place);
    answers[`question_${i + 1}`] = number;
    answers[`answer_${i + 1}`] = (await subsetOf(cell, questions[number], wordOf)).join(" ");
  }
  return answers;
}

// As many others as are sent are drawn one by one; the true cell, where it is sent, takes the place of the last.
async function subsetOf(cell, { cells, size, keep }, wordOf) {
  const others = await lots(cells - 1, size, (place) => wordOf(place + 1));
  const sent = others.map((other) => other + (other >= cell ? 1 : 0));
  if ((await wordOf(0)) < kept(keep)) sent[size - 1] = cell;
  return sent.sort((one, other) => one - other);
}

// `drawn` of the numbers below `all`, in the order drawn: partial Fisher-Yates. A word decides as many draws as have at
// most 2^48 outcomes together; one at the end of the range, where some would have a word more, is passed over.
async function lots(all, drawn, wordOf) {
  const places = Array.from({ length: all }, (_, i) => i);
  let used = 0;
  for (let j = 0; j < drawn; ) {
    let [outcomes, end] = [all - j, j + 1];
    while (end < drawn && outcomes * (all - end) <= MOST_OUTCOMES) outcomes *= all - end++;
    const limit = TOTAL_WEIGHT - (TOTAL_WEIGHT % BigInt(outcomes));
    let word = await wordOf(used++);
    while (word >= limit) word = await wordOf(used++);
    let left = Number(word % BigInt(outcomes));
    for (; j < end; j += 1) {
      const chosen = j + (left % (all - j));
      left = Math.floor(left / (all - j));
      [places[j], places[chosen]] = [places[chosen], places[j]];
    }
  }
  return places.slice(0, drawn);
}

function wordAt(draw, mark, told, place) {
  return draw(mark, Math.floor(place / WORDS_A_DIGEST), told, place % WORDS_A_DIGEST);
}

function sampledEpsilon({ ask, questions }) {
  const costs = questions.map(({ cells, size, keep }) => {
    const [most, least] = [kept(keep) * BigInt(cells - size), (TOTAL_WEIGHT - kept(keep)) * BigInt(size)];
    return logRatio(most - least, least);
  });
  costs.sort((one, other) => other - one);
  return roundedUp(costs.slice(0, ask).reduce((sum, cost) => sum + cost, 0));
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

// What reads a field's value from a record. One that is never missing must be there, and be one of its values.
function readerOf(attribute) {
  const [name, codeOf, values] = [JSON.stringify(attribute.name), coderOf(attribute), cellsIn(attribute)];
  return (record) => {
    check(record !== null && typeof record === "object", "a record is an object by the names of its fields");
    check(has(record, attribute.name), `the record lacks ${name}; pass null where it is missing`);
    const value = record[attribute.name];
    const isComplete = !attribute.never_missing || codeOf(value) < values;
    check(isComplete, `${name} is never missing in this channel; give one of its values`);
    return value;
  };
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
  const { epsilon } = KINDS[field.channel];
  return epsilon ? epsilon(field, attribute) : Infinity;
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
  const [key, keys] = [await hmacKey(secret), new Map()];
  return async (mark, code, more = null, place = 0) => {
    const told = more === null ? JSON.stringify(person) : `${JSON.stringify(person)},${more}`;
    if (!keys.has(mark)) keys.set(mark, hmac(key, mark).then(hmacKey));
    return new DataView(await hmac(await keys.get(mark), `[${told},${code}]`)).getBigUint64(8 * place);
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
