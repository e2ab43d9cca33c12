// What is open, where it stands, and its picture.

const SVG = "http://www.w3.org/2000/svg";
const canvas = document.getElementById("canvas");
const stage = document.getElementById("stage");
const BOX = 38, PAD = 18, HEAD = 32, MOST = 1500;
const open = new Set([n]);
const layouts = new Map();  // the layout of each open group, while nothing in it changes
const placed = new Map();   // visible item -> {x, y, w, h}
const drawn = new Map();    // visible item -> its element
let selected = -1, hovered = -1;
const view = { x: 40, y: 40, k: 1 };

const ruler = document.createElement("canvas").getContext("2d");
const FONT = getComputedStyle(document.body).fontFamily;
const widths = new Map();
function widthOf(text, font) {
  const key = font + text;
  let w = widths.get(key);
  if (w === undefined) { ruler.font = font + " " + FONT; w = ruler.measureText(text).width; widths.set(key, w); }
  return w;
}
function sizeOf(item) {
  if (open.has(item)) return layoutOf(item);
  const [title, detail] = wordsOf(item);
  const mark = isGroup(item) ? 22 : 0;
  return { w: Math.ceil(Math.max(64, widthOf(title, "600 12.5px") + 26 + mark, widthOf(detail, "10.5px") + 24 + mark)), h: BOX };
}

/** The level's arrows: one for each pair of members that something flows between. */
function arrowsOf(g) {
  const at = new Map(children[g].map((c, i) => [c, i]));
  const found = new Map();
  for (const e of edgesUnder(g)) {
    const s = at.get(childOf(g, from[e])), t = at.get(childOf(g, to[e]));
    if (s === undefined || t === undefined || s === t) continue;
    const key = s * 1e6 + t;
    const known = found.get(key);
    if (known) { known.edges.push(e); known.order = known.order && waits[e]; }
    else found.set(key, { s, t, edges: [e], order: !!waits[e] });
  }
  return quieted([...found.values()]);
}

/** What only waits for many others, such as an initializer, shows its arrows when it is pointed at; they come last. */
function quieted(arrows) {
  const waiting = new Map();
  for (const a of arrows) waiting.set(a.t, a.order && waiting.get(a.t) !== 0 ? (waiting.get(a.t) || 0) + 1 : 0);
  for (const a of arrows) a.quiet = waiting.get(a.t) >= 4;
  return [...arrows.filter(a => !a.quiet), ...arrows.filter(a => a.quiet)];
}

function layoutOf(item) {
  const known = layouts.get(item);
  if (known) return known;
  const g = item - n, members = children[g];
  const boxes = members.map(sizeOf);
  const isRow = members.some(m => isGroup(m) && kindOf(m) === "section");
  const arrows = isRow ? [] : arrowsOf(g);
  let level;
  if (isRow) {
    level = shelves(members, boxes);
  } else {
    level = place(boxes, arrows.filter(a => !a.quiet).map(a => [a.s, a.t]), styleOf(item).startsWith("gradient"));
  }
  const head = item === n ? 0 : HEAD, pad = item === n ? 0 : PAD;
  const title = widthOf(wordsOf(item)[0], "600 12.5px") + widthOf(wordsOf(item)[1], "11px") + 64;
  const w = Math.max(level.w + 2 * pad, item === n ? 0 : title);
  const dx = (w - level.w) / 2;
  const found = { w, h: level.h + head + 2 * pad, dx, dy: head + pad, level, arrows, boxes };
  layouts.set(item, found);
  return found;
}

/** Sections side by side, closed ones on top of each other, in as many rows as fill the window best. */
function shelves(members, boxes) {
  const columns = [];
  members.forEach((m, i) => {
    const last = columns[columns.length - 1];
    if (!open.has(m) && last && last.closed && last.items.length < 5) { last.items.push(i); last.w = Math.max(last.w, boxes[i].w); last.h += boxes[i].h + 16; }
    else columns.push({ closed: !open.has(m), items: [i], w: boxes[i].w, h: boxes[i].h });
  });
  let best = null;
  for (let rows = 1; rows <= Math.min(4, columns.length); rows++) {
    const wide = Math.max(...columns.map(c => c.w), columns.reduce((a, c) => a + c.w + 40, 0) / rows * 1.08);
    const x = [], y = [];
    let left = 0, top = 0, tall = 0, w = 0, row = [];
    const end = () => {
      for (const c of row) for (const i of c.items) if (c.items.length === 1 && styleOf(members[i]).startsWith("gradient") && open.has(members[i])) y[i] += tall - c.h;
      row = [];
    };
    for (const c of columns) {
      if (left && left + c.w > wide) { end(); left = 0; top += tall + 40; tall = 0; }
      let down = top;
      for (const i of c.items) { x[i] = left; y[i] = down; down += boxes[i].h + 16; }
      tall = Math.max(tall, c.h); left += c.w + 40; w = Math.max(w, left - 40); row.push(c);
    }
    end();
    const k = Math.min(canvas.clientWidth / w, canvas.clientHeight / (top + tall));
    if (!best || k > best.k * 1.05) best = { x, y, w, h: top + tall, bends: [], k };
  }
  return best;
}

