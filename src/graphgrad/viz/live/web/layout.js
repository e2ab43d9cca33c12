// The layout of one level: rows by longest paths, order within rows by barycentres, positions by isotonic regression.

const ROW_GAP = 34, GAP = 18, BEND = 12;

/**
 * Places boxes.
 * @param boxes [{w, h}], in an order in which flow mostly goes forward
 * @param arrows [[from, to]], by index
 * @param up whether flow goes upwards
 * @returns {x, y, w, h, bends, bands}: left upper corners, the total size, for each arrow the points it passes, and for
 *   each box the upper and the lower edge of its row
 */
function place(boxes, arrows, up) {
  const rows = rowsOf(boxes.length, arrows);
  const nodes = boxes.map((b, i) => ({ w: b.w, h: b.h, row: rows[i], near: [[], []] }));
  const bends = arrows.map(() => []);
  const trunks = new Map();
  arrows.forEach(([s, t], a) => {
    if (rows[t] <= rows[s]) return;
    let last = s;
    for (let r = rows[s] + 1; r < rows[t]; r++) {
      const key = s + ":" + r;  // lines that leave a box run as one as far as they can
      let bend = trunks.get(key);
      if (bend === undefined) {
        bend = nodes.length;
        trunks.set(key, bend);
        nodes.push({ w: BEND, h: 0, row: r, near: [[], []] });
        join(nodes, last, bend);
      }
      bends[a].push(bend);
      last = bend;
    }
    join(nodes, last, t);
  });
  const layers = [];
  nodes.forEach((node, i) => (layers[node.row] = layers[node.row] || []).push(i));
  order(nodes, layers);
  positions(nodes, layers, boxes.length);
  const left = nodes.length ? Math.min(...nodes.map(v => v.x - v.w / 2)) : 0;
  const heights = layers.map(layer => Math.max(4, ...layer.map(i => nodes[i].h)));
  const tops = [];
  let y = 0;
  heights.forEach((h, r) => { tops[r] = y; y += h + ROW_GAP + Math.min(30, layers[r].length * 1.5); });
  const total = layers.length ? tops[tops.length - 1] + heights[heights.length - 1] : 0;
  const middle = r => up ? total - tops[r] - heights[r] / 2 : tops[r] + heights[r] / 2;
  return {
    x: boxes.map((b, i) => nodes[i].x - b.w / 2 - left),
    y: boxes.map((b, i) => middle(rows[i]) - b.h / 2),
    w: nodes.length ? Math.max(...nodes.map(v => v.x + v.w / 2)) - left : 0, h: total,
    bends: bends.map(list => list.map(i => ({ x: nodes[i].x - left, y: middle(nodes[i].row), h: heights[nodes[i].row] }))),
    bands: boxes.map((b, i) => [middle(rows[i]) - heights[rows[i]] / 2, middle(rows[i]) + heights[rows[i]] / 2]),
  };
}

function join(nodes, s, t) { nodes[s].near[1].push(t); nodes[t].near[0].push(s); }

/** The order in which flow goes; where it goes in circles, from the first box on. */
function flowOrder(count, arrows) {
  const waiting = new Array(count).fill(0), after = Array.from({ length: count }, () => []);
  for (const [s, t] of arrows) { waiting[t]++; after[s].push(t); }
  const position = new Array(count).fill(-1), ready = [];
  let done = 0, next = 0;
  for (let i = 0; i < count; i++) if (!waiting[i]) ready.push(i);
  while (done < count) {
    if (!ready.length) { while (position[next] >= 0) next++; ready.push(next); }
    const i = ready.shift();
    if (position[i] >= 0) continue;
    position[i] = done++;
    for (const t of after[i]) if (!--waiting[t] && position[t] < 0) ready.push(t);
  }
  return position;
}

function rowsOf(count, arrows) {
  const before = Array.from({ length: count }, () => []), after = Array.from({ length: count }, () => []);
  const position = flowOrder(count, arrows), sorted = new Array(count);
  position.forEach((p, i) => { sorted[p] = i; });
  for (const [s, t] of arrows) if (position[s] < position[t]) { before[t].push(s); after[s].push(t); }
  const rows = new Array(count).fill(0);
  for (const t of sorted) for (const s of before[t]) rows[t] = Math.max(rows[t], rows[s] + 1);
  for (const s of sorted.slice().reverse()) {  // sources stand just above what uses them
    if (!before[s].length && after[s].length) rows[s] = Math.min(...after[s].map(t => rows[t])) - 1;
  }
  const loose = [];
  for (let i = 0; i < count; i++) if (!before[i].length && !after[i].length) loose.push(i);
  const base = loose.length === count ? 0 : Math.max(...rows.filter((_, i) => before[i].length || after[i].length)) + 1;
  const wide = Math.max(4, Math.ceil(Math.sqrt(loose.length * 1.6)));
  loose.forEach((i, k) => { rows[i] = base + Math.floor(k / wide); });
  const used = [...new Set(rows)].sort((a, b) => a - b);
  const number = new Map(used.map((r, i) => [r, i]));
  return rows.map(r => number.get(r));
}

