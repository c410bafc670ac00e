// The script of a program's page: draws the graph, shows where a value comes from and goes to, moves and zooms; then
// starts everything.
#pragma once

#include <string_view>

namespace tx::io::detail {

inline constexpr std::string_view page_draw = R"js(
function curve(x1, y1, x2, y2) {
  const d = Math.max(12, Math.min(70, Math.abs(y2 - y1) / 2));
  const [a, b, c, d1, d2, e] = [x1, y1, x2, y1 + d, y2 - d, y2].map(n => n.toFixed(1));
  return `M${a} ${b}C${a} ${d1} ${c} ${d2} ${c} ${e}`;
}
function draw_link(parent, a, b, color, width, opacity = 1) {
  const d = curve(a.x + a.w / 2, a.y + a.h, b.x + b.w / 2, b.y);
  shape(parent, 'path', {d, fill: 'none', stroke: color, 'stroke-width': width, opacity, 'pointer-events': 'none'});
}
const draw_box = (parent, u, attributes) => shape(parent, 'rect', {x: u.x, y: u.y, width: u.w, height: u.h, ...attributes});
const draw_text = (parent, x, y, size, color, text, weight = 400) =>
  shape(parent, 'text', {x, y, 'font-size': size, 'font-weight': weight, style: 'fill:' + color}, text);

function draw_graph() {
  const svg = at('graph');
  svg.replaceChildren();
  const all = shape(svg, 'g', {});
  G.layer = all;
  for (const u of G.regions) {
    if (!u) continue;
    const r = P.regions[u.of];
    draw_box(all, u, {rx: 12, fill: '#f1edfb', stroke: '#b9a9e6'});
    draw_text(all, u.x + 14, u.y + 21, 13, '#6941c6', `repeated \u00d7 ${r.iterations}` + (r.reversed ? ', backwards' : ''), 600);
  }
  // A region itself gets a link where none of its kernels does: from what its carries begin with.
  const shown_inside = (a, r) => G.links.some(([from, to]) => from === a && !to.enters && within(to.region, r));
  for (const [a, b] of G.links) {
    if (!b.enters) draw_link(all, a, b, '#98a2b3', 1.2, 0.7);
    else if (G.regions[b.enters] && !shown_inside(a, b.enters)) draw_link(all, a, G.regions[b.enters], '#98a2b3', 1.2, 0.7);
  }
  for (const [v, u] of G.flats) {
    const g = shape(all, 'g', {'data-tip': 'v' + v, class: 'chip', 'data-text': P.values[v].op});
    draw_box(g, u, {rx: 5, fill: '#eef0f3', stroke: '#98a2b3'});
    draw_text(g, u.x + 8, u.y + 16, 11, '#344054', `${P.values[v].op}  ${P.values[v].shape}`);
  }
  for (const u of G.calls) {
    const g = shape(all, 'g', {'data-tip': 'k' + u.call, 'data-call': u.call});
    if (!u.chips.length) { g.setAttribute('class', 'chip'); g.dataset.text = P.calls[u.call].name; }
    draw_box(g, u, {rx: 7, fill: u.chips.length ? '#fff' : fill(u.call), stroke: edge(u.call), 'stroke-width': 1.2});
    draw_text(g, u.x + 8, u.y + 15, 11, '#1f2430', u.title, 600);
    draw_text(g, u.x + 8, u.y + 28, 10, '#667085', u.note);
    for (const [a, b] of u.lines) draw_link(g, u.chips[a], u.chips[b], edge(u.call), 1, 0.6);
    for (const chip of u.chips) {
      const x = P.values[chip.v];
      const e = shape(g, 'g', {'data-tip': 'v' + chip.v, 'data-call': u.call, class: 'chip', 'data-text': `${x.op} ${x.name} ${x.shape}`});
      draw_box(e, chip, chip.pill ? {rx: 8, fill: '#fff', stroke: '#667085', 'stroke-dasharray': '3 2'}
                                  : {rx: 4, fill: fill(u.call), stroke: edge(u.call), 'stroke-width': x.buffer >= 0 ? 1.6 : 0.5});
      const label = draw_text(e, chip.x + 7, chip.y + chip.h / 2 + 4, 11, '#1f2430', chip.label);
      if (chip.dims) shape(label, 'tspan', {dx: 6, 'font-size': 10, style: 'fill:#475467'}, chip.dims);
    }
  }
  G.over = shape(all, 'g', {'pointer-events': 'none'});
}

function value_text(i) {
  const v = P.values[i], lines = [called(v), v.shape];
  if (v.call >= 0) lines.push(`${phases[v.when]}, in #${v.call}`);
  if (v.kind !== 'flat') for (const x of v.inputs.slice(0, 6).map(k => P.values[k])) lines.push(`of ${called(x)}  ${x.shape}`);
  if (v.buffer >= 0) lines.push(`stored: ${bytes(P.buffers[v.buffer].bytes)} at ${P.buffers[v.buffer].offset}`);
  else if (v.call >= 0) lines.push(v.name.startsWith('new ') ? 'stored over what it replaces' : 'never stored');
  return lines.join('\n');
}
// Where a value comes from and goes to, over everything else.
let traced = -1;
function trace(i) {
  if (traced === i || !G.over) return;
  traced = i;
  G.over.replaceChildren();
  if (i < 0) return;
  const line = (a, b, color) => { if (a && b && a !== b) draw_link(G.over, a, b, color, 2.2); };
  const here = G.where.get(i);
  for (const input of P.values[i].inputs) { const s = source(input); if (s !== null) line(G.where.get(s), here, '#b54708'); }
  P.values.forEach((v, k) => {
    if ((v.call >= 0 || v.kind === 'flat') && v.inputs.some(input => source(input) === i)) line(here, G.where.get(k), '#175cd3');
  });
}

function set_view(x, y, k) {
  G.view = {x, y, k: Math.max(0.03, Math.min(4, k))};
  G.layer.setAttribute('transform', `translate(${G.view.x} ${G.view.y}) scale(${G.view.k})`);
}
function zoom(factor, px, py) {
  const v = G.view, k = Math.max(0.03, Math.min(4, v.k * factor));
  set_view(px - (px - v.x) * k / v.k, py - (py - v.y) * k / v.k, k);
}
function fit() {  // all of it
  const box = at('graph').getBoundingClientRect(), k = Math.min((box.width - 40) / G.w, (box.height - 40) / G.h, 1.3);
  set_view((box.width - G.w * k) / 2, (box.height - G.h * k) / 2, k);
}
function look_at(c) {
  const u = G.calls[c], box = at('graph').getBoundingClientRect(), k = Math.max(0.8, Math.min(G.view.k, 1.5));
  set_view(box.width / 2 - (u.x + u.w / 2) * k, Math.max(30, box.height / 2 - u.h * k / 2) - u.y * k, k);
  at('graph').scrollIntoView({behavior: 'smooth', block: 'nearest'});
  G.over.replaceChildren();
  const around = {x: u.x - 5, y: u.y - 5, w: u.w + 10, h: u.h + 10};
  draw_box(G.over, around, {rx: 9, fill: 'none', stroke: '#175cd3', 'stroke-width': 3});
}
)js";

