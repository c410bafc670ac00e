"""Sets of code points as tables of C++, for the scripts beside it."""

POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def ranges(points):
    found = []
    for p in points:
        if found and found[-1][1] == p - 1:
            found[-1][1] = p
        else:
            found.append([p, p])
    return found


def lines(items, text, width=180):
    out, line = [], ""
    for item in items:
        piece = text(item) + ", "
        if len(line) + len(piece) > width:
            out.append(line.rstrip())
            line = ""
        line += piece
    return "\n".join("    " + l for l in [*out, line.rstrip(", ")])


def table(comment, kind, name, items, text):
    return f"// {comment}\ninline constexpr {kind} {name}[] = {{\n{lines(items, text)}}};\n\n"


def two(r):
    return f"{{0x{r[0]:X}, 0x{r[1]:X}}}"