function changed(item) { for (let i = item; i >= 0; i = i === n ? -1 : n + parentOf(i)) layouts.delete(i); }

/** Where everything visible stands. */
function arrange() {
  placed.clear();
  const lines = [];
  const stack = [[n, 0, 0]];
  while (stack.length) {
    const [item, x, y] = stack.pop();
    const isOpen = open.has(item), box = isOpen ? layoutOf(item) : sizeOf(item);
    placed.set(item, { x, y, w: box.w, h: box.h, open: isOpen });
    if (!isOpen) continue;
    const members = children[item - n], { level, dx, dy } = box;
    for (let i = members.length - 1; i >= 0; i--) stack.push([members[i], x + dx + level.x[i], y + dy + level.y[i]]);
    box.arrows.forEach((a, k) => lines.push({ ...a, group: item, bends: level.bends[k] || [], ox: x + dx, oy: y + dy,
      bands: [level.bands[a.s], level.bands[a.t]],
      from: members[a.s], to: members[a.t] }));
  }
  return lines;
}

function svg(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (parent) parent.append(element);
  return element;
}

/** Brings the picture up to date. */
function draw() {
  const lines = arrange();
  for (const [item, element] of drawn) {
    const now = placed.get(item);
    if (!now || element.dataset.open !== String(now.open)) { element.remove(); drawn.delete(item); }
  }
  const layer = stage.querySelector(".boxes");
  for (const [item, p] of placed) {  // a group comes before what is in it
    if (item === n) continue;
    let element = drawn.get(item);
    if (!element) { element = box(item, p); drawn.set(item, element); }
    layer.append(element);
    element.style.transform = `translate(${p.x}px, ${p.y}px)`;
    shape(element, item, p);
    element.classList.toggle("marked", marked.has(item));
  }
  ports(lines);
  const arrows = stage.querySelector(".arrows");
  arrows.replaceChildren(...lines.map(arrow));
  paint();
  light();
  tell();
}

function box(item, p) {
  const element = svg("g", { class: "box " + (p.open ? "open" : "closed"), role: "button", tabindex: -1, id: "box" + item });
  element.dataset.open = p.open;
  element.dataset.item = item;
  if (isGroup(item)) {
    element.setAttribute("aria-expanded", p.open);
    if (!p.open) svg("rect", { class: "sheet", rx: 7, x: 4, y: -4 }, element);
  }
  svg("rect", { class: "face", rx: 7 }, element);
  const [title, detail] = wordsOf(item);
  if (p.open) {
    svg("path", { class: "twist", d: "M12 13l4.5 5 4.5-5" }, element);
    svg("text", { class: "title", x: 28, y: 21 }, element).textContent = title;
    svg("text", { class: "detail", y: 21, x: 36 + widthOf(title, "600 12.5px") }, element).textContent = detail;
  } else {
    if (isGroup(item)) svg("path", { class: "twist" }, element);
    svg("text", { class: "title", "text-anchor": "middle" }, element).textContent = title;
    if (detail) svg("text", { class: "detail", "text-anchor": "middle" }, element).textContent = detail;
  }
  element.setAttribute("aria-label", labelOf(item));
  return element;
}

/** What a screen reader says of a box. */
function labelOf(item) {
  const [title, detail] = wordsOf(item);
  const cut = marked.has(item) ? ", marked" : "";
  if (isGroup(item)) return `${title}, ${opsIn(item)} operations${cut}`;
  return `${nameOf(item)}, ${typeOf(item)}, ${outputsOf(item).join(", ") || "no result"}${detail && detail !== lastName(item) ? ", " + detail : ""}${cut}`;
}

function shape(element, item, p) {
  const look = lookOf(item);
  element.classList.remove("variable", "input", "forward", "gradient", "gradient2", "update");
  element.classList.add(look);
  const round = !p.open && (look === "variable" || look === "input") ? p.h / 2 : p.open ? 10 : 7;
  for (const r of element.querySelectorAll("rect")) {
    r.setAttribute("width", p.w); r.setAttribute("height", p.h); r.setAttribute("rx", round);
  }
  if (p.open) return;
  const right = isGroup(item) ? 8 : 0, texts = element.querySelectorAll("text");
  texts[0].setAttribute("x", (p.w - right) / 2);
  texts[0].setAttribute("y", texts.length > 1 ? 17 : 23);
  if (texts.length > 1) { texts[1].setAttribute("x", (p.w - right) / 2); texts[1].setAttribute("y", 30); }
  const twist = element.querySelector(".twist");
  if (twist) twist.setAttribute("d", `M${p.w - 17} ${p.h / 2 - 4.5}l5 4.5 -5 4.5`);
}

