// Colours by what was measured in a run, and its memory over time.

const run = data.run;
const cost = { time: new Float64Array(n), bytes: new Float64Array(n) };
const stepOf = new Map();
if (run) {
  run.steps.forEach((step, k) => {
    for (const op of step.ops) { cost.time[op] += step.seconds / step.ops.length; if (!stepOf.has(op)) stepOf.set(op, k); }
  });
}
const sizes = data.specs.map(spec => {
  const found = /^[a-z_]+?(\d+)\S* \(([\d, ]*)\)$/.exec(spec);
  return found ? Number(found[1]) / 8 * found[2].split(", ").reduce((a, d) => a * (d === "" ? 1 : Number(d)), 1) : /^bool \(/.test(spec) ? 1 : 0;
});
for (let op = 0; op < n; op++) cost.bytes[op] = data.bytes[op] || asList(data.out[op]).reduce((a, s) => a + sizes[s], 0);
function costOf(what, op) { return cost[what][op] || ""; }
function seconds(s) { return s >= 1 ? s.toFixed(2) + " s" : s >= 1e-3 ? (s * 1e3).toFixed(2) + " ms" : (s * 1e6).toFixed(1) + " µs"; }
function bytes(b) {
  for (const unit of ["B", "kB", "MB", "GB"]) { if (b < 1000 || unit === "GB") return (unit === "B" || b >= 100 ? Math.round(b) : b.toFixed(1)) + " " + unit; b /= 1000; }
}
function sum(what, ops) { let s = 0; for (const op of ops) s += cost[what][op]; return s; }

function runFacts(op) {
  const facts = [fact("Size of result", cost.bytes[op] ? bytes(cost.bytes[op]) : "")];
  const k = stepOf.get(op);
  if (k !== undefined) {
    const step = run.steps[k];
    facts.push(fact("Share of time", seconds(cost.time[op])),
      fact("Ran in", `step ${k + 1} of ${run.steps.length} (${step.kind}, ${step.origin}): ${seconds(step.seconds)} for ${step.ops.length} operations`),
      fact("On", step.device));
  }
  if (data.again[op]) facts.push(fact("Recomputed", "computes once more what the forward pass computed"));
  return facts;
}
function runFactsOf(own) {
  return [fact("Share of time", run && sum("time", own) ? seconds(sum("time", own)) : ""),
    fact("Sizes of results", sum("bytes", own) ? bytes(sum("bytes", own)) : "")];
}

// -- colours ---------------------------------------------------------------------------

const overlay = document.getElementById("overlay"), scale = document.getElementById("scale");
const places = [...new Set(Object.values(data.device).concat(run ? run.steps.map(s => s.device) : []))].filter(Boolean).sort();
const placeOf = op => (stepOf.has(op) && run.steps[stepOf.get(op)].device) || data.device[op] || "";
for (const option of overlay.options) {
  const has = { none: true, time: !!run, bytes: cost.bytes.some(b => b), again: Object.keys(data.again).length > 0, device: places.length > 0 };
  option.disabled = !has[option.value];
  option.hidden = option.disabled;
}
let alive = null;  // the operations whose results are alive at the chosen step

function paint() {
  const what = overlay.value;
  document.body.classList.toggle("overlaid", what !== "none" || alive !== null);
  const values = new Map();
  let most = 0;
  for (const [item, element] of drawn) {
    element.style.removeProperty("--heat");
    element.classList.remove("hot", "alive");
    element.style.removeProperty("--hue");
    if (placed.get(item)?.open) continue;
    const own = what === "none" && !alive ? [] : operationsOf(item);
    if (alive && own.some(op => alive.has(op))) element.classList.add("alive");
    if (what === "none") continue;
    const v = what === "again" ? own.filter(op => data.again[op]).length / own.length
      : what === "device" ? places.indexOf(placeOf(own.find(placeOf))) + 1 : sum(what, own);
    values.set(item, v);
    most = Math.max(most, v);
  }
  for (const [item, v] of values) {
    const element = drawn.get(item);
    if (what === "device") { if (v) { element.classList.add("hot"); element.style.setProperty("--hue", (v * 137) % 360); element.style.setProperty("--heat", "45%"); } continue; }
    if (v > 0) { element.classList.add("hot"); element.style.setProperty("--heat", Math.round(8 + 64 * Math.sqrt(v / most)) + "%"); }
  }
  scale.textContent = what === "time" ? `darkest: ${seconds(most)}` : what === "bytes" ? `darkest: ${bytes(most)}`
    : what === "again" ? "dark: computed once more" : what === "device" ? places.join(", ") : "";
}
overlay.addEventListener("change", paint);

// -- memory ----------------------------------------------------------------------------

const memory = document.getElementById("memory");
function timeline() {
  if (!run || !run.steps.length) { memory.hidden = true; return; }
  const steps = run.steps, most = Math.max(run.peak, 1), W = 1000, H = 64;
  const chart = svg("svg", { viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `Memory over ${steps.length} steps, at most ${bytes(run.peak)}` });
  const w = W / steps.length;
  steps.forEach((s, k) => {
    const live = s.live / most * H, total = Math.min(H, (s.live + s.temp) / most * H);
    svg("rect", { class: "temp", x: k * w, y: H - total, width: Math.max(0.5, w - (w > 4 ? 1 : 0)), height: total }, chart);
    svg("rect", { class: "live", x: k * w, y: H - live, width: Math.max(0.5, w - (w > 4 ? 1 : 0)), height: live }, chart);
  });
  const mark = svg("rect", { class: "now", x: 0, y: 0, width: Math.max(1.5, w), height: H, visibility: "hidden" }, chart);
  const slider = el("input", { type: "range", min: 0, max: steps.length, value: 0, "aria-label": "Step of the run" });
  const told = el("output", {}, `Memory: at most ${bytes(run.peak)}`);
  const choose = k => {
    slider.value = k + 1;
    mark.setAttribute("visibility", k < 0 ? "hidden" : "visible");
    if (k < 0) { alive = null; told.textContent = `Memory: at most ${bytes(run.peak)}`; paint(); return; }
    mark.setAttribute("x", k * w);
    const s = steps[k];
    alive = new Set(s.alive.map(a => a[0]).filter(op => op >= 0));
    slider.setAttribute("aria-valuetext", `step ${k + 1}, ${bytes(s.live)} alive`);
    told.textContent = `After step ${k + 1} of ${steps.length}: ${bytes(s.live)} alive`;
    panel.replaceChildren(el("h2", {}, `Alive after step ${k + 1}`),
      el("p", { class: "name" }, `${s.kind}, ${s.ops.length} operations, ${seconds(s.seconds)}; ${bytes(s.temp)} besides while it ran`),
      references("Values", s.alive, ([op, size, name]) => op >= 0 ? reference(op, name, bytes(size))
        : el("li", {}, name + " ", el("span", { class: "soft" }, bytes(size)))) || el("p", {}, "Nothing."),
      references("Ran", s.ops, op => reference(op, "", typeOf(op))) || "");
    paint();
  };
  chart.addEventListener("click", e => {
    const box = chart.getBoundingClientRect();
    choose(Math.max(0, Math.min(steps.length - 1, Math.floor((e.clientX - box.left) / box.width * steps.length))));
  });
  slider.addEventListener("input", () => choose(slider.value - 1));
  memory.append(told, chart, slider);
}
