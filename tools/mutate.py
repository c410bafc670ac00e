#!/usr/bin/env python3
"""Usage: mutate.py [--files NAME...] [--sample N] [--seeds N] [--jobs N] [--list] [--survivors FILE]

Breaks the rules of fusion, placement, bands, memory and lowering one by one and looks whether the drawn programs notice. Rules are found in the
sources: a condition is negated, a part of `a || b` or `a && b` is left out, a comparison includes its limit or no longer does, a `+ 1` is
taken away, an assignment or a call is left out.

All are compiled at once: in a copy of the headers each rule becomes `(tx_mutant == 17 ? broken : rule)`, and the number is read when the program
starts. A mutant is

  caught     a program computes something else, reads what it must not, or is refused
  looped     it does not end in time
  worse      all programs are right, but plans have more kernels or a larger arena: a rule of performance
  refused    it does not compile
  explained  nobody notices, and tools/mutations.txt has the reason
  SURVIVED   nobody notices: the drawn programs must learn to, or the reason be given
  BETTER     all programs are right, and plans are smaller: the rule may be too strict, or guard what is not drawn

The exit status is 1 if fewer than 95 of 100 are caught or worse, or one survives without a reason.
"""
import argparse
import concurrent.futures
import hashlib
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = [f"passes/{n}.hpp" for n in ("stride", "storage", "storage_order", "assign_storage", "fuse", "grouping", "fusion", "bands", "memory", "schedule")] + [
    f"exec/{n}.hpp" for n in ("addresses", "arena", "lower", "timeline")]


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
        if "&&" in text or "||" in text or re.search(r"[<>=!]=|\s[<>]\s", text):
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

    def parts(first, end, operator, neutral):
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
            pieces = parts(first, end, operator, neutral)
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
        add(first, end, source[first:m.start(1)] + other + source[m.end(1):end], "comparison")
    for m in re.finditer(r"\s[+-] (1)\b(?!\.)", code):
        if "for (" not in code[code.rfind("\n", 0, m.start()) + 1:m.start()]:
            add(m.start(1), m.end(1), "0", "off by one")
    for m in re.finditer(r"(?<=[\s{;])(\w+(?:\.\w+|_?\[[^\]]*\])*) = ([^=;{}]+|\{[^;{}]*\});", code):
        before = code[code.rfind("\n", 0, m.start()) + 1:m.start()].strip()
        if before and not before.endswith((")", ";", "{", "else")):
            continue  # a declaration
        add(m.start(), m.end(), ";", "an assignment left out")
    for m in re.finditer(r"(?<=[\s{;])([a-z_]\w*(?:\.\w+)*\([^;{}]*\));", code):
        before = code[code.rfind("\n", 0, m.start()) + 1:m.start()].strip()
        if before and not before.endswith((")", ";", "{", "else")):
            continue
        if re.match(r"(if|for|while|switch|return|throw|static_assert)\b|\w*reserve\(", m.group(1)):
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


class Builder:
    def __init__(self, folder, compiler, seeds):
        self.folder, self.compiler, self.seeds = folder, compiler, seeds
        self.program = os.path.join(folder, "drawn")
        self.but = []

    def compile(self, source, include, extra=()):
        out = os.path.join(self.folder, os.path.basename(source)[:-4] + ".o")
        done = subprocess.run([self.compiler, "-std=c++20", "-O1", "-w", "-fmax-errors=0", *extra, f"-I{include}", "-c", source, "-o", out], capture_output=True, text=True)
        return out, done

    # One program that holds all mutations; returns those that it does hold.
    def build(self, mutations):
        include = os.path.join(self.folder, "include")
        shutil.copytree(os.path.join(ROOT, "include"), include)
        switch = os.path.join(self.folder, "switch.hpp")
        with open(switch, "w") as f:
            f.write('#include <cstdlib>\ninline int const tx_mutant = std::getenv("TX_MUTANT") ? std::atoi(std::getenv("TX_MUTANT")) : 0;\n')
        for number, m in enumerate(mutations, 1):
            m.number = number
        originals = {}
        for folder in ("passes", "exec"):
            for name in os.listdir(os.path.join(include, "tx", folder)):
                path = os.path.join(include, "tx", folder, name)
                if name.endswith(".hpp"):
                    with open(path) as f:
                        originals[f"{folder}/{name}"] = f.read()
        left = list(mutations)
        refused = []
        for _ in range(12):
            held = []
            for file, source in originals.items():
                text, chosen = with_switches(source, [m for m in left if m.file == file])
                held += chosen
                with open(os.path.join(include, "tx", file), "w") as f:
                    f.write(at_run_time(text))
            planned, done = self.compile(os.path.join(ROOT, "tests/drawn/planned.cpp"), include, ["-include", switch])
            if done.returncode == 0:
                break
            lines = set(re.findall(r"include/tx/((?:passes|exec)/\w+\.hpp):(\d+):\d+: error", done.stderr))
            bad = [m for m in held if (m.file, str(m.line)) in lines]
            if not bad:
                sys.exit(f"mutate.py: the mutated passes do not compile:\n{done.stderr[:4000]}")
            refused += bad
            left = [m for m in left if m not in bad]
        else:
            sys.exit("mutate.py: the mutated passes do not compile")
        objects = [planned]
        for name in ("alone/drawn_seeds", "check"):
            out, done = self.compile(os.path.join(ROOT, "tests/drawn", name + ".cpp"), os.path.join(ROOT, "include"))
            if done.returncode != 0:
                sys.exit(f"mutate.py: {name}.cpp does not compile:\n{done.stderr[:2000]}")
            objects.append(out)
        subprocess.run([self.compiler, *objects, "-o", self.program], check=True)
        return held, refused

    # Programs that fail as the passes are.
    def failing(self):
        ran = subprocess.run([self.program, "0", str(self.seeds), "list"], capture_output=True, text=True)
        return [line.split()[1] for line in ran.stdout.splitlines() if line.startswith("fails ")]

    def run(self, number, seconds):
        """(verdict, note, kernels, arena) with a mutation; number 0: as the passes are."""
        def limits():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            ran = subprocess.run([self.program, "0", str(self.seeds), "failures", "0", "but", *self.but], capture_output=True, text=True, timeout=seconds,
                                 env={**os.environ, "TX_MUTANT": str(number)}, preexec_fn=limits)
        except subprocess.TimeoutExpired:
            return "looped", "", 0, 0
        lines = ran.stdout.splitlines()
        last = lines[-1].split() if lines else []
        if ran.returncode == 0 and len(last) == 8:
            return "passed", "", int(last[5]), int(last[7])
        return "caught", next((l.split(" x ", 1)[1] for l in lines if " x " in l), f"ended with {ran.returncode}"), 0, 0