/** Spreads the ends of arrows along the sides of their boxes. */
function ports(lines) {
  const entering = new Map();
  const put = (key, line, end, x) => { const list = entering.get(key) || []; list.push({ line, end, x }); entering.set(key, list); };
  for (const line of lines) {
    const s = placed.get(line.from), t = placed.get(line.to);
    const firstBend = line.bends[0], lastBend = line.bends[line.bends.length - 1];
    line.down = s.y + s.h / 2 < t.y + t.h / 2;
    put(line.to + (line.down ? "t" : "b"), line, "t", lastBend ? lastBend.x + line.ox : s.x + s.w / 2);
    put(line.from + (line.down ? "b" : "t"), line, "s", firstBend ? firstBend.x + line.ox : t.x + t.w / 2);
  }
  for (const list of entering.values()) {
    list.sort((a, b) => a.x - b.x);
    list.forEach((e, k) => {
      const own = placed.get(e.end === "t" ? e.line.to : e.line.from);
      const step = e.end === "s" ? 0 : Math.min(16, (own.w - 20) / Math.max(1, list.length - 1));
      e.line[e.end + "x"] = own.x + own.w / 2 + (k - (list.length - 1) / 2) * step;
    });
  }
}

function arrow(line) {
  const s = placed.get(line.from), t = placed.get(line.to);
  const sign = line.down ? 1 : -1;
  const points = [[line.sx, line.down ? s.y + s.h : s.y]];
  const [out, into] = line.bands.map(b => b.map(y => y + line.oy));  // straight as far as there are boxes beside
  if (Math.abs(out[line.down ? 1 : 0] - points[0][1]) > 8) points.push([line.sx, out[line.down ? 1 : 0]]);
  for (const b of line.bends) {
    points.push([b.x + line.ox, b.y + line.oy - sign * b.h / 2], [b.x + line.ox, b.y + line.oy + sign * b.h / 2]);
  }
  const end = line.down ? t.y : t.y + t.h;
  if (Math.abs(into[line.down ? 0 : 1] - end) > 8) points.push([line.tx, into[line.down ? 0 : 1]]);
  points.push([line.tx, end - sign * 6]);
  const path = svg("path", { class: "arrow " + styleOf(line.group) + (line.order ? " order" : "") + (line.quiet ? " quiet" : ""), d: curve(points),
    "marker-end": "url(#tip)" });
  path.dataset.from = line.from;
  path.dataset.to = line.to;
  if (ways.size) markWay(path, line);
  svg("title", {}, path).textContent = arrowText(line);
  return path;
}

function curve(points) {
  let d = `M${points[0][0].toFixed(1)} ${points[0][1].toFixed(1)}`;
  for (let i = 1; i < points.length; i++) {
    const [x0, y0] = points[i - 1], [x1, y1] = points[i];
    const bend = (y1 - y0) / 2;
    d += Math.abs(x0 - x1) < 0.6 ? `L${x1.toFixed(1)} ${y1.toFixed(1)}`
      : `C${x0.toFixed(1)} ${(y0 + bend).toFixed(1)} ${x1.toFixed(1)} ${(y1 - bend).toFixed(1)} ${x1.toFixed(1)} ${y1.toFixed(1)}`;
  }
  return d;
}

function arrowText(line) {
  const told = line.edges.slice(0, 8).map(e => waits[e]
    ? `${nameOf(to[e])} waits for ${nameOf(from[e])}` : `${nameOf(from[e])}  ${outputsOf(from[e])[0] || ""} → ${nameOf(to[e])}`);
  if (line.edges.length > 8) told.push(`… ${line.edges.length} in all`);
  return told.join("\n");
}

// -- what lights up -------------------------------------------------------------------

/** The visible box that stands for an operation: itself, or the outermost closed group around it. */
function shownFor(op) {
  let shown = op;
  for (let g = data.group[op]; g > 0; g = groups.parent[g]) if (!open.has(n + g)) shown = n + g;
  return shown;
}

