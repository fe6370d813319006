"""Plants questions in a corpus, and measures which of them are found.

    python3 research/decontamination/measure.py make --bytes 1000000000 --questions 10000 \
        --from pan13-source.jsonl --into rfc.jsonl --into licenses.jsonl --work work
    python3 research/decontamination/measure.py cento --work work [--cento target/release/cento] [-- --run 5]
    python3 research/decontamination/measure.py datatrove --work work [--documents 2000]

`make` takes questions of 8 to 200 words from the texts of --from, each from another place, and
plants most of them in documents of --into, at most one in each. Documents are repeated, with their
lines in another order, until the corpus has --bytes. The kinds:

    verbatim     as it is, between two lines
    wrapped      with a line break and blanks after every few words
    embedded     in the middle of a line
    upper        in capital letters
    marks        without punctuation marks
    typos        with two letters exchanged in one word in twelve, at least one
    many-typos   the same in one word in six
    json         as a string of JSON: half of the blanks are escapes, such as \\n and \\u0020, as
                 are marks and letters beyond ASCII
    html         as source of HTML: a third of the blanks are references, such as &nbsp;, as are
                 marks and letters beyond ASCII
    half         the first or the second half of it only
    part         the first third of it only: not the question
    clean        not planted

`datatrove` runs NGramsDecontFilter over the first documents, which
take it a long time, and cento over the same ones (pip install 'datatrove[processing]' spacy).
"""

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

PLANTED = ["verbatim", "wrapped", "embedded", "upper", "marks", "typos", "many-typos", "json", "html", "half"]
KINDS = [*PLANTED, "part", "clean", "clean"]


