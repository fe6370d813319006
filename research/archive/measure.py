"""Measures the verbs of a standing archive: time and memory at 100,000 documents.

    python3 research/archive/measure.py make --pieces rfc.jsonl --essays pan13-source.jsonl --work work
    python3 research/archive/measure.py run --work work [--cento target/release/cento] [NAME...]

`make` cuts the texts of --pieces into --documents pieces of whole lines, with the number of their
text as a date, and writes as many random Java programs. It makes two terms of 16 submissions in three
files each, essays and programs: all have the assignment, the second has a file of the first, the
third a document of the archive. `run` prints a row of a table for each command, or for those of these
names, in order; ratios are those of the user time to that of adding the archive in the same run.
"""

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

STUDENTS = 16
KEY = "3e9b0f27c46d815aa2f07c18d95be463"


def texts(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def pieces(path, count):
    """Cuts texts into `count` pieces of whole lines."""
    all_texts = [(number, row["text"]) for number, row in enumerate(texts(path), 1)]
    size = sum(len(text) for _, text in all_texts) // count
    written, again = 0, ""
    while written < count:
        for number, text in all_texts:
            piece, length, place = [], 0, 0
            for line in text.splitlines(keepends=True):
                piece.append(line)
                length += len(line)
                if length >= size:
                    yield f"t{number}-{place}{again}", number, "".join(piece)
                    piece, length, place = [], 0, place + 1
                    written += 1
                    if written == count:
                        return
        size = size * 2 // 3
        again += "-again"


def expression(draw, names, depth=0):
    kind = draw.randrange(7 if depth < 3 else 2)
    if kind == 0:
        return str(draw.randrange(1000))
    if kind == 1:
        return draw.choice(names)
    if kind == 2:
        return f"{draw.choice(names)}[{expression(draw, names, depth + 1)}]"
    if kind == 3:
        arguments = ", ".join(expression(draw, names, depth + 1) for _ in range(draw.randrange(4)))
        return f"{draw.choice(names)}({arguments})"
    left, right = expression(draw, names, depth + 1), expression(draw, names, depth + 1)
    return f"({left} {draw.choice(['+', '-', '*', '/', '%', '<', '==', '&&'])} {right})"


def statements(draw, names, count, indent):
    pad, lines = "    " * indent, []
    for _ in range(count):
        kind = draw.randrange(8)
        if kind < 3 or indent > 4:
            lines.append(f"{pad}{draw.choice(names)} = {expression(draw, names)};")
        elif kind == 3:
            lines.append(f"{pad}if ({expression(draw, names)}) {{")
        elif kind == 4:
            lines.append(f"{pad}while ({expression(draw, names)}) {{")
        elif kind == 5:
            name = draw.choice(names)
            lines.append(f"{pad}for (int {name} = 0; {name} < {expression(draw, names)}; {name}++) {{")
        elif kind == 6:
            lines.append(f"{pad}return {expression(draw, names)};")
        else:
            lines.append(f"{pad}System.out.println({expression(draw, names)});")
        if lines[-1].endswith("{"):
            lines += [*statements(draw, names, draw.randrange(1, 4), indent + 1), f"{pad}}}"]
    return lines


def program(draw, name):
    names = [f"{draw.choice('abcdefgh')}{draw.randrange(50)}" for _ in range(12)]
    lines = [f"public class {name} {{"]
    for method in range(draw.randrange(2, 5)):
        lines += [f"    static int m{method}(int {names[0]}, int[] {names[1]}) {{"]
        lines += [*statements(draw, names, draw.randrange(3, 9), 2), "    }"]
    return "\n".join([*lines, "}", ""])


def write_term(path, ending, students, assignment):
    shutil.rmtree(path, ignore_errors=True)
    for number, files in enumerate(students):
        (path / f"s{number:02}").mkdir(parents=True)
        for place, text in enumerate([assignment, *files]):
            name = f"{'assignment' if place == 0 else f'part{place}'}.{ending}"
            (path / f"s{number:02}" / name).write_text(text, encoding="utf-8")


def make(args):
    draw, work = random.Random(args.seed), Path(args.work)
    work.mkdir(exist_ok=True)
    archive = []
    with (work / "archive.jsonl").open("w", encoding="utf-8") as out:
        for name, number, text in pieces(args.pieces, args.documents):
            out.write(json.dumps({"id": name, "text": text, "meta": {"number": number}}) + "\n")
            archive.append(text)
    programs = []
    with (work / "programs.jsonl").open("w", encoding="utf-8") as out:
        for number in range(args.documents):
            text = program(draw, f"P{number}")
            out.write(json.dumps({"id": f"P{number}.java", "text": text}) + "\n")
            programs.append(text)
    essays = [row["text"].split() for row in texts(args.essays)]
    essays = [words for words in essays if len(words) > 500]
    draw.shuffle(essays)
    students = [[" ".join(essays.pop()[:500]) for _ in range(2)] for _ in range(STUDENTS)]
    students[1][0] = students[0][0]
    students[2][1] = archive[len(archive) // 2]
    write_term(work / "essays", "txt", students, " ".join(essays.pop()[:100]))
    students = [[program(draw, "A"), program(draw, "B")] for _ in range(STUDENTS)]
    students[1][0] = students[0][0]
    students[2][1] = programs[len(programs) // 2]
    write_term(work / "code", "java", students, program(draw, "Main"))
    key = work / "key"
    key.write_text(KEY + "\n")
    key.chmod(0o600)
    print(f"{len(archive)} pieces of {sum(map(len, archive)) / len(archive):.0f} characters, "
          f"{len(programs)} programs of {sum(map(len, programs)) / len(programs):.0f}")


def commands(work):
    """The commands: a name, the index that is made anew, and the arguments."""
    code = ["--for", "code", "--analyzer", "code(language=java)"]
    term = lambda name: [str(path) for path in sorted((work / name).glob("s*"))] + ["--by", "directory"]
    yield "add", "archive.idx", ["add", "archive.idx", "archive.jsonl"]
    key = ["--key-file", "key"]
    yield "create, keyed", "keyed.idx", ["create", "keyed.idx", "--store-text", *key]
    yield "add, keyed", None, ["add", "keyed.idx", "archive.jsonl", *key]
    yield "add, programs", "programs.idx", ["add", "programs.idx", "programs.jsonl", *code]
    yield "search", None, ["search", "archive.idx", "essays/s02/part2.txt"]
    yield "search, programs", None, ["search", "programs.idx", "code/s02/part2.java"]
    yield "pairs, essays", None, ["pairs", *term("essays"), "--against", "archive.idx"]
    yield "pairs, programs", None, ["pairs", *term("code"), "--against", "programs.idx"]
    yield "boilerplate", None, ["method", "boilerplate", "archive.idx"]
    yield "pairs", None, ["pairs", "archive.idx", "--min-containment", "0.5"]
    yield "pairs -b auto", None, ["pairs", "archive.idx", "--min-containment", "0.5", "-b", "auto"]
    yield "families", None, ["families", "archive.idx", "--date", "number"]
    yield "lineage", None, ["lineage", "archive.idx", "--date", "number"]
    yield "withdraw --dry-run", None, ["withdraw", "archive.idx", "t700-3", "--dry-run"]
    yield "withdraw", None, ["withdraw", "archive.idx", "t700-3", "--record", "record.json"]
    yield "withdraw --check", None, ["withdraw", "archive.idx", "--check", "record.json"]
    yield "pairs --add, essays", None, ["pairs", *term("essays"), "--against", "archive.idx", "--add"]
    yield "pairs --add, programs", None, ["pairs", *term("code"), "--against", "programs.idx", "--add"]


def run(args):
    work, program_path = Path(args.work).resolve(), str(Path(args.cento).resolve())
    base = None
    print("| command | user time, s | wall time, s | memory, MiB | ratio | lines | exit status |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, anew, arguments in commands(work):
        if args.names and name not in args.names:
            continue
        if anew:
            shutil.rmtree(work / anew, ignore_errors=True)
        command = ["/usr/bin/time", "-f", "%U %S %e %M", program_path, *arguments]
        out = work / f"{re.sub('[^a-z]+', '-', name)}.out"
        with out.open("wb") as written:
            done = subprocess.run(command, cwd=work, stdout=written, stderr=subprocess.PIPE, text=True)
        said = done.stderr.strip().splitlines()
        out.with_suffix(".err").write_text(done.stderr)
        user, _, wall, memory = said[-1].split()
        if done.returncode > 1:
            print(f"{name}: {' '.join(said[-4:-1])}", file=sys.stderr)
        if name == "add":
            base = float(user)
        ratio = f"{float(user) / base:.2f}" if base else ""
        with out.open("rb") as lines:
            count = sum(1 for _ in lines)
        print(f"| {name} | {user} | {wall} | {int(memory) // 1024} | {ratio} | {count} | "
              f"{done.returncode} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(required=True)
    maker = verbs.add_parser("make")
    maker.add_argument("--pieces", required=True)
    maker.add_argument("--essays", required=True)
    maker.add_argument("--documents", type=int, default=100_000)
    maker.add_argument("--seed", type=int, default=1)
    maker.set_defaults(run=make)
    runner = verbs.add_parser("run")
    runner.add_argument("--cento", default="target/release/cento")
    runner.add_argument("names", nargs="*")
    runner.set_defaults(run=run)
    for verb in (maker, runner):
        verb.add_argument("--work", required=True)
    args = parser.parse_args()
    args.run(args)


main()