/** Lights up what belongs to the item under the pointer, or to the selected one: its gradients or what it is one of. */
function light() {
  for (const element of stage.querySelectorAll(".lit, .kin, .chosen")) element.classList.remove("lit", "kin", "chosen");
  for (const element of stage.querySelectorAll(".arrow.near")) element.classList.remove("near");
  const links = stage.querySelector(".links");
  links.replaceChildren();
  drawn.get(selected)?.classList.add("chosen");
  const item = hovered >= 0 ? hovered : selected;
  if (item < 0 || !drawn.has(item)) return;
  drawn.get(item).classList.add("lit");
  for (const element of stage.querySelectorAll(`.arrow[data-from="${item}"], .arrow[data-to="${item}"]`)) element.classList.add("near");
  if (placed.get(item).open && opsIn(item) > 3000) return;
  const kin = new Set(kinOf(item).map(shownFor));
  kin.delete(item);
  for (const other of kin) {
    drawn.get(other)?.classList.add("kin");
    if (kin.size <= 40) links.append(link(item, other, "kinship"));
  }
  if (isGroup(item) && placed.get(item).open) return;
  const beyond = new Map();  // flow from and to other groups
  const own = operationsOf(item);
  if (own.length > 400) return;
  for (const op of own) {
    for (const i of inputsOf(op)) note(beyond, shownFor(i.op), item, true);
    for (const u of usersOf(op)) note(beyond, shownFor(u), item, false);
  }
  if (beyond.size <= 60) for (const [other, into] of beyond) links.append(into ? link(other, item, "flow") : link(item, other, "flow"));
}
function note(found, other, item, into) {
  if (other !== item && parentOf(other) !== parentOf(item) && drawn.has(other)) found.set(other, into);
}

function link(a, b, kind) {
  const s = placed.get(a), t = placed.get(b);
  const right = s.x + s.w / 2 < t.x + t.w / 2;
  const x0 = right ? s.x + s.w : s.x, x1 = (right ? t.x : t.x + t.w) + (right ? -5 : 5);
  const y0 = s.y + Math.min(s.h / 2, 60), y1 = t.y + Math.min(t.h / 2, 60);
  const bend = Math.max(30, Math.abs(x1 - x0) / 2) * (right ? 1 : -1);
  return svg("path", { class: kind, d: `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`,
    ...(kind === "flow" ? { "marker-end": "url(#tip)" } : {}) });
}

// -- opening and closing --------------------------------------------------------------

function toggle(item) {
  if (!isGroup(item) || item === n) return;
  const before = placed.get(item);
  if (open.has(item)) close(item); else if (children[item - n].length) open.add(item);
  changed(item);
  draw();
  const after = placed.get(item);
  if (before && after) { view.x -= (after.x - before.x) * view.k; view.y -= (after.y - before.y) * view.k; move(); }
}

function close(item) {
  const stack = [item];
  while (stack.length) {
    const next = stack.pop();
    if (!open.delete(next)) continue;
    layouts.delete(next);
    for (const c of children[next - n]) if (isGroup(c)) stack.push(c);
  }
}

/** Opens one more level everywhere, as far as the picture stays readable. */
function deeper() {
  for (const item of [...placed.keys()].filter(i => isGroup(i) && !open.has(i)).sort((a, b) => startOf(a) - startOf(b))) {
    if (placed.size + children[item - n].length > MOST) break;
    if (!children[item - n].length) continue;
    open.add(item);
    changed(item);
    for (const c of children[item - n]) placed.set(c, null);
  }
  draw();
}

function collapse() {
  for (const c of children[0]) if (isGroup(c)) close(c);
  layouts.clear();
  draw();
}

/** Opens what is around an item, selects it and brings it into the middle. */
function reveal(item, zoom = true) {
  for (let g = parentOf(item); g >= 0; g = groups.parent[g]) {
    if (!open.has(n + g)) { open.add(n + g); changed(n + g); }
  }
  selected = item;
  draw();
  show(item);
  if (zoom) centre(item);
}

function centre(item) {
  const p = placed.get(item);
  if (!p) return;
  if (view.k < 0.6) view.k = 0.9;
  view.x = canvas.clientWidth / 2 - (p.x + p.w / 2) * view.k;
  view.y = canvas.clientHeight / 2 - (p.y + Math.min(p.h / 2, 120)) * view.k;
  move();
}

function move() { stage.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.k})`); }

function fit() {
  const all = layoutOf(n), w = canvas.clientWidth, h = canvas.clientHeight;
  view.k = Math.max(0.05, Math.min(1.15, (w - 60) / Math.max(1, all.w), (h - 60) / Math.max(1, all.h)));
  view.x = (w - all.w * view.k) / 2;
  view.y = Math.max(30, (h - all.h * view.k) / 2);
  move();
}

function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const k = Math.max(0.03, Math.min(4, view.k * factor));
  view.x = x - (x - view.x) * k / view.k;
  view.y = y - (y - view.y) * k / view.k;
  view.k = k;
  move();
}
