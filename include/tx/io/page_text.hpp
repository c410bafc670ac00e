// What stands on the page of a program before its script has filled it, and how it looks.
#pragma once

#include <string_view>

namespace tx::io::detail {

inline constexpr std::string_view page_style = R"css(
:root { --ink: #1f2430; --soft: #667085; --line: #e4e7ec; --ground: #f7f8fa; --accent: #2f6fde; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); }
body { font: 14px/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 1440px; margin: 0 auto; padding: 20px 24px 48px; }
header { display: flex; align-items: baseline; gap: 16px; flex-wrap: wrap; }
h1 { font-size: 20px; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 15px; margin: 0; }
section { background: #fff; border: 1px solid var(--line); border-radius: 10px; margin-top: 16px; padding: 14px 16px; }
.bar { display: flex; align-items: center; gap: 12px; flex-wrap: wrap; margin-bottom: 10px; }
.bar .legend { color: var(--soft); font-size: 12px; margin-left: auto; display: flex; gap: 14px; align-items: center; flex-wrap: wrap; }
.key { display: inline-block; width: 14px; height: 10px; border-radius: 2px; vertical-align: -1px; }
.key { margin-right: 5px; border: 1px solid #0002; }
#cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(132px, 1fr)); gap: 10px; margin-top: 16px; }
.card { background: #fff; border: 1px solid var(--line); border-radius: 10px; padding: 10px 14px; }
.card b { display: block; font-size: 19px; font-weight: 600; font-variant-numeric: tabular-nums; }
.card span { color: var(--soft); font-size: 12px; }
button, select, input { font: inherit; color: inherit; background: #fff; border: 1px solid #cfd4dc; border-radius: 6px; padding: 3px 10px; }
button:hover { border-color: var(--accent); color: var(--accent); }
#scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; font-size: 12.5px; font-variant-numeric: tabular-nums; }
th { position: sticky; top: 0; z-index: 1; background: #f2f4f7; text-align: right; font-weight: 600; padding: 6px 10px; }
th { cursor: pointer; white-space: nowrap; }
td { text-align: right; padding: 4px 10px; border-top: 1px solid #f0f1f4; white-space: nowrap; }
th.text, td.text { text-align: left; }
td.ops { white-space: normal; min-width: 320px; }
tbody tr { cursor: pointer; }
tbody tr:hover, tbody tr.on { background: #eef4ff; }
.phase { display: inline-block; min-width: 64px; font-size: 11px; text-align: center; border-radius: 9px; padding: 0 7px; color: #344054; }
.phase0 { background: #dbeafe; } .phase1 { background: #fde8d0; } .phase2 { background: #d9f2df; }
.share { display: inline-block; width: 70px; height: 8px; background: #eef0f3; border-radius: 4px; overflow: hidden; }
.share i { display: block; height: 100%; background: var(--accent); }
svg { display: block; width: 100%; user-select: none; }
svg text { font-family: inherit; fill: var(--ink); }
#graph { height: 760px; border: 1px solid var(--line); border-radius: 6px; cursor: grab; touch-action: none; background: #fcfcfd; }
#graph.drag { cursor: grabbing; }
.axis { font-size: 11px; fill: var(--soft); }
.tip { position: fixed; z-index: 9; display: none; pointer-events: none; background: #111827f2; color: #fff; }
.tip { border-radius: 6px; padding: 7px 10px; font-size: 12px; max-width: 440px; white-space: pre-line; overflow-wrap: anywhere; }
.dim { opacity: 0.15; }
)css";

inline constexpr std::string_view page_body = R"html(<body><main>
<header><h1 id="title"></h1><select id="program" hidden></select></header>
<div id="cards"></div>
<section><div class="bar"><h2>Memory</h2><span id="memory-note" class="axis"></span>
<span class="legend"><span><i class="key" style="background:#9db7e8"></i>a buffer, coloured by the kernel that fills it</span>
<span><i class="key" style="background:#d0d5dd"></i>scratch of one kernel</span>
<span><i class="key" style="background:#f1edfb"></i>repeated</span><span style="color:#b42318">- - peak</span></span></div>
<svg id="memory"></svg></section>
<section><div class="bar"><h2>Kernels</h2>
<span class="axis">those with the largest share first; click a column to sort, # for the order they run in, a row to see it in the graph</span></div>
<div id="scroll"><table><thead></thead><tbody></tbody></table></div></section>
<section><div class="bar"><h2>Graph</h2><button id="fit">whole</button><button id="closer">+</button><button id="further">&minus;</button>
<label><input type="checkbox" id="ops"> ops</label><input id="find" placeholder="find an op, a name, a shape" size="22">
<span class="legend"><span><i class="key" style="background:#c9daf8"></i>ops of one kernel have one colour</span>
<span><i class="key" style="background:#fff;border-style:dashed;border-color:#667085"></i>from outside</span>
<span><i class="key" style="background:#f1edfb"></i>repeated</span><span>drag, zoom with the wheel, point at an op</span></span></div>
<svg id="graph"></svg></section>
</main><div class="tip" id="tip"></div>
)html";

}  // namespace tx::io::detail
