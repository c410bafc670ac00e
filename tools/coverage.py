"""Line coverage of the headers below a folder, from the counts that GCC's --coverage left beside its objects.

Usage: coverage.py --gcov GCOV --objects FOLDER --below HEADERS --minimum PERCENT

A line counts once, however many programs and instances of templates hold it, and as run if any of them ran it. Prints a line per
folder and the files that lack most; exits 1 below the minimum, or without counts.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys


def counts_of(gcov, data):
    """Yields (file, line, count) of one .gcda, in the JSON of gcov's --json-format."""
    said = subprocess.run([gcov, "--json-format", "--stdout", data.name], cwd=data.parent, check=True, capture_output=True, text=True)
    for document in said.stdout.splitlines():
        report = json.loads(document)
        started = pathlib.Path(report["current_working_directory"])
        for file in report["files"]:
            path = (started / file["file"]).resolve()
            for line in file["lines"]:
                yield path, line["line_number"], line["count"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gcov", default="gcov")
    parser.add_argument("--objects", type=pathlib.Path, required=True)
    parser.add_argument("--below", type=pathlib.Path, required=True)
    parser.add_argument("--minimum", type=float, required=True)
    options = parser.parse_args()
    below = options.below.resolve()

    lines = collections.defaultdict(dict)  # file -> line -> was it run?
    for data in sorted(options.objects.rglob("*.gcda")):
        for path, number, count in counts_of(options.gcov, data.resolve()):
            if below in path.parents:
                lines[path][number] = lines[path].get(number, False) or count > 0
    if not lines:
        print(f"coverage: no counts below {options.objects}: were the programs built with --coverage, and run?")
        return 1

    def show(name, files):
        known = sum(len(lines[f]) for f in files)
        run = sum(sum(lines[f].values()) for f in files)
        print(f"{name:<40} {run} of {known} lines, {100 * run / known:.1f}%")
        return 100 * run / known

    folders = collections.defaultdict(list)
    for path in sorted(lines):
        folders[path.parent.relative_to(below)].append(path)
    for folder, files in sorted(folders.items()):
        show(str(folder), files)
    missing = sorted(lines, key=lambda f: sum(lines[f].values()) - len(lines[f]))
    for path in missing[:10]:
        numbers = [n for n, run in sorted(lines[path].items()) if not run]
        if numbers:
            first = ", ".join(map(str, numbers[:12]))
            print(f"  {path.relative_to(below)}: {len(numbers)} not run: {first}{', ...' if len(numbers) > 12 else ''}")
    percent = show("all", list(lines))
    if percent < options.minimum:
        print(f"coverage: {percent:.1f}% is below the {options.minimum:g}% that COVERAGE_MIN asks for")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