inline constexpr std::string_view page_start = R"js(
function show_graph() {
  traced = -1;
  build_graph(at('ops').checked);
  draw_graph();
  tips(at('graph'), e => e.dataset.tip[0] === 'k' ? kernel_text(+e.dataset.tip.slice(1)) : value_text(+e.dataset.tip.slice(1)));
  find();
}
function find() {
  const wanted = at('find').value.trim().toLowerCase();
  const other = e => wanted !== '' && !e.dataset.text.toLowerCase().includes(wanted);
  for (const e of document.querySelectorAll('#graph .chip')) e.classList.toggle('dim', other(e));
}
function show(program) {
  P = program;
  sorted = [columns_shown().length - 1, -1];
  at('ops').checked = P.values.filter(v => v.call >= 0).length <= 1500;
  show_cards();
  show_memory();
  show_table();
  show_graph();
  fit();
}

at('title').textContent = data.title;
at('graph').addEventListener('mousemove', e => {
  const target = e.target.closest('[data-tip]');
  trace(target && target.dataset.tip[0] === 'v' ? +target.dataset.tip.slice(1) : -1);
});
at('ops').onchange = () => { show_graph(); fit(); };
at('find').oninput = find;
at('fit').onclick = fit;
const middle = () => { const b = at('graph').getBoundingClientRect(); return [b.width / 2, b.height / 2]; };
at('closer').onclick = () => zoom(1.4, ...middle());
at('further').onclick = () => zoom(1 / 1.4, ...middle());
at('graph').addEventListener('wheel', e => {
  e.preventDefault();
  const b = at('graph').getBoundingClientRect();
  zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), e.clientX - b.left, e.clientY - b.top);
}, {passive: false});
at('graph').onpointerdown = e => {
  const from = {...G.view}, x = e.clientX, y = e.clientY;
  at('graph').classList.add('drag');
  window.onpointermove = m => set_view(from.x + m.clientX - x, from.y + m.clientY - y, from.k);
  window.onpointerup = () => { window.onpointermove = window.onpointerup = null; at('graph').classList.remove('drag'); };
};
window.onresize = () => show_memory();
show(data.program);
)js";

}  // namespace tx::io::detail
