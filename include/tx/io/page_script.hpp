// The script of a program's page: figures, the table of kernels, the timeline of the arena. Names reach the page as
// text nodes only.
#pragma once

#include <string_view>

namespace tx::io::detail {

inline constexpr std::string_view page_script = R"js(
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const at = id => document.getElementById(id);
const phases = ['forward', 'backward', 'update'];
let P = null;  // the program shown

function element(tag, attributes = {}, text) {
  const e = document.createElement(tag);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (text !== undefined) e.textContent = text;
  return e;
}
const space = at('graph').namespaceURI;
function shape(parent, tag, attributes, text) {
  const e = document.createElementNS(space, tag);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (text !== undefined) e.textContent = text;
  parent.appendChild(e);
  return e;
}
function scaled(x, units) {
  let i = 0;
  while (x >= 999.5 && i + 1 < units.length) { x /= 1000; ++i; }
  return (i === 0 ? String(x) : x.toPrecision(3)) + units[i];
}
const bytes = x => scaled(x, [' B', ' kB', ' MB', ' GB', ' TB']);
const flops = x => scaled(x, ['', ' k', ' M', ' G', ' T', ' P']);
const short = (s, n) => s.length > n ? s.slice(0, Math.max(1, n - 1)) + '\u2026' : s;
const ending = (s, n) => s.length > n ? '\u2026' + s.slice(1 - n) : s;
// Neighbouring kernels differ most: the golden angle.
const hue = c => (c * 137.508 + 215) % 360;
const fill = c => c < 0 ? '#d0d5dd' : `hsl(${hue(c)} 62% 82%)`;
const edge = c => c < 0 ? '#98a2b3' : `hsl(${hue(c)} 42% 48%)`;
const called = v => v.op + (v.name ? '  ' + v.name : '');
function loops_of(region) {
  const all = [];
  for (let r = region; r > 0; r = P.regions[r].parent) all.unshift('\u00d7 ' + P.regions[r].iterations);
  return all.join(' ');
}
function ops_of(name, n) {
  const ops = name.split(' + ');
  return ops.length <= n ? name : ops.slice(0, n).join(' + ') + ` + ${ops.length - n} more`;
}

function tip(event, text) {
  const t = at('tip');
  t.style.display = text ? 'block' : 'none';
  if (!text) return;
  t.textContent = text;
  const r = t.getBoundingClientRect();
  t.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - r.width - 8)) + 'px';
  t.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - r.height - 8)) + 'px';
}
// Texts of what lies under the pointer are made when they are asked for.
function tips(svg, text_of) {
  svg.onmousemove = e => {
    const target = e.target.closest('[data-tip]');
    tip(e, target ? text_of(target) : '');
    mark(target && target.dataset.call !== undefined ? +target.dataset.call : -1);
  };
  svg.onmouseleave = () => { tip(null, ''); mark(-1); };
}
let marked = -1;
function mark(c) {
  if (c === marked) return;
  for (const e of document.querySelectorAll('.on')) e.classList.remove('on');
  marked = c;
  if (c >= 0) for (const e of document.querySelectorAll(`tr[data-call="${c}"]`)) e.classList.add('on');
}

function kernel_text(c) {
  const k = P.calls[c];
  const where = [phases[k.when], space_of(k), k.depth ? `summed over ${k.depth}` : ''].filter(x => x).join(', ');
  const lines = [`#${c}  ${k.name}`, where];
  if (k.parameters.length) lines.push('reads ' + k.parameters.join(', '));
  if (k.runs > 1) lines.push(`runs ${k.runs} times in a step`);
  if (k.band >= 0) lines.push(`in bands of ${P.bands[k.band].each} of ${P.bands[k.band].matrices} matrices`);
  lines.push(`${flops(k.flops)}FLOP, ${bytes(k.bytes)} read and written`);
  if (k.timed) lines.push(`${(1e3 * k.seconds).toFixed(3)} ms` + (k.runs > 1 ? ' in all' : ''));
  return lines.join('\n');
}

function show_cards() {
  const m = P.memory, box = at('cards');
  box.replaceChildren();
  const card = (value, text) => {
    const c = element('div', {class: 'card'});
    c.append(element('b', {}, value), element('span', {}, text));
    box.append(c);
  };
  const sum = f => P.calls.reduce((s, k) => s + f(k), 0);
  card(bytes(m.peak), 'peak: parameters, state, arena');
  card(bytes(m.parameters), 'parameters');
  card(bytes(m.optimizer), 'optimizer state');
  card(bytes(m.arena), m.arena === P.arena ? 'arena' : 'arena, and summed gradients');
  card(bytes(m.activations), 'of it kept for backward');
  card(bytes(m.workspace), 'scratch at most');
  card(`${P.calls.length} / ${sum(k => k.runs)}`, `kernels in the program / run, ${P.kernels} distinct`);
  card(flops(sum(k => k.flops * k.runs)) + 'FLOP', 'a run' + (m.recomputed_flops ? `, ${flops(m.recomputed_flops)} of them again` : ''));
  if (P.calls.some(k => k.timed)) card((1e3 * sum(k => k.seconds)).toFixed(1) + ' ms', 'in kernels');
}

