// Keys, pointer, theme; the start.

canvas.addEventListener("wheel", e => {
  e.preventDefault();
  const box = canvas.getBoundingClientRect();
  if (e.shiftKey) { view.x -= e.deltaY + e.deltaX; move(); return; }
  zoom(Math.exp(-Math.max(-60, Math.min(60, e.deltaY)) * (e.ctrlKey ? 0.02 : 0.004)), e.clientX - box.left, e.clientY - box.top);
}, { passive: false });
let drag = null;
canvas.addEventListener("pointerdown", e => {
  if (e.button) return;
  drag = { x: e.clientX, y: e.clientY, moved: false, item: itemAt(e.target) };
  canvas.setPointerCapture(e.pointerId);
});
canvas.addEventListener("pointermove", e => {
  if (!drag) {
    const item = itemAt(e.target);
    if (item !== hovered) { hovered = item; light(); }
    return;
  }
  const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
  if (!drag.moved && Math.hypot(dx, dy) < 4) return;
  drag.moved = true;
  view.x += dx; view.y += dy; drag.x = e.clientX; drag.y = e.clientY;
  canvas.classList.add("dragging");
  move();
});
canvas.addEventListener("pointerup", () => {
  canvas.classList.remove("dragging");
  if (drag && !drag.moved) click(drag.item);
  drag = null;
});
canvas.addEventListener("pointerleave", () => { if (hovered >= 0) { hovered = -1; light(); } });
canvas.addEventListener("dblclick", e => { if (itemAt(e.target) < 0) fit(); });

function itemAt(target) {
  const element = target.closest?.(".box");
  return element ? Number(element.dataset.item) : -1;
}
function click(item) {
  canvas.focus({ preventScroll: true });
  select(item);
  if (item >= 0 && isGroup(item)) toggle(item);
}
function select(item) { selected = item; hovered = -1; show(item); light(); tell(); }

/** Keeps what a screen reader is told in step with the selection. */
function tell() {
  if (selected >= 0 && drawn.has(selected)) canvas.setAttribute("aria-activedescendant", "box" + selected);
  else canvas.removeAttribute("aria-activedescendant");
}

/** Goes to the nearest box in a direction. */
function step(dx, dy) {
  const here = placed.get(selected);
  if (!here) { select([...placed.keys()].find(i => i !== n)); centre(selected); return; }
  const cx = here.x + here.w / 2, cy = here.y + (here.open ? 16 : here.h / 2);
  let best = -1, least = Infinity;
  for (const [item, p] of placed) {
    if (item === n || item === selected) continue;
    const x = p.x + p.w / 2 - cx, y = p.y + (p.open ? 16 : p.h / 2) - cy;
    const along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
    if (along < 8 || across > along * 3 + 60) continue;
    const far = along + 2 * across;
    if (far < least) { least = far; best = item; }
  }
  if (best >= 0) { select(best); keepInSight(best); }
}
function keepInSight(item) {
  const p = placed.get(item), x = p.x * view.k + view.x, y = p.y * view.k + view.y;
  if (x < 20 || y < 20 || x + Math.min(p.w * view.k, 300) > canvas.clientWidth - 20 || y + 60 > canvas.clientHeight) centre(item);
}
function kinStep() {
  if (selected < 0) return;
  const kin = kinOf(selected);
  if (kin.length) reveal(shownFor(kin[0]) === kin[0] ? kin[0] : isGroup(selected) ? shownFor(kin[0]) : kin[0]);
}
/** Opens one more level; where all of it would be too small to read, what stood in the middle stays there. */
function openMore() {
  const x = (canvas.clientWidth / 2 - view.x) / view.k, y = (canvas.clientHeight / 2 - view.y) / view.k;
  const far = p => Math.hypot(p.x + p.w / 2 - x, p.y + Math.min(p.h / 2, 60) - y);
  let middle = placed.has(selected) ? selected : -1, least = Infinity;
  if (middle < 0) for (const [item, p] of placed) if (item !== n && !p.open && far(p) < least) { least = far(p); middle = item; }
  const k = view.k;
  deeper();
  fit();
  if (view.k >= READABLE || middle < 0) return;
  view.k = Math.max(k, READABLE);
  centre(middle);
}