def documents(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def with_typos(words, every, draw):
    """Exchanges two letters within some words."""
    words = list(words)
    long = [at for at, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    draw.shuffle(long)
    for at in long[: max(1, len(words) // every)]:
        word = words[at]
        first = draw.randrange(1, len(word) - 1)
        words[at] = word[:first] + word[first + 1] + word[first] + word[first + 2 :]
    return words


def in_json(text, draw):
    """Writes a text as JSON does in another text: blanks as line ends or escapes, marks escaped."""

    def written(letter):
        if letter == " ":
            return draw.choice([" ", "\\n", " ", "\\u0020", " ", "\\t"])
        if letter in "<>&'":
            return f"\\u{ord(letter):04x}"
        if not letter.isascii():
            return json.dumps(letter)[1:-1]
        return {'"': '\\"', "\\": "\\\\", "/": "\\/"}.get(letter, letter)

    return "".join(written(letter) for letter in text)


def in_html(text, draw):
    """Writes a text as source of HTML: marks, some blanks and letters beyond ASCII as references."""

    def written(letter):
        number = draw.choice([f"&#{ord(letter)};", f"&#x{ord(letter):X};"])
        if letter == " ":
            return draw.choice([" ", " ", "&nbsp;", " ", "&#32;", " "])
        if letter in "<>&\"'":
            named = {"<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;", "'": "&apos;"}[letter]
            return draw.choice([named, number])
        return letter if letter.isascii() else number

    return "".join(written(letter) for letter in text)


def planted(text, kind, draw):
    words = text.split()
    if kind == "json":
        return '\n{"question": "' + in_json(text, draw) + '"}\n'
    if kind == "html":
        return "\n<p>" + in_html(text, draw) + "</p>\n"
    if kind == "wrapped":
        lines = []
        while words:
            size = draw.randrange(2, 9)
            lines.append(" ".join(words[:size]))
            words = words[size:]
        return "\n" + "\n    ".join(lines) + "\n"
    if kind == "embedded":
        return " " + text + " "
    if kind == "upper":
        return "\n" + text.upper() + "\n"
    if kind == "marks":
        return "\n" + re.sub(r"[^\w\s]", "", text) + "\n"
    if kind in ("typos", "many-typos"):
        return "\n" + " ".join(with_typos(words, 12 if kind == "typos" else 6, draw)) + "\n"
    if kind == "part":
        return "\n" + " ".join(words[: max(1, len(words) // 3)]) + "\n"
    if kind == "half":
        half = len(words) // 2
        return "\n" + " ".join(draw.choice([words[:half], words[-half:]])) + "\n"
    return "\n" + text + "\n"


def questions(paths, count, draw):
    """Takes stretches of words from different places, with lengths of 8 to 200 words."""
    texts = [text.split() for path in paths for text in documents(path)]
    draw.shuffle(texts)
    taken, seen = [], set()
    while len(taken) < count and texts:
        left = []
        for words in texts:
            size = min(200, 8 + int(draw.expovariate(1 / 35)))
            if len(words) < size + 40:
                continue
            text = " ".join(words[20 : 20 + size])
            if text not in seen and text.isprintable() and sum(word.isalpha() for word in words[20 : 20 + size]) > 6:
                seen.add(text)
                taken.append(text)
            left.append(words[40 + size :])
            if len(taken) == count:
                break
        texts = left
    return taken


def make(args):
    draw = random.Random(args.seed)
    work = Path(args.work)
    work.mkdir(exist_ok=True)
    base = [text for path in args.into for text in documents(path) if len(text) > 2000]
    size = sum(len(text) for text in base) / len(base)
    count = int(args.bytes / size)
    taken = questions(args.source, args.questions, draw)
    if len(taken) < args.questions:
        sys.exit(f"only {len(taken)} questions can be made")
    kinds = [KINDS[number % len(KINDS)] for number in range(len(taken))]
    places = draw.sample(range(count), sum(kind != "clean" for kind in kinds))
    of_place = {}
    with (work / "questions.jsonl").open("w", encoding="utf-8") as out:
        for number, (text, kind) in enumerate(zip(taken, kinds)):
            out.write(json.dumps({"id": str(number), "question": text, "kind": kind}) + "\n")
            if kind != "clean":
                of_place[places.pop()] = number
    written, number = 0, 0
    with (work / "corpus.jsonl").open("w", encoding="utf-8") as out, (
        work / "truth.jsonl"
    ).open("w") as truth:
        while written < args.bytes:
            for text in base:
                lines = text.split("\n")
                if number >= len(base):
                    draw.shuffle(lines)
                    text = "\n".join(lines)
                if (question := of_place.pop(number, None)) is not None:
                    kind = kinds[question]
                    at = draw.randrange(len(text))
                    at = text.find(" " if kind == "embedded" else "\n", at)
                    at = len(text) if at < 0 else at
                    text = text[:at] + planted(taken[question], kind, draw) + text[at:]
                    row = {"document": str(number), "question": str(question), "kind": kind}
                    truth.write(json.dumps(row) + "\n")
                written += out.write(json.dumps({"id": str(number), "text": text}) + "\n")
                number += 1
                if written >= args.bytes and not of_place:
                    break
    print(f"{number} documents, {written} bytes, {len(of_place)} questions without a place")


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def judge(work, found, documents=None):
    """Prints recall by kind, and the pairs that were not planted."""
    truth = [row for row in read(work / "truth.jsonl")]
    if documents is not None:
        truth = [row for row in truth if int(row["document"]) < documents]
    kinds = {(row["document"], row["question"]): row["kind"] for row in truth}
    total = Counter(row["kind"] for row in truth)
    hits = Counter(kinds[pair] for pair in found if pair in kinds)
    false = [pair for pair in found if kinds.get(pair, "part") == "part"]
    for kind in PLANTED:
        if total[kind]:
            print(f"  {kind:11} {hits[kind]:5} of {total[kind]:5}  {hits[kind] / total[kind]:.4f}")
    parts = sum(kinds.get(pair) == "part" for pair in false)
    print(f"  false hits  {len(false)} pairs, {parts} of them parts of questions")
    return false


def lengths(work, found, documents=None):
    """Prints the recall of all kinds by the length of the questions."""
    size = {row["id"]: len(row["question"].split()) for row in read(work / "questions.jsonl")}
    of = defaultdict(lambda: [0, 0])
    for row in read(work / "truth.jsonl"):
        if row["kind"] in PLANTED and (documents is None or int(row["document"]) < documents):
            bounds = next(top for top in (12, 20, 40, 80, 200) if size[row["question"]] <= top)
            of[bounds][0] += (row["document"], row["question"]) in found
            of[bounds][1] += 1
    for top, (hits, all_) in sorted(of.items()):
        print(f"  to {top:3} words {hits:5} of {all_:5}  {hits / all_:.4f}")


def run_cento(args, corpus, work):
    listed = work / "documents.jsonl"
    listed.unlink(missing_ok=True)
    command = [args.cento, "decontaminate", str(corpus), "--against", str(work / "questions.jsonl")]
    command += ["--documents", str(listed), *args.rest]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *command], capture_output=True, text=True)
    took = time.time() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1:
        sys.exit(done.stderr)
    memory = int(done.stderr.strip().splitlines()[-1]) / 1024
    user = after.ru_utime - before.ru_utime
    print(f"{' '.join(command[1:])}\n  {user:.1f} s of user time, {took:.1f} s, {memory:.0f} MiB")
    return read(listed)


def cento(args):
    work = Path(args.work)
    rows = run_cento(args, work / "corpus.jsonl", work)
    shares = args.share or [None]
    for share in shares:
        least = share or 0.0
        kept = [row for row in rows if row["own_share"] >= least]
        found = {(row["document"], row["question"]) for row in kept if not row["common"]}
        print(f" share {share}" if share else " found")
        false = judge(work, found)
        if share is None or len(shares) == 1:
            lengths(work, found)
        if args.show:
            texts = {row["id"]: row["question"] for row in read(work / "questions.jsonl")}
            of = {(row["document"], row["question"]): row for row in kept}
            for pair in false[: args.show]:
                print(pair, of[pair]["share"], "|", texts[pair[1]], "|", of[pair]["passage"])


def datatrove(args):
    from datatrove.data import Document
    from datatrove.pipeline.decont.n_grams import NGramsDecontConfig, NGramsDecontFilter
    from datatrove.utils.text import ngrams, simplify_text

    work = Path(args.work)
    part = work / "part.jsonl"
    with (work / "corpus.jsonl").open(encoding="utf-8") as lines, part.open("w") as out:
        out.writelines(line for line, _ in zip(lines, range(args.documents)))
    print(f"{args.documents} documents, {part.stat().st_size} bytes")
    rows = run_cento(args, part, work)
    found = {(row["document"], row["question"]) for row in rows if not row["common"]}
    judge(work, found, args.documents)
    lengths(work, found, args.documents)
    config = NGramsDecontConfig(n_grams=args.n)
    step = NGramsDecontFilter(str(work), config)
    step._index_hashes = {}
    for row in read(work / "questions.jsonl"):
        tokens = step.tokenizer.word_tokenize(simplify_text(row["question"], config.norm_config))
        for gram in ngrams(tokens, config.n_grams):
            step._index_hashes[step.hash_func(" ".join(gram))] = row["id"]
    before, found = resource.getrusage(resource.RUSAGE_SELF).ru_utime, set()
    for row in read(part):
        document = Document(text=row["text"], id=row["id"])
        if step.filter(document) is not True:
            found.add((row["id"], document.metadata["contaminated_task"]))
    user = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    print(f"datatrove, {args.n}-grams\n  {user:.1f} s of user time")
    judge(work, found, args.documents)
    lengths(work, found, args.documents)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(required=True)
    maker = verbs.add_parser("make")
    maker.add_argument("--bytes", type=int, default=10**9)
    maker.add_argument("--questions", type=int, default=10_000)
    maker.add_argument("--from", dest="source", action="append", required=True)
    maker.add_argument("--into", action="append", required=True)
    maker.add_argument("--seed", type=int, default=1)
    maker.set_defaults(run=make)
    runner = verbs.add_parser("cento")
    runner.add_argument("--share", type=float, action="append")
    runner.add_argument("--show", type=int, default=0)
    runner.set_defaults(run=cento)
    other = verbs.add_parser("datatrove")
    other.add_argument("--documents", type=int, default=2000)
    other.add_argument("-n", type=int, default=12)
    other.set_defaults(run=datatrove)
    for verb in (maker, runner, other):
        verb.add_argument("--work", required=True)
    for verb in (runner, other):
        verb.add_argument("--cento", default="target/release/cento")
        verb.add_argument("rest", nargs="*")
    args = parser.parse_args()
    args.run(args)


main()