const columns = [
  ['#', c => c, c => String(c)],
  ['Kernel', c => P.calls[c].name, null, 'text'],
  ['Parameters', c => P.calls[c].parameters.join(), c => short(P.calls[c].parameters.join(', '), 40), 'text'],
  ['Phase', c => P.calls[c].when, null, 'text'],
  ['Repeated', c => P.calls[c].runs, c => [loops_of(P.calls[c].region), P.calls[c].band >= 0 ? 'bands' : ''].join(' ').trim(), 'text'],
  ['Rows \u00d7 cols', c => P.calls[c].rows * P.calls[c].cols, c => space_of(P.calls[c])],
  ['Depth', c => P.calls[c].depth, c => P.calls[c].depth ? String(P.calls[c].depth) : ''],
  ['FLOP', c => P.calls[c].flops, c => flops(P.calls[c].flops)],
  ['Bytes', c => P.calls[c].bytes, c => bytes(P.calls[c].bytes)],
  ['FLOP/B', c => P.calls[c].flops / Math.max(1, P.calls[c].bytes), c => (P.calls[c].flops / Math.max(1, P.calls[c].bytes)).toFixed(1)],
  ['ms', c => P.calls[c].seconds, c => (1e3 * P.calls[c].seconds).toFixed(3), 'timed'],
  ['GFLOP/s', c => rate(P.calls[c]), c => rate(P.calls[c]).toFixed(1), 'timed'],
  ['Share', c => weight(c), null],
];
const space_of = k => k.rows * k.cols > 0 ? `${k.rows} \u00d7 ${k.cols}` : '';  // none: it sees whole operands
const rate = k => k.seconds > 0 ? 1e-9 * k.flops * k.runs / k.seconds : 0;
// Of a kernel: of the time where it was measured, else of the FLOPs.
const weight = c => P.calls[c].timed ? P.calls[c].seconds : P.calls[c].flops * P.calls[c].runs;
const is_timed = () => P.calls.some(k => k.timed);
const columns_shown = () => columns.filter(x => x[3] !== 'timed' || is_timed());
let sorted = [0, 1];  // which of these, and which way

function show_table() {
  const timed = is_timed(), shown = columns_shown();
  const head = element('tr');
  for (const [i, column] of shown.entries()) {
    const label = column[0] === 'Share' ? (timed ? 'Share of time' : 'Share of FLOP') : column[0];
    const h = element('th', column[3] === 'text' ? {class: 'text'} : {}, label);
    h.onclick = () => { sorted = [i, sorted[0] === i ? -sorted[1] : i < 3 ? 1 : -1]; show_table(); };
    head.append(h);
  }
  document.querySelector('thead').replaceChildren(head);
  const order = P.calls.map((_, c) => c);
  const key = shown[Math.min(sorted[0], shown.length - 1)][1];
  order.sort((a, b) => sorted[1] * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) || a - b);
  const all = order.reduce((s, c) => s + weight(c), 0) || 1;
  const most = Math.max(...order.map(weight), 1e-30);
  document.querySelector('tbody').replaceChildren(...order.map(c => {
    const row = element('tr', {'data-call': c});
    for (const column of shown) {
      const cell = element('td', column[3] === 'text' ? {class: 'text'} : {}, column[2] ? column[2](c) : '');
      if (column[0] === 'Kernel') {
        cell.className = 'text ops';
        cell.append(element('i', {class: 'key', style: `background:${fill(c)};border-color:${edge(c)}`}), ops_of(P.calls[c].name, 7));
        cell.title = P.calls[c].name;
      }
      if (column[0] === 'Phase') cell.append(element('span', {class: 'phase phase' + P.calls[c].when}, phases[P.calls[c].when]));
      if (column[0] === 'Share') {
        const bar = element('span', {class: 'share'});
        bar.append(element('i', {style: `width:${100 * weight(c) / most}%`}));
        cell.append((100 * weight(c) / all).toFixed(1) + '% ', bar);
      }
      row.append(cell);
    }
    row.onclick = () => look_at(c);
    return row;
  }));
}

