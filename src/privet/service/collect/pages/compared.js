// What was entered beside what would be sent. The code of a cell is row-major: the attributes in order, the label last.

import { element } from "./page.js";

const DEFAULT_CELLS = 255;
const MOST_SHOWN = 6;

/** Return the attribute of a name; the label is one too. */
export function attributeOf({ attributes, classes, target }, name) {
  if (name === target) return { name, type: "categorical", categories: classes, never_missing: true };
  return attributes.find((attribute) => attribute.name === name);
}

/** Return elements that set a record beside its answers. */
export function comparison(channel, record, answers, words) {
  if (channel.record?.channel === "sampled_fields") return sampledPairs(channel, record, answers, words);
  const listOf = (told) => listed(Object.keys(told).map((name) => [name, told[name]]), words);
  return [pair(listOf(record), listOf(answers), words), element("p", {}, words.say("compared.fields"))];
}

function sampledPairs({ schema, record: { questions } }, record, answers, words) {
  const shown = [];
  for (let i = 1; Object.hasOwn(answers, `question_${i}`); i += 1) {
    const question = questions[answers[`question_${i}`]];
    const sent = String(answers[`answer_${i}`]).split(" ").map(Number);
    const asked = [...question.fields, schema.target].map((name) => attributeOf(schema, name));
    shown.push(...sampledPair(asked, question, record, sent, words));
  }
  return shown;
}

// The person's own cell comes first, where it is among those sent; the words below tell the chance of that.
function sampledPair(asked, { cells, keep }, record, sent, words) {
  const own = cellOf(asked, record);
  const told = [...sent].sort((one, other) => Number(other === own) - Number(one === own));
  const values = listed(asked.map(({ name }) => [name, record[name]]), words);
  const heading = element("p", { className: "hint" }, asked.map(({ name }) => words.field(name)).join(" · "));
  const right = element("div", {}, heading, ...cellLists(told.map((code) => cellItem(asked, code, own, words)), words));
  const how = words.say(sent.length > 1 ? "compared.subset" : "compared.one", {
    cells: words.number(cells), size: words.number(sent.length), keep: words.number(Math.round(keep * 1000) / 10),
  });
  const isAmong = words.say(sent.includes(own) ? "compared.among" : "compared.not-among");
  return [pair(values, right, words), element("p", {}, `${how} ${isAmong}`)];
}

function cellItem(asked, code, own, words) {
  const text = cellInWords(asked, code, words).join(" · ");
  const isOwn = code === own;
  return element("li", { className: isOwn ? "own" : "" }, text, isOwn ? element("span", {}, ` ${words.say("compared.yours")}`) : null);
}

function cellLists(items, words) {
  const list = (some) => element("ul", { className: "cells" }, ...some);
  if (items.length <= MOST_SHOWN + 1) return [list(items)];
  const rest = items.slice(MOST_SHOWN);
  const more = element("summary", {}, words.say("compared.more", { n: words.number(rest.length) }));
  return [list(items.slice(0, MOST_SHOWN)), element("details", {}, more, list(rest))];
}

function pair(left, right, words) {
  const side = (title, className, content) => element("div", { className }, element("h2", {}, words.say(title)), content);
  return element("div", { className: "pair" }, side("compared.stays", "stays", left), side("compared.sent", "sent", right));
}

function listed(told, words) {
  const text = (name, value) => (typeof value === "number" && !Number.isInteger(value) ? words.number(value) : words.value(name, value));
  const rows = told.flatMap(([name, value]) => [element("dt", {}, words.field(name)), element("dd", {}, text(name, value))]);
  return element("dl", {}, ...rows);
}

function cellInWords(asked, code, words) {
  let rest = code;
  return [...asked].reverse().map((attribute) => {
    const place = rest % sizeOf(attribute);
    rest = Math.floor(rest / sizeOf(attribute));
    return valueInWords(attribute, place, words);
  }).reverse();
}

function valueInWords(attribute, place, words) {
  if (attribute.type !== "continuous") return words.value(attribute.name, attribute.categories[place] ?? null);
  const [low, high] = edgesOf(attribute).slice(place, place + 2);
  return high === undefined ? words.say("asking.none") : words.say("cell.range", { low: words.number(low), high: words.number(high) });
}

function cellOf(asked, record) {
  return asked.reduce((code, attribute) => code * sizeOf(attribute) + placeOf(attribute, record[attribute.name]), 0);
}

function placeOf(attribute, value) {
  if (attribute.type !== "continuous") return value === null ? attribute.categories.length : attribute.categories.indexOf(value);
  const cuts = edgesOf(attribute).slice(1, -1);
  return value === null ? cuts.length + 1 : cuts.filter((cut) => cut <= value).length;
}

// A missing value is a place of its own, the last.
function sizeOf(attribute) {
  const values = attribute.type === "continuous" ? edgesOf(attribute).length - 1 : attribute.categories.length;
  return values + (attribute.never_missing ? 0 : 1);
}

function edgesOf({ bounds: [low, high], bins, edges }) {
  if (edges) return [low, ...edges, high];
  const count = bins ?? DEFAULT_CELLS;
  return Array.from({ length: count + 1 }, (_, i) => low * (1 - i / count) + high * (i / count));
}
