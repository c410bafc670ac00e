"""Which rules of a C++ source can be broken, and the source with a switch for each: what tools/mutate.py compiles."""
import hashlib
import re


def without_comments(text):
    """The same text with comments and strings blanked, so that places stay."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def closing(text, at):
    """The place of the bracket that closes the one at `at`."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    stack = []
    for i in range(at, len(text)):
        if text[i] in pairs:
            stack.append(pairs[text[i]])
        elif stack and text[i] == stack[-1]:
            stack.pop()
            if not stack:
                return i
    return -1


def split_at(text, first, end, operator):
    """Places of an operator at the outermost level of text[first:end]."""
    depth = 0
    places = []
    i = first
    while i < end:
        c = text[i]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith(operator, i):
            places.append(i)
            i += len(operator) - 1
        i += 1
    return places


class Mutation:
    def __init__(self, file, first, end, instead, what, source):
        self.file, self.first, self.end, self.instead, self.what = file, first, end, instead, what
        self.line = source.count("\n", 0, first) + 1
        line_first = source.rfind("\n", 0, first) + 1
        line_text = source[line_first:source.find("\n", first)].strip()
        old = re.sub(r"\s+", " ", source[first:end])
        new = re.sub(r"\s+", " ", instead)
        self.text = f"{old[:70]} -> {new[:70] if new else '(left out)'}"
        # Lines move; what is said of a mutation stays valid as long as the line reads as it did.
        self.key = hashlib.sha1(f"{file}|{line_text}|{first - line_first}|{instead}|{what}".encode()).hexdigest()[:10]


def operand_before(code, at):
    """Where the left operand of a comparison begins."""
    depth = 0
    i = at - 1
    while i >= 0:
        c = code[i]
        if c in ")]}":
            depth += 1
        elif c in "([{":
            if depth == 0:
                return i + 1
            depth -= 1
        elif depth == 0 and (c in ",;?:" and code[i - 1:i + 1] != "::" and code[i:i + 2] != "::" or code[i - 1:i + 1] in ("&&", "||") or
                             (c == "=" and code[i - 1] not in "<>=!" and code[i + 1] != "=")):
            return i + 1
        elif depth == 0 and re.match(r"return\b", code[i:i + 7]) and not code[i - 1].isalnum():
            return i + 6
        i -= 1
    return 0


def operand_behind(code, at):
    """Where the right operand of a comparison ends."""
    depth = 0
    for i in range(at, len(code)):
        c = code[i]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                return i
            depth -= 1
        elif depth == 0 and (c in ",;?" or code[i:i + 2] in ("&&", "||") or (c == ":" and code[i - 1] != ":" and code[i + 1] != ":")):
            return i
    return len(code)


def conditions(code):
    """(first, end) of expressions that decide something: in if, while, return, ?: and in bool const."""
    for m in re.finditer(r"\b(?:if|while)\s*(?:constexpr\s*)?\(", code):
        first = m.end()
        end = closing(code, m.end() - 1)
        semicolons = split_at(code, first, end, ";")
        yield (semicolons[-1] + 1 if semicolons else first), end
    for m in re.finditer(r"\bfor\s*\(", code):
        first, end = m.end(), closing(code, m.end() - 1)
        parts = split_at(code, first, end, ";")
        if len(parts) == 2 and ("&&" in code[parts[0]:parts[1]] or "||" in code[parts[0]:parts[1]]):
            yield parts[0] + 1, parts[1]
    for m in re.finditer(r"\b(?:return|bool const \w+ =|bool \w+ =|char const \w+ =|\w+ = static_cast<char>\()\s*", code):
        end = code.find(";", m.end())
        text = code[m.end():end]
        if "{" in text or "[" in text and "](" in text:
            continue
        if re.search(r"\s(&&|\|\||[<>=!]=|[<>])\s", text):
            yield m.end(), end


def functions(code):
    """(first, end, name) of the functions of a file."""
    for m in re.finditer(r"^[ ]*(?:static )?constexpr [^=;{}()]*?\b(\w+)\(", code, flags=re.M):
        close = closing(code, m.end() - 1)
        brace = re.match(r"[^;{}]*\{", code[close:])
        if close > 0 and brace:
            yield m.start(), closing(code, close + brace.end() - 1), m.group(1)