/** Goes to the next operation that is marked. */
function markStep() {
  const marks = data.why ? Object.keys(data.why.marks).map(Number) : [];
  if (marks.length) reveal(marks[(marks.indexOf(selected) + 1) % marks.length]);
}
const KEYS = {
  ArrowUp: () => step(0, -1), ArrowDown: () => step(0, 1), ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0),
  Enter: () => toggle(selected), " ": () => toggle(selected), "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8),
  "0": fit, g: kinStep, m: markStep, o: openMore, c: () => { collapse(); fit(); },
  Escape: () => {
    const p = selected >= 0 ? parentOf(selected) : -1;
    select(p > 0 ? n + p : -1);
    if (p > 0) keepInSight(n + p);
  },
};
document.addEventListener("keydown", e => {
  if (e.target.closest("input, select, textarea") || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "/") { search.focus(); search.select(); e.preventDefault(); return; }
  if (e.key === "t" || (e.key === "Escape" && !tableView.hidden)) {
    tab(tableView.hidden);
    (tableView.hidden ? canvas : tableView).focus({ preventScroll: true });
    return;
  }
  if (!tableView.hidden || (e.target.closest("button") && (e.key === "Enter" || e.key === " "))) return;
  const act = KEYS[e.key];
  if (act) { act(); e.preventDefault(); }
});

const on = (id, act) => document.getElementById(id).addEventListener("click", act);
on("show-picture", () => tab(false));
on("show-table", () => tab(true));
on("deeper", openMore);
on("collapse", () => { collapse(); fit(); });
on("fit", fit);
on("theme", () => {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
});

/** Opens boxes level by level, while there are few. */
function openFew(most) {
  let count = 1;
  const waiting = [n];
  open.clear();
  for (let k = 0; k < waiting.length; k++) {
    const item = waiting[k], inside = children[item - n];
    if (item !== n && (count + inside.length > most || !["section", "scope", "calls"].includes(kindOf(item))
      || groups.main[item - n] !== undefined && kindOf(item) === "scope" || inside.length < 3)) continue;
    open.add(item);
    count += inside.length;
    waiting.push(...inside.filter(i => isGroup(i) && children[i - n].length));
  }
}

const READABLE = 0.6;

/** Shows as much as can be read at a first look. */
function begin() {
  for (const most of [60, 40, 26, 16]) {
    openFew(most);
    layouts.clear();
    draw();
    fit();
    if (view.k >= READABLE) break;
  }
  const part = children[0].find(i => isGroup(i) && kindOf(i) === "section");
  if (part !== undefined && !open.has(part)) {  // too large to be seen at once: its beginning
    open.clear();
    open.add(n).add(part);
    layouts.clear();
    draw();
    fit();
    if (view.k < READABLE) {
      const p = placed.get(part);
      view.k = Math.max(READABLE, Math.min(0.9, (canvas.clientWidth - 60) / p.w));
      view.x = Math.max(30, (canvas.clientWidth - p.w * view.k) / 2) - p.x * view.k;
      view.y = 30 - p.y * view.k;
      move();
    }
  }
  if (data.why) {
    const marked = Object.keys(data.why.marks).map(Number);
    for (const op of marked.slice(0, 8)) for (let g = data.group[op]; g > 0; g = groups.parent[g]) { open.add(n + g); }
    layouts.clear();
    draw();
    fit();
    if (view.k < READABLE && marked.length) centre(marked[0]);
  }
}
timeline();
show(-1);
begin();

// A page that is not in sight yet, such as a notebook's, has no size; what nobody has touched yet fits itself anew.
let untouched = true;
for (const kind of ["pointerdown", "wheel", "keydown"]) addEventListener(kind, () => { untouched = false; }, { capture: true });
let seenSize = canvas.clientWidth + "×" + canvas.clientHeight;
new ResizeObserver(() => {
  const size = canvas.clientWidth + "×" + canvas.clientHeight;
  if (!untouched || size === seenSize || !canvas.clientWidth || selected >= 0) return;
  seenSize = size;
  begin();
}).observe(canvas);
window.graphgrad = { n, data, open, selected: () => selected, placed, drawn, children, nameOf, typeOf, kinOf, kindOf, isGroup,
  reveal, toggle, deeper, collapse, fit, tab, select, shownFor, search, matches, originalOf, gradientsOf, usersOf, inputsOf, parentOf, zoom, paint, layouts, place };
