// The script of a program's page: the graph as nested boxes. Ops are laid out within their kernel, kernels within the
// program or a repeated region; links between kernels are counted once.
#pragma once

#include <string_view>

namespace tx::io::detail {

inline constexpr std::string_view page_graph = R"js(
const wide_text = (s, size) => s.length * size * 0.59;
let G = null;  // what is drawn: units, chips of values, the view

// The kernel (or flat block) whose result an operand is; null for what comes from outside.
function source(v) {
  const x = P.values[v];
  if (!x) return null;
  if (x.kind === 'result') return source(x.inputs[1]);
  return x.call >= 0 || x.kind === 'flat' ? v : null;
}
const unit_of = v => P.values[v].call >= 0 ? G.calls[P.values[v].call] : G.flats.get(v);

function kernel_unit(c, ops) {
  const k = P.calls[c], u = {call: c, region: k.region, order: c, chips: [], lines: []};
  u.title = `#${c}  ` + ops_of(k.name, ops ? 2 : 3);
  u.note = space_of(k) + (k.flops ? ` \u00b7 ${flops(k.flops)}FLOP` : '');
  u.w = Math.max(wide_text(u.title, 12), wide_text(u.note, 10)) + 18;
  u.h = 38;
  if (!ops) return u;
  const own = [], index = new Map();
  P.values.forEach((v, i) => { if (v.call === c && v.kind !== 'region') own.push(i); });
  const inside = new Set(own);
  const add = (v, pill) => {
    const x = P.values[v];
    const label = pill ? ending(x.name || x.op, 26) : x.op;
    const dims = pill || x.inputs.some(i => inside.has(i) && P.values[i].shape === x.shape) ? '' : x.shape;
    index.set((pill ? 'p' : 'v') + v, u.chips.length);
    const w = wide_text(label, 11) + (dims ? wide_text(dims, 10) + 8 : 0) + 14;
    u.chips.push({v, pill, label, dims, order: pill ? -1 : v, w, h: pill ? 17 : 20});
  };
  for (const v of own) {
    for (const i of P.values[v].inputs) {
      const x = P.values[i];
      if (!x || index.has('p' + i) || !(x.kind === 'outside' || x.kind === 'argument') || x.op === 'scalar') continue;
      add(i, true);
    }
    add(v, false);
  }
  for (const v of own)
    for (const i of P.values[v].inputs) {
      const from = index.get('v' + i) ?? index.get('p' + i);
      if (from !== undefined) u.lines.push([from, index.get('v' + v)]);
    }
  const size = place(u.chips, u.lines, 560, 8, 12);
  u.inset = {x: Math.max(8, (u.w - size.w) / 2), y: 36};
  u.w = Math.max(u.w, size.w + 16);
  u.h = size.h + u.inset.y + 8;
  return u;
}

// Children of a region and the links between them, lifted from what lies deeper.
function place_region(r) {
  const children = [...G.calls, ...G.flats.values()].filter(u => u.region === r);
  P.regions.forEach((region, i) => {
    if (i === 0 || region.parent !== r || !G.calls.some(u => within(u.region, i))) return;
    const inner = place_region(i);
    const order = Math.min(...inner.children.map(u => u.order));
    G.regions[i] = {of: i, region: r, order, ...inner, w: Math.max(inner.w + 28, 150), h: inner.h + 46, inset: {x: 14, y: 32}};
    children.push(G.regions[i]);
  });
  const lifted = u => {
    while (u && u.region !== r) u = u.region > 0 ? G.regions[u.region] ?? {region: P.regions[u.region].parent} : null;
    return children.indexOf(u);
  };
  const links = G.links.map(([a, b]) => [lifted(a), lifted(b)]).filter(([a, b]) => a >= 0 && b >= 0 && a !== b);
  const unique = [...new Map(links.map(l => [l.join(), l])).values()];
  const {w, h} = place(children, unique, 2400, 26, 46);
  return {children, w, h};
}
function within(region, of) {
  for (; region > 0; region = P.regions[region].parent) if (region === of) return true;
  return region === of;
}

const is_number = u => u.call !== undefined && P.calls[u.call].rows * P.calls[u.call].cols === 1;

function build_graph(ops) {
  G = {calls: [], flats: new Map(), regions: [], links: [], where: new Map(), view: G?.view};
  G.calls = P.calls.map((_, c) => kernel_unit(c, ops));
  P.values.forEach((v, i) => {
    if (v.kind !== 'flat' || v.call >= 0) return;
    const after = v.inputs.map(source).filter(s => s !== null && P.values[s].call >= 0).map(s => P.values[s].call);
    G.flats.set(i, {flat: i, region: v.region, order: Math.max(-1, ...after) + 0.5, w: wide_text(v.shape, 11) + 90, h: 24});
  });
  const seen = new Set();
  P.values.forEach((v, i) => {
    if (v.call < 0 && v.kind !== 'flat' && v.kind !== 'region') return;
    const to = v.kind === 'region' ? {region: v.of, order: 'r' + v.of, enters: v.of} : unit_of(i);  // its first carries
    for (const input of v.inputs) {
      const s = source(input);
      if (s === null) continue;
      const from = unit_of(s), key = from.order + '>' + to.order;
      if (from === to || seen.has(key) || is_number(from)) continue;  // the optimizer's numbers go everywhere
      seen.add(key);
      G.links.push([from, to]);
    }
  });
  const root = place_region(0);
  const absolute = (u, x, y) => {
    u.x += x; u.y += y;
    for (const chip of u.chips ?? []) {
      chip.x += u.x + u.inset.x; chip.y += u.y + u.inset.y;
      if (!chip.pill) G.where.set(chip.v, chip);
    }
    for (const child of u.children ?? []) absolute(child, u.x + u.inset.x, u.y + u.inset.y);
  };
  for (const u of root.children) absolute(u, 0, 0);
  for (const [v, u] of G.flats) G.where.set(v, u);
  G.w = root.w; G.h = root.h;
  P.values.forEach((v, i) => { if (v.call >= 0 && !G.where.has(i)) G.where.set(i, G.calls[v.call]); });
}
)js";

}  // namespace tx::io::detail
