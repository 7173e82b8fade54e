// The person's own ledger, and the buttons beside it.

import { byId, download, element } from "./elements.js";
import { backupOf, forgetAll, fromBackup, keep, kept, total } from "./keeping.js";
import { shortEpsilon } from "./words.js";

/** Show the ledger in its place. */
export function showLedger(words) {
  const { secret, ledger } = kept();
  byId("backup").hidden = byId("forget").hidden = secret === null;
  byId("ledger").replaceChildren(ledger.length ? ledgerTable(ledger, words) : element("p", {}, words.say("own.empty")));
}

function ledgerTable(ledger, words) {
  const heads = ["own.day", "own.study", "own.channel", "own.epsilon"].map((key) => element("th", { scope: "col" }, words.say(key)));
  const rows = ledger.map(({ day, study, channel, epsilon }) =>
    element("tr", {}, ...[day, study, channel.slice(0, 8)].map((text) => element("td", {}, text)), cost(epsilon ?? Infinity, words)),
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
    const held = target.files.length ? fromBackup(await target.files[0].text()) : null;
    if (held) keep(held);
    say(held ? "own.restored" : "own.no-backup");
    target.value = "";
    if (held) changed();
  });
}
