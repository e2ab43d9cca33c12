// What is said of the selected item, and the search.

const panel = document.getElementById("panel");
function el(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const key in attributes) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), attributes[key]);
    else if (attributes[key] !== undefined) element.setAttribute(key, attributes[key]);
  }
  element.append(...inside.filter(x => x !== null && x !== undefined));
  return element;
}

/** Goes to an item, with the keyboard too: what was pressed may be gone. */
function go(item) {
  tab(false);
  reveal(item);
  canvas.focus({ preventScroll: true });
}

/** In which sub-graph an item is, as operations of several may have one name. */
function insideOf(item) {
  const chain = [];
  for (let g = parentOf(item); g > 0; g = groups.parent[g]) {
    if (KINDS[groups.kind[g]] === "body" || (chain.length && KINDS[groups.kind[g]] === "section")) chain.unshift(groups.label[g]);
    else if (chain.length && KINDS[groups.kind[g]] === "calls") chain.unshift(groups.label[g]);
  }
  return chain.length ? "in " + chain.join(" › ") : "";
}

/** What is said of an operation in a list: its type, and where it is if not beside `seen`. */
function typeAndPlace(op, seen = -1) {
  const place = insideOf(op);
  return typeOf(op) + (place && (seen < 0 || place !== insideOf(seen)) ? ", " + place : "");
}

/** A button that goes to an item. */
function reference(item, text, after = "") {
  return el("li", {}, el("button", { class: "ref " + lookOf(item), onclick: () => go(item), title: insideOf(item) || undefined },
    text || (isGroup(item) ? wordsOf(item)[0] : nameOf(item))), after ? el("span", { class: "soft" }, " " + after) : null);
}
function references(title, items, tell) {
  if (!items.length) return null;
  const list = el("ul");
  const more = count => {
    for (const item of items.slice(list.childElementCount, list.childElementCount + count)) list.append(tell(item));
  };
  more(8);
  const section = el("section", {}, el("h3", {}, `${title} `, el("span", { class: "soft" }, items.length.toLocaleString("en"))), list);
  if (items.length > 8) {
    const button = el("button", { class: "more", onclick: () => {
      more(100);
      if (list.childElementCount >= items.length) button.remove();
    } }, "Show more");
    section.append(button);
  }
  return section;
}
function fact(title, value) {
  return value ? el("div", { class: "fact" }, el("dt", {}, title), el("dd", {}, value)) : null;
}

function show(item) {
  if (item < 0) { panel.replaceChildren(...nothing()); return; }
  panel.replaceChildren(...(isGroup(item) ? groupDetails(item) : opDetails(item)).filter(Boolean));
  panel.scrollTop = 0;
}

/** An explanation: its first line, and the rest if it is asked for or short. */
function explained(text) {
  const [first, ...rest] = text.split("\n");
  const all = rest.length > 8
    ? [el("p", { class: "said" }, first), el("details", {}, el("summary", {}, "In full"), el("p", { class: "said wide" }, rest.join("\n")))]
    : [el("p", { class: "said" }, text)];
  return el("section", {}, el("h3", {}, "Explained"), ...all);
}

function nothing() {
  const why = data.why;
  return [
    el("h2", {}, data.title),
    el("p", { class: "soft" }, `${n.toLocaleString("en")} operations. Select a box to read about it; open a box that has an arrow.`),
    why ? explained(why.text) : null,
    why ? references("Marked", Object.keys(why.marks).map(Number), op => reference(op, "", why.marks[op].split("\n")[0])) : null,
    el("section", {}, el("h3", {}, "Keys"), el("dl", { class: "keys" }, ...[
      ["/", "search"], ["Arrows", "to the next box"], ["Enter", "open or close"], ["Esc", "to the box around"],
      ["G", "to the gradient, or back"], ["O", "open one more level"], ["C", "close all"],
      ...(why ? [["M", "to the next mark"]] : []), ["+ − 0", "zoom, fit"],
      ["T", "table or picture"]].flatMap(([key, what]) => [el("dt", {}, key), el("dd", {}, what)]))),
  ].filter(Boolean);
}

function around_(item) {
  const chain = [];
  for (let g = parentOf(item); g > 0; g = groups.parent[g]) chain.unshift(n + g);
  if (!chain.length) return null;
  return el("nav", { class: "crumbs", "aria-label": "Boxes around it" },
    ...chain.map(i => el("button", { class: "ref", onclick: () => reveal(i) }, wordsOf(i)[0])));
}

function opDetails(op) {
  const [where, text] = lineOf(op), original = originalOf(op);
  return [
    el("h2", {}, typeOf(op)), el("p", { class: "name" }, nameOf(op)), around_(op), marksOf(op),
    el("dl", {}, ...[
      fact("Result", outputsOf(op).join("\n")), fact(/^Placeholder/.test(typeOf(op)) ? "Stands for" : "Value", noteOf(op)),
      fact("Device", data.device[op]), ...runFacts(op), fact("Built at", where)].filter(Boolean)),
    text ? el("pre", { class: "line" }, text) : null,
    original >= 0 ? references(isCopy(op) ? "Computes once more" : "Gradient of", [original], i => reference(i, "", typeAndPlace(i, op))) : null,
    references("Computed once more by", [...gradientsOf(op)].filter(isCopy), i => reference(i, "", typeAndPlace(i, op))),
    references("Its gradient", [...gradientsOf(op)].filter(i => !isCopy(i)), i => reference(i, "", typeAndPlace(i, op))),
    references("Inputs", inputsOf(op), i => reference(i.op, nameOf(i.op) + (i.output ? ":" + i.output : ""), outputsOf(i.op)[i.output])),
    references("Used by", [...new Set(usersOf(op))], i => reference(i, "", typeOf(i))),
    references("Waits for", waitsOf(op), i => reference(i)),
  ];
}

