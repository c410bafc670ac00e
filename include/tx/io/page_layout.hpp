// The script of a program's page: boxes that depend on each other, laid out in rows (layers by longest path, order
// within them by barycentres: Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system
// structures", 1981).
#pragma once

#include <string_view>

namespace tx::io::detail {

inline constexpr std::string_view page_layout = R"js(
// Gives each box {w, h, order} its {x, y} and returns the size of all. links: pairs of boxes; a box lies below those it
// depends on, rows wider than `wide` are broken.
function place(boxes, links, wide, gapX, gapY) {
  const n = boxes.length, rank = new Array(n);
  const sequence = boxes.map((_, i) => i).sort((a, b) => boxes[a].order - boxes[b].order || a - b);
  sequence.forEach((b, i) => { rank[b] = i; });
  const ins = boxes.map(() => []), outs = boxes.map(() => []), level = new Array(n).fill(0), center = new Array(n).fill(0);
  for (const [a, b] of links) if (rank[a] < rank[b]) { outs[a].push(b); ins[b].push(a); }
  for (const b of sequence) for (const a of ins[b]) level[b] = Math.max(level[b], level[a] + 1);
  for (const b of [...sequence].reverse())  // what depends on nothing lies near its reader
    if (!ins[b].length && outs[b].length) level[b] = Math.min(...outs[b].map(o => level[o])) - 1;
  let rows = [];
  for (const b of sequence) (rows[level[b]] ??= []).push(b);
  rows = rows.filter(r => r);
  const pack = row => {
    let x = -row.reduce((s, b) => s + boxes[b].w + gapX, 0) / 2;
    for (const b of row) { center[b] = x + boxes[b].w / 2; x += boxes[b].w + gapX; }
  };
  const mean = (list, own) => list.length ? list.reduce((s, b) => s + center[b], 0) / list.length : own;
  rows.forEach(pack);
  for (let sweep = 0; sweep < 6; ++sweep) {
    const near = sweep % 2 ? outs : ins;
    for (const row of sweep % 2 ? [...rows].reverse() : rows) {
      const wanted = new Map(row.map(b => [b, mean(near[b], center[b])]));
      row.sort((a, b) => wanted.get(a) - wanted.get(b) || rank[a] - rank[b]);
      pack(row);
    }
  }
  rows = rows.flatMap(row => {
    const parts = [[]];
    let used = 0;
    for (const b of row) {
      if (used > 0 && used + boxes[b].w > wide) { parts.push([]); used = 0; }
      parts.at(-1).push(b);
      used += boxes[b].w + gapX;
    }
    return parts;
  });
  rows.forEach(pack);
  // The centres nearest to those wanted that keep order and gaps: neighbours that collide move as one.
  const settle = (row, near) => {
    const groups = [];
    let offset = 0;
    row.forEach((b, i) => {
      if (i > 0) offset += (boxes[row[i - 1]].w + boxes[b].w) / 2 + gapX;
      let g = {sum: mean(near[b], center[b]) - offset, count: 1, members: [[b, offset]]};
      while (groups.length && groups.at(-1).sum / groups.at(-1).count > g.sum / g.count) {
        const before = groups.pop();
        g = {sum: before.sum + g.sum, count: before.count + g.count, members: [...before.members, ...g.members]};
      }
      groups.push(g);
    });
    for (const g of groups) for (const [b, o] of g.members) center[b] = g.sum / g.count + o;
  };
  const both = boxes.map((_, b) => [...ins[b], ...outs[b]]);
  for (const near of [ins, outs, ins, both]) for (const row of near === outs ? [...rows].reverse() : rows) settle(row, near);
  let y = 0, first = Infinity, last = 0;
  boxes.forEach((b, i) => { first = Math.min(first, center[i] - b.w / 2); });
  for (const row of rows) {
    for (const b of row) {
      boxes[b].x = center[b] - boxes[b].w / 2 - first;
      boxes[b].y = y;
      last = Math.max(last, boxes[b].x + boxes[b].w);
    }
    y += Math.max(...row.map(b => boxes[b].h)) + gapY;
  }
  return {w: last, h: Math.max(0, y - gapY)};
}
)js";

}  // namespace tx::io::detail
