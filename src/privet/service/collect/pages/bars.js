// Shares with intervals as bars with whiskers. A picture has its numbers as a table below it.

import { element } from "./elements.js";

const WIDTH = 360;
const LINE = 26;
const NAME = 120;
const NUMBER = 52;

function drawn(tag, attributes, text = null) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== null) made.textContent = text;
  return made;
}

/** Return a figure of the shares of a field: rows have a name, a share, and perhaps an interval. */
export function barFigure(title, rows, words) {
  const percent = (share) => `${words.number(Math.round(share * 1000) / 10)} %`;
  const most = Math.max(0.01, ...rows.flatMap(({ share, high }) => [share, high ?? 0]));
  const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${rows.length * LINE + 6}`, role: "img", "aria-label": title });
  rows.forEach((row, i) => svg.append(...barOf(row, i * LINE, most, percent)));
  const table = element("details", {}, element("summary", {}, words.say("bars.table")), tableOf(rows, percent, words));
  return element("figure", {}, element("figcaption", {}, title), svg, table);
}

function barOf({ name, share, low, high }, top, most, percent) {
  const room = WIDTH - NAME - NUMBER;
  const at = (value) => NAME + (Math.min(Math.max(value, 0), most) / most) * room;
  const middle = top + LINE / 2;
  const parts = [
    drawn("title", {}, name),
    drawn("text", { x: NAME - 8, y: middle + 4, "text-anchor": "end" }, shortened(name)),
    drawn("rect", { class: "bar", x: NAME, y: top + 5, width: Math.max(at(share) - NAME, 0), height: LINE - 10, rx: 2 }),
    drawn("text", { class: "quiet", x: WIDTH, y: middle + 4, "text-anchor": "end" }, percent(share)),
  ];
  const group = drawn("g", {});
  group.append(...parts, ...(low === null ? [] : whiskers(at(low), at(high), middle)));
  return [group];
}

function whiskers(from, to, middle) {
  const line = (x1, x2, y1, y2) => drawn("line", { class: "whisker", x1, x2, y1, y2 });
  return [line(from, to, middle, middle), line(from, from, middle - 4, middle + 4), line(to, to, middle - 4, middle + 4)];
}

function shortened(name) {
  return name.length > 16 ? `${name.slice(0, 15)}…` : name;
}

function tableOf(rows, percent, words) {
  const cells = ({ name, share, low, high }) => {
    const interval = low === null ? "–" : `${percent(low)} – ${percent(high)}`;
    return [element("th", { scope: "row" }, name), ...[percent(share), interval].map((text) => element("td", {}, text))];
  };
  const heads = ["bars.value", "bars.share", "bars.interval"].map((key) => element("th", { scope: "col" }, words.say(key)));
  return element(
    "div", {},
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row))))),
  );
}