def reasons(path):
    """Key, or "file function", -> why a mutation that nobody notices changes nothing that is promised."""
    known = {}
    if os.path.exists(path):
        with open(path) as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    key, _, why = line.strip().partition(" ")
                    if key == "in":
                        file, function, why = why.split(" ", 2)
                        key = f"{file} {function}"
                    known[key] = why
    return known


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--files", nargs="*", default=FILES)
    p.add_argument("--sample", type=int, default=0, help="so many of them, drawn")
    p.add_argument("--draw", type=int, default=1, help="seed of the sample")
    p.add_argument("--seeds", type=int, default=6000, help="programs for each, at most")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--tolerate", action="store_true", help="leaves programs out that fail without a mutation")
    p.add_argument("--compiler", default="g++")
    p.add_argument("--list", action="store_true", help="only tells what would be broken")
    p.add_argument("--survivors", default=os.path.join(ROOT, "tools/mutations.txt"))
    a = p.parse_args()

    all_found = []
    for file in a.files:
        path = os.path.join(ROOT, "include/tx", file)
        if not os.path.exists(path):
            continue
        with open(path) as f:
            all_found += find(file, f.read())
    if a.sample:
        all_found = sorted(random.Random(a.draw).sample(all_found, min(a.sample, len(all_found))), key=lambda m: (m.file, m.first))
    if a.list:
        for m in all_found:
            print(f"{m.key} {m.file}:{m.line} {m.function}() {m.what}: {m.text}")
        print(f"{len(all_found)} mutations")
        return 0

    known = reasons(a.survivors)
    with tempfile.TemporaryDirectory() as folder:
        b = Builder(folder, a.compiler, a.seeds)
        held, refused = b.build(all_found)
        print(f"{len(held)} mutations compiled, {len(refused)} refused, {len(all_found) - len(held) - len(refused)} overlap others", flush=True)
        if a.tolerate:
            b.but = b.failing()
            print(f"{len(b.but)} programs fail without a mutation and are left out", flush=True)
        started = time.monotonic()
        verdict, note, kernels, arena = b.run(0, 3600)
        if verdict != "passed":
            print(f"mutate.py: the programs fail without a mutation ({verdict}: {note}); nothing can be told from mutants")
            return 2
        seconds = 30 + 5 * (time.monotonic() - started)
        counts = {"refused": len(refused)} if refused else {}
        unexplained = []
        with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
            for m, (verdict, note, k, n) in zip(held, pool.map(lambda m: b.run(m.number, seconds), held)):
                if verdict == "passed":
                    if (k, n) != (kernels, arena):
                        verdict, note = ("worse" if k > kernels or n > arena else "BETTER"), f"kernels {k - kernels:+d}, arena {n - arena:+d}"
                    why = known.get(m.key) or known.get(f"{m.file} {m.function}")
                    if verdict in ("passed", "BETTER") and why:
                        verdict, note = "explained", why
                    elif verdict == "passed":
                        verdict = "SURVIVED"
                counts[verdict] = counts.get(verdict, 0) + 1
                if verdict in ("SURVIVED", "BETTER"):
                    unexplained.append(m)
                print(f"{verdict:9} {m.key} {m.file}:{m.line} {m.what}: {m.text}  [{note}]", flush=True)
    told = sum(n for v, n in counts.items() if v != "refused")
    good = sum(counts.get(v, 0) for v in ("caught", "looped", "worse"))
    equal = counts.get("explained", 0)
    print(", ".join(f"{n} {v}" for v, n in sorted(counts.items())))
    share = 100.0 * good / max(1, told - equal)
    print(f"{share:.1f}% of {told - equal} rules that matter are noticed; {equal} mutants have a reason to survive")
    return 0 if share >= 95 and not unexplained else 1


if __name__ == "__main__":
    sys.exit(main())
