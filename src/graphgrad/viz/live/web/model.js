// The graph as arrays. Items are numbers: operations 0 ... n - 1, then groups.

const data = JSON.parse(document.getElementById("graph-data").textContent);
const n = data.type.length;
const groups = data.groups;
const KINDS = ["graph", "section", "scope", "of", "repeat", "part", "piece", "calls", "body"];
const first = new Int32Array(groups.parent.length).fill(n);  // the first operation within each group
const size = new Int32Array(groups.parent.length);  // how many operations are within
const depth = new Int32Array(groups.parent.length);
const children = groups.parent.map(() => []);
const isGroup = item => item >= n;
const parentOf = item => isGroup(item) ? groups.parent[item - n] : data.group[item];
const kindOf = item => KINDS[groups.kind[item - n]];
const startOf = item => isGroup(item) ? first[item - n] : item;
const opsIn = item => isGroup(item) ? size[item - n] : 1;

for (let i = n - 1; i >= 0; i--) { first[data.group[i]] = i; size[data.group[i]]++; }
for (let g = groups.parent.length - 1; g > 0; g--) {
  const p = groups.parent[g];
  first[p] = Math.min(first[p], first[g]);
  size[p] += size[g];
}
for (let i = 0; i < n; i++) children[data.group[i]].push(i);
for (let g = 1; g < groups.parent.length; g++) {
  depth[g] = depth[groups.parent[g]] + 1;
  children[groups.parent[g]].push(n + g);
}
for (const list of children) list.sort((a, b) => startOf(a) - startOf(b) || isGroup(a) - isGroup(b));

// Styles: the kind of section that an item is in.
const styleOfGroup = groups.parent.map((p, g) => groups.style[g]);
for (let g = 1; g < styleOfGroup.length; g++) styleOfGroup[g] = styleOfGroup[g] || styleOfGroup[groups.parent[g]];
const styleOf = item => styleOfGroup[isGroup(item) ? item - n : data.group[item]] || "forward";

const asList = x => Array.isArray(x) ? x : [x];
const textOf = (table, i) => data[table][i];
const typeOf = op => data.texts[data.type[op]];
const lastName = op => data.name[op] || typeOf(op);
const nameOf = op => { const s = data.texts[data.scope[op]]; return s ? s + "/" + lastName(op) : lastName(op); };
const lineOf = op => data.lines[data.line[op]].split("\t");
const outputsOf = op => asList(data.out[op]).map(i => data.specs[i]);
const shapeOf = op => {
  const found = /\((.*)\)$/.exec(outputsOf(op)[0] || "");
  return found && found[1] ? found[1].split(", ").join("×") : "";
};
const noteOf = op => data.note[op] || "";
const inputsOf = op => data.in[op].map(d => Array.isArray(d) ? { op: op - d[0], output: d[1] } : { op: op - d, output: 0 });
const waitsOf = op => (data.wait[op] || []).map(d => op - d);
const isCopy = op => data.again[op] === 2 && data.of[op] !== 0;  // its original is here
const originalOf = op => data.of[op] ? op - data.of[op] : -1;

// Flow: what uses each operation, what its gradient operations are; edges under the innermost group around both ends.
function table(count, each) {
  const at = new Int32Array(count + 1);
  each(key => { at[key + 1]++; });
  for (let i = 0; i < count; i++) at[i + 1] += at[i];
  const fill = at.slice(), values = new Int32Array(at[count]);
  each((key, value) => { values[fill[key]++] = value; });
  return key => values.subarray(at[key], at[key + 1]);
}
const from = [], to = [], waits = [];
for (let i = 0; i < n; i++) {
  for (const d of data.in[i]) { from.push(i - (typeof d === "number" ? d : d[0])); to.push(i); waits.push(0); }
  const control = data.wait[i];
  if (control) for (const d of control) { from.push(i - d); to.push(i); waits.push(1); }
}
const usersOf = table(n, put => { for (let e = 0; e < from.length; e++) put(from[e], to[e]); });
const gradientsOf = table(n, put => { for (let i = 0; i < n; i++) if (data.of[i]) put(i - data.of[i], i); });
function around(a, b) {
  while (a !== b) { if (depth[a] >= depth[b]) a = groups.parent[a]; else b = groups.parent[b]; }
  return a;
}
const edgesUnder = table(groups.parent.length, put => {
  for (let e = 0; e < from.length; e++) put(around(data.group[from[e]], data.group[to[e]]), e);
});

/** The child of group `g` that an operation is in. */
function childOf(g, op) {
  let item = op, p = data.group[op];
  while (p !== g) { item = n + p; p = groups.parent[p]; }
  return item;
}

/** The operations of an item. */
function operationsOf(item) {
  if (!isGroup(item)) return [item];
  const found = [], stack = [item];
  while (stack.length) {
    const next = stack.pop();
    if (isGroup(next)) stack.push(...children[next - n]); else found.push(next);
  }
  return found.sort((a, b) => a - b);
}

/** The operations whose gradient an item is part of, and those that are part of its gradient. */
function kinOf(item) {
  const own = new Set(operationsOf(item)), kin = new Set();
  for (const op of own) {
    const original = originalOf(op);
    if (original >= 0 && !own.has(original)) kin.add(original);
    for (const g of gradientsOf(op)) if (!own.has(g)) kin.add(g);
  }
  return [...kin];
}

const VARIABLE = /^(VarHandleOp|VariableV2|Variable)$/;
function lookOf(item) {
  const op = isGroup(item) ? groups.main[item - n] : item;
  if (op !== undefined) {
    const type = typeOf(op);
    if (VARIABLE.test(type)) return "variable";
    if (styleOf(item) !== "gradient" && /^(Placeholder|PlaceholderWithDefault|Const)$/.test(type)) return "input";
  }
  return styleOf(item);
}

/** The two lines of text in a box. */
function wordsOf(item) {
  if (isGroup(item)) {
    const g = item - n, main = groups.main[g];
    const count = size[g].toLocaleString("en") + (size[g] === 1 ? " op" : " ops");
    if (main === undefined) {
      const like = groups.like[g];
      if (Array.isArray(like) && kindOf(item) === "body" && !size[g]) return [groups.label[g], "the same as elsewhere"];
      return [groups.label[g], count];
    }
    if (lookOf(item) === "variable") return [groups.label[g], ["variable", shapeOf(main)].join(" ").trim()];
    const [title, detail] = wordsOf(main);
    return [title, kindOf(item) === "calls" ? [detail, count].filter(Boolean).join(" · ") : detail];
  }
  const type = typeOf(item), shape = shapeOf(item), note = noteOf(item);
  if (VARIABLE.test(type)) return [lastName(item), ["variable", shape].join(" ").trim()];
  if (type === "Const") return [note || lastName(item), note ? "constant" : ["constant", shape].join(" ").trim()];
  if (/^Placeholder/.test(type)) return [note || lastName(item), (note ? "from outside" : "input") + (shape ? " " + shape : "")];
  if (type === "NoOp") return [lastName(item), lastName(item) === type ? "" : type];
  return [type, lastName(item) === type ? "" : lastName(item)];
}