function order(nodes, layers) {
  layers.forEach(layer => layer.forEach((i, k) => { nodes[i].k = k; }));
  let best = layers.map(l => l.slice()), least = crossings(nodes, layers);
  for (let sweep = 0; sweep < 12 && least; sweep++) {
    const down = sweep % 2 === 0, side = down ? 0 : 1;
    for (const layer of down ? layers : layers.slice().reverse()) {
      for (const i of layer) {
        const near = nodes[i].near[side];
        nodes[i].wish = near.length ? near.reduce((a, j) => a + nodes[j].k, 0) / near.length : nodes[i].k;
      }
      layer.sort((a, b) => nodes[a].wish - nodes[b].wish || nodes[a].k - nodes[b].k);
      layer.forEach((i, k) => { nodes[i].k = k; });
    }
    const now = crossings(nodes, layers);
    if (now < least) { least = now; best = layers.map(l => l.slice()); }
  }
  best.forEach((l, r) => { layers[r] = l; l.forEach((i, k) => { nodes[i].k = k; }); });
}

function crossings(nodes, layers) {
  let total = 0;
  for (const layer of layers) {
    const ends = [];
    for (const i of layer) ends.push(...nodes[i].near[1].map(j => nodes[j].k).sort((a, b) => a - b));
    if (ends.length > 600) continue;
    for (let a = 0; a < ends.length; a++) for (let b = a + 1; b < ends.length; b++) if (ends[a] > ends[b]) total++;
  }
  return total;
}

function positions(nodes, layers, boxes) {
  for (const layer of layers) {
    let x = 0;
    for (const i of layer) { nodes[i].x = x + nodes[i].w / 2; x += nodes[i].w + GAP; }
    for (const i of layer) nodes[i].x -= x / 2;
  }
  for (let sweep = 0; sweep < 18; sweep++) {
    const down = sweep % 2 === 0;
    for (const layer of down ? layers : layers.slice().reverse()) {
      const wish = [], weight = [];
      for (const i of layer) {
        const v = nodes[i], seen = sweep > 12 ? v.near[0].concat(v.near[1]) : v.near[down ? 0 : 1];
        let sum = 0, pull = 0;
        for (const j of seen) {
          const p = nodes[j].near[0].length + nodes[j].near[1].length === 1 ? 0.05 : 1;
          sum += nodes[j].x * p; pull += p;
        }
        wish.push(pull ? sum / pull : v.x);
        weight.push(i >= boxes ? 4 : v.near[0].length + v.near[1].length <= 1 ? 0.05 : 1);
      }
      separate(nodes, layer, wish, weight);
    }
  }
  centreLoose(nodes, layers);
}

/** Puts rows of boxes without arrows under the middle of the others. */
function centreLoose(nodes, layers) {
  const loose = layers.filter(layer => layer.every(i => !nodes[i].near[0].length && !nodes[i].near[1].length));
  const others = layers.filter(layer => !loose.includes(layer)).flat().map(i => nodes[i]);
  if (!others.length) return;
  const middle = (Math.min(...others.map(v => v.x - v.w / 2)) + Math.max(...others.map(v => v.x + v.w / 2))) / 2;
  for (const layer of loose) {
    const ends = [nodes[layer[0]], nodes[layer[layer.length - 1]]];
    const shift = middle - (ends[0].x - ends[0].w / 2 + ends[1].x + ends[1].w / 2) / 2;
    for (const i of layer) nodes[i].x += shift;
  }
}

/** Moves the boxes of a row as near to where they wish to be as their order and widths allow. */
function separate(nodes, layer, wish, weight) {
  const offset = [0];
  for (let k = 1; k < layer.length; k++) {
    offset[k] = offset[k - 1] + (nodes[layer[k - 1]].w + nodes[layer[k]].w) / 2 + GAP;
  }
  const blocks = [];
  layer.forEach((_, k) => {
    let block = [wish[k] - offset[k], weight[k], 1];
    while (blocks.length && blocks[blocks.length - 1][0] > block[0]) {
      const last = blocks.pop(), w = last[1] + block[1];
      block = [(last[0] * last[1] + block[0] * block[1]) / w, w, last[2] + block[2]];
    }
    blocks.push(block);
  });
  let k = 0;
  for (const [mean, , count] of blocks) for (let c = 0; c < count; c++, k++) nodes[layer[k]].x = mean + offset[k];
}
