// What was entered beside what would be sent.

import { cellInWords, cellOf } from "./cells.js";
import { element } from "./elements.js";

/** Return elements that set a record beside its answers. */
export function comparison(channel, record, answers, words) {
  if (channel.record?.channel === "sampled_fields") return sampledPairs(channel, record, answers, words);
  const told = Object.entries(answers).map(([name, value]) => [name, words.value(name, shortened(value, words))]);
  const own = Object.entries(record).map(([name, value]) => [name, words.value(name, shortened(value, words))]);
  return [pair(listed(own, words), listed(told, words), words), element("p", {}, words.say("compared.fields"))];
}

function sampledPairs({ schema, record: { questions } }, record, answers, words) {
  const shown = [];
  for (let i = 1; Object.hasOwn(answers, `question_${i}`); i += 1) {
    const question = questions[answers[`question_${i}`]];
    const sent = String(answers[`answer_${i}`]).split(" ").map(Number);
    shown.push(...sampledPair(schema, question, record, sent, words));
  }
  return shown;
}

function sampledPair(schema, question, record, sent, words) {
  const own = cellOf(schema, question, record);
  const cells = sent.map((code) => element("li", { className: code === own ? "own" : "" }, inOneLine(schema, question, code, words)));
  const values = [...question.fields, schema.target].map((name) => [name, words.value(name, shortened(record[name], words))]);
  const isAmong = words.say(sent.includes(own) ? "compared.among" : "compared.not-among");
  const chance = words.number(Math.round(question.keep * 1000) / 10);
  const how = words.say(sent.length > 1 ? "compared.subset" : "compared.one", {
    cells: words.number(question.cells), size: words.number(sent.length), keep: chance,
  });
  const right = element("ul", { className: "cells" }, ...cells);
  return [pair(listed(values, words), right, words), element("p", {}, `${how} ${isAmong}`)];
}

function inOneLine(schema, question, code, words) {
  return cellInWords(schema, question, code, words).map(([name, text]) => `${words.field(name)}: ${text}`).join(" · ");
}

function pair(left, right, words) {
  const side = (title, className, content) => element("div", { className }, element("h2", {}, words.say(title)), content);
  return element("div", { className: "pair" }, side("compared.stays", "stays", left), side("compared.sent", "sent", right));
}

function listed(told, words) {
  const rows = told.flatMap(([name, text]) => [element("dt", {}, words.field(name)), element("dd", {}, text)]);
  return element("dl", {}, ...rows);
}

function shortened(value, words) {
  return typeof value === "number" && !Number.isInteger(value) ? words.number(value) : value;
}