function groupDetails(item) {
  const g = item - n, main = groups.main[g], own = operationsOf(item);
  const counts = new Map();
  for (const op of own) counts.set(typeOf(op), (counts.get(typeOf(op)) || 0) + 1);
  const most = [...counts].sort((a, b) => b[1] - a[1]);
  const kind = { section: "A part of the graph", scope: "Name scope", of: "Gradient of what has this name", repeat: "Equal parts in a row",
    part: "One of several equal parts", piece: "A stretch of a long row", calls: "Operation with sub-graphs", body: "Sub-graph" }[kindOf(item)];
  const like = groups.like[g];
  return [
    el("h2", {}, wordsOf(item)[0]), el("p", { class: "name" }, `${kind} · ${own.length.toLocaleString("en")} operations`), around_(item),
    el("dl", {}, ...[...runFactsOf(own)].filter(Boolean)),
    main !== undefined ? references("Stands for", [main], i => reference(i, "", typeOf(i))) : null,
    Array.isArray(like) ? references(kindOf(item) === "body" ? "The same sub-graph as" : "Gradient of", [n + like[0]], i => reference(i)) : null,
    like !== undefined && !Array.isArray(like) ? references("Gradient of", [like], i => reference(i, "", typeOf(i))) : null,
    references("Marked", marked.get(item) || [], i => reference(i, "", data.why.marks[i].split("\n")[0])),
    el("section", {}, el("h3", {}, "Consists of"), el("ul", { class: "counts" }, ...most.slice(0, 14).map(([type, count]) =>
      el("li", {}, el("span", {}, type), el("span", { class: "soft" }, count.toLocaleString("en")))))),
    references("Operations", own, i => reference(i, "", typeOf(i))),
  ];
}

// -- explanations ----------------------------------------------------------------------

const ways = new Map();  // pairs of operations on the way that a gradient takes, or would take
if (data.why) {
  for (const kind of ["beyond", "way"]) for (const [a, b] of data.why[kind]) ways.set(a * n + b, kind);
}
function markWay(path, line) {
  for (const e of line.edges) {
    const kind = ways.get(to[e] * n + from[e]);
    if (kind) { path.classList.add(kind); return; }
  }
}
const marked = new Map();  // item -> the marked operations in it
for (const op of Object.keys(data.why ? data.why.marks : {}).map(Number)) {
  for (let item = op; item !== n; item = n + parentOf(item)) marked.set(item, (marked.get(item) || []).concat(op));
}
function marksOf(op) {
  const told = data.why && data.why.marks[op];
  return told ? el("p", { class: "mark" }, told) : null;
}

// -- search ----------------------------------------------------------------------------

const search = document.getElementById("search"), results = document.getElementById("results");
const haystack = [];
function matches(words) {
  if (!haystack.length) for (let i = 0; i < n; i++) haystack.push(`${nameOf(i)} ${typeOf(i)} ${noteOf(i)} ${lineOf(i).join(" ")}`.toLowerCase());
  const found = [];
  for (let i = 0; i < n; i++) if (words.every(w => haystack[i].includes(w))) found.push(i);
  return found;
}
function wordsIn(text) { return text.toLowerCase().split(/\s+/).filter(Boolean); }
function lookUp() {
  const words = wordsIn(search.value);
  if (!words.length) { results.hidden = true; return []; }
  const found = matches(words);
  results.replaceChildren(el("p", { class: "soft", role: "status" }, `${found.length.toLocaleString("en")} found`),
    el("ul", {}, ...found.slice(0, 60).map(op => reference(op, "", typeAndPlace(op)))));
  results.hidden = false;
  return found;
}
search.addEventListener("input", () => { lookUp(); if (!tableView.hidden) rows(0); });
search.addEventListener("keydown", e => {
  if (e.key === "Enter") { const found = lookUp(); if (found.length && tableView.hidden) { go(found[0]); results.hidden = true; } }
  if (e.key === "ArrowDown") { results.querySelector("button")?.focus(); e.preventDefault(); }
  if (e.key === "Escape") {
    search.value = "";
    results.hidden = true;
    if (!tableView.hidden) rows(0);
    (tableView.hidden ? canvas : tableView).focus();
  }
});
results.addEventListener("keydown", e => {
  const all = [...results.querySelectorAll("button")], at = all.indexOf(document.activeElement);
  if (e.key === "ArrowDown") { all[at + 1]?.focus(); e.preventDefault(); }
  if (e.key === "ArrowUp") { (all[at - 1] || search).focus(); e.preventDefault(); }
  if (e.key === "Escape") { results.hidden = true; canvas.focus(); }
  e.stopPropagation();  // the picture has keys of its own
});
results.addEventListener("click", e => { if (e.target.closest("button")) results.hidden = true; });
