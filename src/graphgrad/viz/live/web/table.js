// The same as a table: a page of rows at a time, for reading, sorting and screen readers.

const tableView = document.getElementById("table");
const PAGE = 200;
let page = 0, sortBy = "number", backwards = false;
const some = names => names.slice(0, 6).join(", ") + (names.length > 6 ? `, … ${names.length} in all` : "");
const COLUMNS = [
  ["number", "No.", op => op], ["name", "Name", nameOf], ["type", "Operation", typeOf],
  ["result", "Result", op => outputsOf(op).join("; ")],
  ["inputs", "Inputs", op => some(inputsOf(op).map(i => nameOf(i.op) + (i.output ? ":" + i.output : "")))],
  ["of", "Gradient of", op => originalOf(op) >= 0 && !isCopy(op) ? nameOf(originalOf(op)) : ""],
  ["gradient", "Its gradient", op => some([...gradientsOf(op)].filter(i => !isCopy(i)).map(nameOf))],
  ["line", "Built at", op => lineOf(op).join("  ")],
];
if (data.run) {
  COLUMNS.push(["time", "Share of time", op => costOf("time", op)], ["bytes", "Bytes", op => costOf("bytes", op)]);
}
if (data.why) COLUMNS.push(["mark", "Explained", op => data.why.marks[op] || ""]);

function rows(to = page) {
  const words = wordsIn(search.value);
  let found = words.length ? matches(words) : Array.from({ length: n }, (_, i) => i);
  const value = COLUMNS.find(c => c[0] === sortBy)[2];
  if (sortBy !== "number") {
    const keys = new Map(found.map(op => [op, value(op)]));
    found.sort((a, b) => keys.get(a) < keys.get(b) ? -1 : keys.get(a) > keys.get(b) ? 1 : a - b);
  }
  if (backwards) found.reverse();
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  page = Math.max(0, Math.min(pages - 1, to));
  const shown = found.slice(page * PAGE, (page + 1) * PAGE);
  const tell = (key, v, op) => key === "time" && v ? seconds(v) : key === "bytes" && v ? bytes(v) : key === "number" ? op + 1 : v;
  tableView.replaceChildren(
    el("table", {},
      el("caption", {}, `${data.title}: ${found.length.toLocaleString("en")} operations, page ${page + 1} of ${pages}`),
      el("thead", {}, el("tr", {}, ...COLUMNS.map(([key, title]) => el("th", { scope: "col",
        "aria-sort": key === sortBy ? backwards ? "descending" : "ascending" : "none" },
      el("button", { onclick: () => { backwards = key === sortBy && !backwards; sortBy = key; rows(0); } }, title))))),
      el("tbody", {}, ...shown.map(op => el("tr", {}, ...COLUMNS.map(([key, , get]) => key === "name"
        ? el("th", { scope: "row" }, el("button", { class: "ref " + lookOf(op), onclick: () => go(op) }, nameOf(op)))
        : el("td", { class: key }, String(tell(key, get(op), op) ?? ""))))))),
    el("nav", { class: "pages", "aria-label": "Pages of the table" },
      ...[["First", 0], ["Previous", page - 1], ["Next", page + 1], ["Last", pages - 1]].map(([text, where]) =>
        el("button", { onclick: () => rows(where), ...(where < 0 || where >= pages || where === page ? { disabled: "" } : {}) }, text))));
}

/** Shows the table, or the picture again. */
function tab(toTable) {
  tableView.hidden = !toTable;
  document.getElementById("picture").hidden = toTable;
  for (const [id, on] of [["show-picture", !toTable], ["show-table", toTable]]) {
    document.getElementById(id).setAttribute("aria-pressed", on);
  }
  if (toTable) rows(0);
}
