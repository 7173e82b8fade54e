"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  root.classList.add("scripted");
  const at = (id) => document.getElementById(id);

  // Names and labels are only ever set as text, never as markup.
  const make = (tag, kind, text) => {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const draw = (tag, fields) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(fields)) element.setAttribute(name, value);
    return element;
  };
  const whole = (x) => Math.round(x).toLocaleString("en-US").replace("-", "\u2212");

  const theme = at("theme");
  const setTheme = (dark) => {
    root.dataset.theme = dark ? "dark" : "light";
    theme.setAttribute("aria-pressed", String(dark));
    theme.textContent = dark ? "Light" : "Dark";
  };
  setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches);
  theme.addEventListener("click", () => setTheme(root.dataset.theme !== "dark"));

  const prior = at("prior");
  if (prior) {
    const up = (share) => Math.ceil(share * 1000 - 1e-9) / 10;
    const down = (share) => Math.floor(share * 1000 + 1e-9) / 10;
    const show = () => {
      const p = Number(prior.value) / 100;
      const shrink = Math.exp(-data.epsilon);
      const low = (p * shrink) / (p * shrink + 1 - p);
      const high = p / (p + (1 - p) * shrink);
      at("prior-result").textContent =
        `Somebody who thought ${prior.value} % before can think between ${down(low)} % and ${up(high)} % afterwards.`;
      const x = 34 + 200 * p;
      const y = (share) => 10 + 200 * (1 - share);
      at("belief-mark").replaceChildren(
        draw("path", { class: "mark", d: `M${x} ${y(low)}V${y(high)}` }),
        draw("circle", { class: "dot", cx: x, cy: y(p), r: 4 }),
      );
    };
    prior.addEventListener("input", show);
    show();
  }

  const brought = at("shape-class");
  if (brought) {
    brought.addEventListener("change", () => {
      for (const part of document.querySelectorAll(".shapes [data-class]")) {
        part.classList.toggle("dim", brought.value !== "" && part.dataset.class !== brought.value);
      }
    });
  }

  const trees = data.trees;
  if (!trees) return;
  const N_CLASSES = trees.nClasses;
  const FOLD = 8;
  const children = trees.parent.map(() => []);
  trees.parent.forEach((above, node) => { if (above >= 0) children[above].push(node); });
  const fails = new Set(trees.fails);
  const countsOf = (node) => trees.counts.slice(node * N_CLASSES, (node + 1) * N_CLASSES);
  const supports = trees.parent.map((_, node) => countsOf(node).reduce((sum, count) => sum + count, 0));
  const supportOf = (node) => supports[node];
  const spread = (node, many) => trees.deviation * Math.sqrt(trees.draws[node] * many);
  const reach = (node, many) => (trees.deviation > 0 ? Math.floor(trees.reach * spread(node, many) + 1) : 0);
  const unsure = (node) => supportOf(node) <= trees.reliable * spread(node, N_CLASSES);
  const condition = (node) => trees.strings[trees.condition[node]];
  const sharesOf = (node) => {
    const positive = countsOf(node).map((count) => Math.max(count, 0));
    const total = positive.reduce((sum, count) => sum + count, 0);
    return positive.map((count) => (total ? count / total : 0));
  };
  const bestOf = (values) => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);
  const label = (i) => (i < trees.classes.length ? trees.classes[i] : `class ${i + 1}`);
  // A test with a child per code has many branches: those with the most rows first.
  const ordered = (node) =>
    trees.many[node] ? [...children[node]].sort((a, b) => supportOf(b) - supportOf(a) || a - b) : children[node];

  const outline = at("outline");
  const items = new Map();
  let current = null;

  const shareBar = (node) => {
    const bar = draw("svg", { class: "bar", width: "100%", height: 10, role: "presentation" });
    bar.append(draw("rect", { class: "track", width: "100%", height: 10 }));
    let start = 0;
    sharesOf(node).forEach((share, i) => {
      // Thinner than a hair, and there may be thousands of classes.
      if (share >= 0.005) bar.append(draw("rect", { class: `class-${i % 10}`, x: `${100 * start}%`, width: `${100 * share}%`, height: 10 }));
      start += share;
    });
    return bar;
  };

  const guess = (node) => {
    const shares = sharesOf(node);
    const best = bestOf(shares);
    const cell = make("span", "guess");
    if (fails.has(node) || shares[best] === 0) {
      cell.textContent = fails.has(node) ? "Failure" : trees.deviation > 0 ? "nothing but noise" : "no rows";
      return cell;
    }
    cell.append(make("span", `swatch class-${best % 10}`), make("bdi", "", label(best)), ` ${(100 * shares[best]).toFixed(0)} %`);
    return cell;
  };

  const line = (node) => {
    const row = make("div", unsure(node) ? "node unsure" : "node");
    const words = make("span", "condition");
    words.append(make("bdi", "", condition(node)));
    if (trees.question[node] >= 0) {
      const asks = make("span", "asks", " \u2192 ");
      asks.append(make("bdi", "", trees.strings[trees.question[node]]), "?");
      words.append(asks);
    }
    const far = reach(node, N_CLASSES);
    const rows = `${whole(supportOf(node))}${far ? ` \u00b1 ${whole(far)}` : ""}`;
    row.append(make("span", "twist", trees.branches[node] ? "\u25b8" : "\u00b7"), words, shareBar(node), make("span", "number", rows), guess(node));
    return row;
  };

  const detail = (node) => {
    const box = make("div", "detail");
    const table = make("table");
    const far = reach(node, 1);
    const counts = countsOf(node);
    const order = counts.map((_, i) => i).sort((a, b) => counts[b] - counts[a] || a - b).slice(0, 12);
    for (const i of order) {
      const row = table.insertRow();
      const name = make("th");
      name.scope = "row";
      name.append(make("span", `swatch class-${i % 10}`), make("bdi", "", label(i)));
      row.append(name);
      row.insertCell().textContent = `${whole(counts[i])}${far ? ` \u00b1 ${whole(far)}` : ""} rows released`;
    }
    box.append(table);
    const draws = trees.draws[node];
    if (counts.length > order.length) box.append(make("div", "soft", `and ${counts.length - order.length} classes with fewer`));
    if (trees.deviation > 0 && unsure(node)) box.append(make("div", "soft", "So few rows that noise alone could explain them."));
    if (draws > 1) box.append(make("div", "soft", `the sum of ${whole(draws)} released counts`));
    return box;
  };

  const treeItem = (level) => {
    const item = make("li");
    item.setAttribute("role", "treeitem");
    item.setAttribute("aria-level", String(level));
    item.setAttribute("aria-selected", "false");
    item.tabIndex = -1;
    return item;
  };

  const nodeItem = (node, level) => {
    const item = treeItem(level);
    item.append(line(node));
    item.dataset.node = String(node);
    item.setAttribute("aria-label", `${condition(node)}, released rows ${whole(supportOf(node))}, ${item.querySelector(".guess").textContent}`);
    if (trees.branches[node]) item.setAttribute("aria-expanded", "false");
    items.set(node, item);
    return item;
  };

  const moreItem = (rest, level) => {
    const item = treeItem(level);
    const row = make("div", "node unsure");
    row.append(make("span", "twist", "+"), make("span", "condition", `${whole(rest.length)} more branches with fewer rows`));
    item.append(row);
    item.more = () => {
      const added = rest.map((node) => nodeItem(node, level));
      item.replaceWith(...added);
      select(added[0]);
    };
    return item;
  };

  const leftOut = (node, level) => {
    const missing = trees.branches[node] - children[node].length;
    const rest = supportOf(node) - children[node].reduce((sum, child) => sum + supportOf(child), 0);
    const item = treeItem(level);
    const row = make("div", "node unsure");
    row.append(make("span", "twist", "\u00b7"), make("span", "condition", `${whole(missing)} ${missing === 1 ? "branch" : "branches"} not on this page${trees.summed ? `, ${whole(rest)} released rows together` : ""}`));
    item.append(row);
    return item;
  };

  const open = (item) => {
    if (item.getAttribute("aria-expanded") !== "false") return;
    const node = Number(item.dataset.node);
    const level = Number(item.getAttribute("aria-level")) + 1;
    const list = make("ul");
    list.setAttribute("role", "group");
    const all = ordered(node);
    const first = all.length > FOLD + 1 ? all.slice(0, FOLD) : all;
    list.append(...first.map((child) => nodeItem(child, level)));
    if (all.length > first.length) list.append(moreItem(all.slice(FOLD), level));
    if (all.length < trees.branches[node]) list.append(leftOut(node, level));
    item.append(list);
    item.setAttribute("aria-expanded", "true");
    item.querySelector(".twist").textContent = "\u25be";
  };

  const close = (item) => {
    if (item.getAttribute("aria-expanded") !== "true") return;
    item.querySelector(":scope > ul").remove();
    item.setAttribute("aria-expanded", "false");
    item.querySelector(".twist").textContent = "\u25b8";
  };

  const select = (item, focus = true) => {
    if (current) {
      current.setAttribute("aria-selected", "false");
      current.tabIndex = -1;
      const old = current.querySelector(":scope > .detail");
      if (old) old.remove();
    }
    current = item;
    item.setAttribute("aria-selected", "true");
    item.tabIndex = 0;
    if (item.dataset.node !== undefined) item.querySelector(".node").after(detail(Number(item.dataset.node)));
    markIcicle();
    if (focus) item.focus({ preventScroll: false });
  };

  const toggle = (item) => {
    if (item.more) return item.more();
    if (item.getAttribute("aria-expanded") === "true") close(item);
    else open(item);
    return select(item);
  };

  const visible = () => [...outline.querySelectorAll("[role=treeitem]")];
  const step = (item, by) => {
    const all = visible();
    const next = all[all.indexOf(item) + by];
    if (next) select(next);
  };

  outline.addEventListener("click", (event) => {
    const row = event.target.closest(".node");
    if (row) toggle(row.parentElement);
  });
  outline.addEventListener("keydown", (event) => {
    const item = event.target.closest("[role=treeitem]");
    if (!item) return;
    const expanded = item.getAttribute("aria-expanded");
    const above = item.parentElement.closest("[role=treeitem]");
    const keys = {
      Enter: () => toggle(item),
      " ": () => toggle(item),
      ArrowDown: () => step(item, 1),
      ArrowUp: () => step(item, -1),
      ArrowRight: () => (expanded === "false" ? (open(item), select(item)) : expanded === "true" && step(item, 1)),
      ArrowLeft: () => (expanded === "true" ? (close(item), select(item)) : above && select(above)),
      Home: () => select(visible()[0]),
      End: () => select(visible().at(-1)),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });

  const icicle = at("icicle");
  const ROW = 24;
  const drawIcicle = (top) => {
    const pieces = [];
    let deepest = 0;
    const place = (node, x, width, depth) => {
      if (width < 1.5 || depth > 9) return;
      deepest = Math.max(deepest, depth);
      const shares = sharesOf(node);
      const best = bestOf(shares);
      const block = draw("rect", { x, y: depth * ROW, width, height: ROW, class: unsure(node) ? "unsure" : `class-${best % 10}`, "data-node": node });
      // Between an even split and certainty.
      const sure = (shares[best] - 1 / N_CLASSES) / (1 - 1 / N_CLASSES);
      block.setAttribute("fill-opacity", unsure(node) ? 0.5 : 0.35 + 0.65 * Math.max(sure, 0));
      const title = draw("title", {});
      title.textContent = `${condition(node)}: ${whole(supportOf(node))} released rows`;
      block.append(title);
      pieces.push(block);
      const below = children[node].map((child) => Math.max(supportOf(child), 0));
      const total = Math.max(below.reduce((sum, rows) => sum + rows, 0), supportOf(node), 1);
      let start = x;
      ordered(node).forEach((child) => {
        const own = (width * Math.max(supportOf(child), 0)) / total;
        place(child, start, own, depth + 1);
        start += own;
      });
    };
    place(top, 0, 1000, 0);
    icicle.setAttribute("viewBox", `0 0 1000 ${(deepest + 1) * ROW}`);
    icicle.style.height = `${(deepest + 1) * ROW}px`;
    icicle.replaceChildren(...pieces);
  };
  const markIcicle = () => {
    for (const block of icicle.querySelectorAll(".chosen")) block.classList.remove("chosen");
    const block = current && icicle.querySelector(`[data-node="${current.dataset.node}"]`);
    if (block) block.classList.add("chosen");
  };
  const reveal = (node) => {
    const path = [];
    for (let step = node; step >= 0; step = trees.parent[step]) path.unshift(step);
    path.forEach((step, i) => {
      if (!items.get(step)?.isConnected) {
        const above = items.get(path[i - 1]);
        open(above);
        const more = [...above.querySelectorAll(":scope > ul > li")].find((item) => item.more);
        if (!items.get(step)?.isConnected && more) more.more();
      }
    });
    select(items.get(node));
  };
  icicle.addEventListener("click", (event) => {
    const block = event.target.closest("rect");
    if (block) reveal(Number(block.dataset.node));
  });

  const choose = at("tree-choice");
  const openTo = (depth) => {
    for (let level = 1; level <= depth; level += 1) {
      for (const item of outline.querySelectorAll(`[aria-level="${level}"][aria-expanded="false"]`)) open(item);
    }
  };
  const show = () => {
    const top = Number(choose.value);
    items.clear();
    current = null;
    const item = nodeItem(top, 1);
    item.tabIndex = 0;
    outline.replaceChildren(item);
    drawIcicle(top);
    // One level of many branches fills the eye; two of a binary tree are still few.
    openTo(trees.branches[top] > 3 ? 1 : 2);
  };
  const collapse = () => {
    for (const item of [...outline.querySelectorAll("[aria-expanded=true]")].reverse()) close(item);
    select(outline.firstElementChild, false);
  };
  choose.addEventListener("change", show);
  at("tree-next").addEventListener("click", () => {
    choose.value = String((Number(choose.value) + 1) % trees.nTrees);
    show();
  });
  at("open-3").addEventListener("click", () => openTo(3));
  at("close-all").addEventListener("click", collapse);
  show();
})();
