"""A chart of seconds against numbers of GPUs, both by powers of two, as SVG."""
import math
from html import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 780, 460, 84, 40, 170, 50
COLOURS = ["#4363d8", "#3c8a3c", "#c0392b", "#7d3c98", "#b9770e"]


def plot(title, lines, points):
    """lines: name -> [(GPUs, seconds)]; points: [(GPUs, seconds, name)], of runs that were measured."""
    shown = [p for line in lines.values() for p in line] + [(x, y) for x, y, _ in points]
    low_x, high_x = math.log2(min(x for x, _ in shown)), math.log2(max(x for x, _ in shown))
    low_y, high_y = math.floor(math.log2(min(y for _, y in shown))), math.ceil(math.log2(max(y for _, y in shown)))

    def at(x, y):
        across = (math.log2(x) - low_x) / (high_x - low_x or 1)
        up = (math.log2(y) - low_y) / (high_y - low_y or 1)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', f'<text x="{LEFT}" y="22" font-size="14">{escape(title)}</text>']
    for k in range(low_y, high_y + 1):
        x, y = at(2**low_x, 2.0**k)
        out.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{2.0**k:g} s</text>')
    for k in range(math.ceil(low_x), math.floor(high_x) + 1):
        x, y = at(2.0**k, 2.0**low_y)
        out.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{2**k}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">GPUs</text>')
    for (name, line), colour in zip(lines.items(), COLOURS):
        places = [at(*p) for p in line]
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        x, y = places[-1]
        out.append(f'<text x="{x + 10:.1f}" y="{y + 4:.1f}" fill="{colour}">{escape(name)}</text>')
    for x, y, name in points:
        px, py = at(x, y)
        out.append(f'<path d="M{px - 5:.1f} {py - 5:.1f}l10 10m0 -10l-10 10" stroke="black" stroke-width="2"><title>{escape(name)}</title></path>')
    if points:
        out.append(f'<text x="{WIDTH - RIGHT + 10}" y="{TOP + 8}">× published</text>')
    return "\n".join(out + ["</svg>", ""])