def find(file, source):
    code = without_comments(source)
    inside = list(functions(code))
    found = {}

    def add(first, end, instead, what):
        while first < end and code[first].isspace():
            first += 1
        while end > first and code[end - 1].isspace():
            end -= 1
        m = Mutation(file, first, end, instead, what, source)
        m.function = next((name for a, b, name in inside if a <= first < b), "")
        if source[first:end] != instead:
            found.setdefault((first, end, instead), m)

    def parts(first, end, operator):
        places = split_at(code, first, end, operator)
        if not places:
            return []
        cuts = [first] + [p + len(operator) for p in places]
        ends = places + [end]
        return list(zip(cuts, ends))

    def expression(first, end, whole=True):
        text = code[first:end].strip()
        if not text or "throw" in text:
            return
        if split_at(code, first, end, "?"):
            q = split_at(code, first, end, "?")[0]
            add(first, q, f"!({source[first:q].strip()})", "negated")
            return
        if whole:
            add(first, end, f"!({source[first:end].strip()})", "negated")
        for operator, neutral in (("||", "false"), ("&&", "true")):
            pieces = parts(first, end, operator)
            if pieces:
                for a, b in pieces:
                    add(a, b, f" {neutral} ", f"a part of {operator} left out")
                    inner = code[a:b].strip()
                    if inner.startswith("("):
                        s = code.index("(", a)
                        if closing(code, s) == b - 1 - (len(code[a:b]) - len(code[a:b].rstrip())):
                            expression(s + 1, closing(code, s), whole=False)
                    elif operator == "||":
                        expression(a, b, whole=False)
                return

    for first, end in conditions(code):
        if end > first:
            expression(first, end)
    for m in re.finditer(r"\s(<=|>=|<|>)\s", code):
        other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[m.group(1)]
        line = code[code.rfind("\n", 0, m.start()) + 1:m.start()]
        if "template" in line or (re.search(r"\bfor \([^;]*;[^;]*$", line) and m.group(1) == "<"):
            continue  # loops over all of a list: one more is no rule but a crash
        first, end = operand_before(code, m.start(1)), operand_behind(code, m.end(1))
        left, right = code[first:m.start(1)].strip(), code[m.end(1):end].strip()
        if re.match(rf"\)\s*({re.escape(left)} = {re.escape(right)}|{re.escape(right)} = {re.escape(left)})(?!\w)", code[end:]):
            continue  # the larger or the smaller of two: where they are equal there is nothing to choose
        add(first, end, source[first:m.start(1)] + other + source[m.end(1):end], "comparison")
    for m in re.finditer(r"\s[+-] (1)\b(?!\.)", code):
        if "for (" not in code[code.rfind("\n", 0, m.start()) + 1:m.start()]:
            add(m.start(1), m.end(1), "0", "off by one")
    for m in re.finditer(r"(?<=[\s{;])(\w+(?:\.\w+|_?\[[^\]]*\])*) = ([^=;{}]+|\{[^;{}]*\});", code):
        before = code[code.rfind("\n", 0, m.start()) + 1:m.start()].strip()
        if before and not before.endswith((")", ";", "{", "else")):
            continue  # a declaration
        if m.group(2).count("(") != m.group(2).count(")"):
            continue  # the last part of a for's head, and what it repeats
        add(m.start(), m.end(), ";", "an assignment left out")
    for m in re.finditer(r"(?<=[\s{;])([a-z_]\w*(?:\.\w+)*\([^;{}]*\));", code):
        before = code[code.rfind("\n", 0, m.start()) + 1:m.start()].strip()
        if before and not before.endswith((")", ";", "{", "else")):
            continue
        if re.match(r"(if|for|while|switch|return|throw|static_assert)\b|[\w.]*reserve\(", m.group(1)):
            continue
        add(m.start(), m.end(), ";", "a call left out")
    return sorted(found.values(), key=lambda m: (m.first, m.end))


def with_switches(source, mutations):
    """The source with all mutations in it, each behind its number. Those that overlap others in part are left out."""
    statements = ("an assignment left out", "a call left out")
    chosen = []
    for m in sorted(mutations, key=lambda m: (m.first, -m.end)):
        if all(m.end <= c.first or m.first >= c.end or (m.first >= c.first and m.end <= c.end) for c in chosen):
            chosen.append(m)

    def text(first, end, inside):
        out, at, k = [], first, 0
        while k < len(inside):
            m = inside[k]
            inner = []
            k += 1
            while k < len(inside) and inside[k].first < m.end:
                inner.append(inside[k])
                k += 1
            out.append(source[at:m.first])
            whole = text(m.first, m.end, inner)
            if m.what in statements:
                out.append(f"if (tx_mutant == {m.number}) {{}} else {whole}")
            else:
                out.append(f"(tx_mutant == {m.number} ? ({m.instead}) : ({whole}))".replace("\n", " ") if "\n" not in source[m.first:m.end]
                           else f"(tx_mutant == {m.number} ? ({m.instead}) : ({whole}))")
            at = m.end
        out.append(source[at:end])
        return "".join(out)

    return text(0, len(source), chosen), chosen


def at_run_time(text):
    """Functions that need not be evaluated while compiling: a constant expression cannot read which rule is broken."""
    out = []
    for line in text.split("\n"):
        constant = re.search(r"\b(inline|static) constexpr [\w:<>]+(?:\[\])? \w+(\[\w*\])?\s*(=|\{)", line) or re.search(r"if constexpr|\bconstexpr auto\b|^\s+constexpr [\w:]+ \w+(\[\])? =", line)
        out.append(line if constant else re.sub(r"\bconstexpr\s", "inline ", line))
    return "\n".join(out)


def with_bounds(text):
    """Lists that refuse to be read beyond their ends, as constant evaluation refuses it."""
    checked = text.replace("{ return data_[i]; }", '{ if (i < 0 || i >= size_) throw "a list is read beyond its end"; return data_[i]; }')
    checked = checked.replace("{ return data_[size_ - 1]; }", '{ if (size_ == 0) throw "the last of nothing"; return data_[size_ - 1]; }')
    return checked.replace("{ --size_; }", '{ if (size_-- == 0) throw "the last of nothing"; }')