// x: moments, which are kernels and the ends of loops; y: addresses of the arena.
function show_memory() {
  const svg = at('memory'), W = Math.max(700, svg.clientWidth || 1200), H = 420, left = 74, right = 14, top = 26, bottom = 46;
  svg.replaceChildren();
  svg.setAttribute('viewBox', `0 0 ${W} ${H}`);
  svg.style.height = H + 'px';
  const size = Math.max(1, P.arena), n = Math.max(1, P.moments);
  const X = t => left + t * (W - left - right) / n, Y = b => H - bottom - b * (H - top - bottom) / size;
  P.regions.forEach((r, i) => {
    if (i === 0 || r.last <= r.first) return;
    shape(svg, 'rect', {x: X(r.first), y: top, width: X(r.last + 1) - X(r.first), height: H - top - bottom + 18, fill: '#f1edfb'});
    shape(svg, 'text', {x: (X(r.first) + X(r.last + 1)) / 2, y: H - bottom + 14, 'text-anchor': 'middle', class: 'axis'},
          `\u00d7 ${r.iterations}${r.reversed ? ', backwards' : ''}`);
  });
  const step = Math.pow(10, Math.floor(Math.log10(size))), tick = size / step > 5 ? step : size / step > 2 ? step / 2 : step / 5;
  for (let b = 0; b <= size; b += tick) {
    shape(svg, 'line', {x1: left, x2: W - right, y1: Y(b), y2: Y(b), stroke: '#e4e7ec'});
    shape(svg, 'text', {x: left - 8, y: Y(b) + 4, 'text-anchor': 'end', class: 'axis'}, bytes(Math.round(b)));
  }
  const values = P.buffers.map(() => []);
  P.values.forEach((v, i) => { if (v.buffer >= 0) values[v.buffer].push(i); });
  const live = new Array(n + 1).fill(0);
  P.buffers.forEach((b, i) => {
    for (let t = b.first; t <= b.last; ++t) live[t] += b.bytes;
    const maker = b.scratch_of >= 0 ? -1 : values[i].map(v => P.values[v]).find(v => v.call >= 0)?.call ?? -1;
    const x = X(b.first), w = X(b.last + 1) - x, y = Y(b.offset + b.bytes), h = Y(b.offset) - y;
    const r = shape(svg, 'rect', {x, y, width: w, height: Math.max(h, 0.3), fill: fill(maker), stroke: edge(maker),
                                  'stroke-width': Math.min(0.7, h / 6), 'data-tip': 'b' + i});
    if (maker >= 0) r.dataset.call = maker;
    if (w < 44 || h < 13) return;
    const held = values[i].map(v => P.values[v]), v = held.find(v => v.kind === 'flat') ?? held.find(v => v.name) ?? held[0];
    const text = short(b.scratch_of >= 0 ? 'scratch' : `${v.name || v.op}  ${v.shape}`, Math.floor((w - 8) / 6.2));
    shape(svg, 'text', {x: x + 5, y: y + Math.min(h / 2 + 4, 15), 'font-size': 11, 'pointer-events': 'none'}, text);
  });
  const peak = live.indexOf(Math.max(...live)), middle = (X(peak) + X(peak + 1)) / 2;
  const red = {stroke: '#b42318', 'stroke-dasharray': '4 3', 'pointer-events': 'none'};
  shape(svg, 'line', {x1: middle, x2: middle, y1: top - 6, y2: H - bottom, ...red});
  const side = middle > W - 260 ? 'end' : 'start', c = P.calls.findIndex(k => k.moment === peak);
  shape(svg, 'text', {x: middle + (side === 'end' ? -6 : 6), y: top - 10, 'text-anchor': side, 'font-size': 12, style: 'fill:#b42318'},
        `${bytes(P.largest_live)} live` + (c >= 0 ? ` at #${c} ${ops_of(P.calls[c].name, 2)}` : ''));
  P.calls.forEach((k, i) => {  // a strip to point at each kernel
    const width = Math.max(0.5, X(k.moment + 1) - X(k.moment) - 0.6), color = {fill: fill(i), stroke: edge(i), 'stroke-width': 0.4};
    shape(svg, 'rect', {x: X(k.moment), y: H - 22, width, height: 9, ...color, 'data-tip': 'k' + i, 'data-call': i});
  });
  shape(svg, 'text', {x: left - 8, y: H - 14, 'text-anchor': 'end', class: 'axis'}, 'kernels');
  shape(svg, 'text', {x: left - 8, y: 12, 'text-anchor': 'end', class: 'axis'}, 'address');
  const lost = 100 * P.arena / Math.max(1, P.largest_live) - 100;
  at('memory-note').textContent = `the arena, ${bytes(P.arena)}; ${lost.toFixed(1)}% more than what is live at its most`;
  tips(svg, e => {
    const i = +e.dataset.tip.slice(1);
    if (e.dataset.tip[0] === 'k') return kernel_text(i);
    const b = P.buffers[i];
    const range = `${bytes(b.bytes)} at ${b.offset}`;
    if (b.scratch_of >= 0) return `scratch of #${b.scratch_of}\n${range}`;
    const lines = values[i].map(v => P.values[v]).map(v => `${called(v)}  ${v.shape}` + (v.call >= 0 ? `  (#${v.call})` : ''));
    return [...lines.slice(0, 8), ...(lines.length > 8 ? [`and ${lines.length - 8} more`] : []), range].join('\n');
  });
}
)js";

}  // namespace tx::io::detail
