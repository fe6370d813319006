"""Compares `cento trace` with infini-gram's `attribute`, the engine of OLMoTrace, on one corpus.

    pip install infini-gram numpy
    python3 research/trace/measure.py --corpus pieces.jsonl --own others.jsonl --work work [--cento FILE]

Both index the texts of --corpus, JSON lines with `id` and `text`. A query has three passages of 100 words
of random texts of it, each after 80 words of a text of --own, which the corpus does not have; 0, 5, 10, 20
and 30 % of the copied words are replaced by random words of the corpus. `marked` is the share of the copied
words left unreplaced that are in a span, `precision` the share of all marked words of --own and of unreplaced
copied ones that are copied. infini-gram gets words in lower case as tokens, because its tokenizers are loaded
from the network: the most frequent in the corpus have a number of their own, the others share numbers, which
can only make it mark more.

Times are processor time a query: of the process for cento, with its start and without that of adding, and
of the calls of `attribute` alone for infini-gram.
"""

import argparse
import json
import random
import re
import resource
import shutil
import subprocess
import time
import zlib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from infini_gram import indexing
from infini_gram.engine import InfiniGramEngine

WORD = re.compile(r"\w+")
# The others, below 65,534, are shared; 65,535 separates documents.
OWN_NUMBERS = 57_000
RATES = (0, 5, 10, 20, 30)


def lines(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def children_time():
    """Returns the processor time of the programs that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def size(directory):
    return sum(path.stat().st_size for path in Path(directory).rglob("*") if path.is_file())


class Words:
    """Numbers of words, 16 bits each."""

    def __init__(self, texts):
        counts = Counter()
        for text in texts:
            counts.update(WORD.findall(text.lower()))
        self.numbers = {word: n for n, (word, _) in enumerate(counts.most_common(OWN_NUMBERS))}

    def number(self, word):
        return self.numbers.get(word, OWN_NUMBERS + zlib.crc32(word.encode()) % (65_534 - OWN_NUMBERS))

    def of(self, text):
        return [self.number(word) for word in WORD.findall(text.lower())]


def build_infinigram(work, documents):
    """Builds the suffix array; returns the words, and the seconds of processor time."""
    started = time.process_time() + children_time()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    words = Words(document["text"] for document in documents)
    offsets = []
    with open(work / "tokenized.0", "wb") as out:
        for document in documents:
            offsets.append(out.tell())
            out.write(b"\xff\xff" + np.array(words.of(document["text"]), dtype=np.uint16).tobytes())
    np.array(offsets, dtype=np.uint64).tofile(work / "offset.0")
    indexing.build_sa(
        SimpleNamespace(
            save_dir=str(work), temp_dir=str(work), worker_id=0, workers=1, shards=1, mem=4, cpus=2,
            token_width=2,
        )
    )
    return words, time.process_time() + children_time() - started


def queries(documents, own, rate, number):
    """Returns for each query its words, and of each whether it is foreign (0), copied (1) or replaced (2).

    Signs without a letter or digit count nowhere (None): infini-gram has no tokens for them.
    """
    draw = random.Random(rate + 7)
    vocabulary = [word for d in draw.sample(documents, min(200, len(documents))) for word in d["text"].split()]
    made = []
    for _ in range(number):
        words, kinds = [], []
        for _ in range(3):
            foreign = draw.choice(own)
            start = draw.randrange(max(1, len(foreign) - 100))
            part = foreign[start : start + 80]
            words += part
            kinds += [0 if WORD.search(word) else None for word in part]
            while True:
                source = draw.choice(documents)["text"].split()
                if len(source) > 220:
                    break
            start = draw.randrange(len(source) - 110)
            for word in source[start : start + 100]:
                is_replaced = draw.random() < rate / 100
                words.append(draw.choice(vocabulary) if is_replaced else word)
                kinds.append(None if not WORD.search(word) else 2 if is_replaced else 1)
        made.append((words, kinds))
    return made


def places(words):
    """Returns the first byte of each word of a text of words with spaces between."""
    at, found = 0, []
    for word in words:
        found.append(at)
        at += len(word.encode()) + 1
    return found


def score(made, marked):
    """Returns the share of copied words that are marked, and the precision."""
    hit = copied = foreign = 0
    for (_, kinds), marks in zip(made, marked, strict=True):
        for kind, mark in zip(kinds, marks, strict=True):
            copied += kind == 1
            hit += kind == 1 and mark
            foreign += kind == 0 and mark
    return hit / copied, hit / max(1, hit + foreign)


def by_cento(cento, index, work, made):
    path = work / "queries.jsonl"
    with open(path, "w", encoding="utf-8") as out:
        for number, (words, _) in enumerate(made):
            out.write(json.dumps({"id": str(number), "text": " ".join(words)}) + "\n")
    started = children_time()
    command = [cento, "trace", index, path, "--format", "json", "--quiet"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    took = children_time() - started
    spans = {}
    for line in ran.stdout.splitlines():
        answer = json.loads(line)
        if "trace" in answer:
            spans[int(answer["query"]["id"])] = [span["a"] for span in answer["trace"]["spans"]]
    marked = []
    for number, (words, _) in enumerate(made):
        ranges = spans[number]
        marked.append([any(s <= at < e for s, e in ranges) for at in places(words)])
    return marked, took / len(made)


def by_infinigram(engine, words, made, least):
    marked, took = [], 0.0
    for text_words, _ in made:
        numbers, of_word = [], []
        for at, word in enumerate(text_words):
            found = words.of(word)
            numbers += found
            of_word += [at] * len(found)
        started = time.process_time()
        found = engine.attribute(
            input_ids=numbers, delim_ids=[], min_len=least, max_cnt=10, enforce_bow=False
        )
        took += time.process_time() - started
        marks = [False] * len(text_words)
        for span in found["spans"]:
            for at in of_word[span["l"] : span["r"]]:
                marks[at] = True
        marked.append(marks)
    return marked, took / len(made)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--own", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--cento", type=Path, default=Path("target/release/cento"))
    parser.add_argument("--queries", type=int, default=150)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    work, cento = given.work.resolve(), given.cento.resolve()
    documents = list(lines(given.corpus))
    own = [document["text"].split() for document in lines(given.own)]
    index = work / "cento.idx"
    shutil.rmtree(index, ignore_errors=True)
    started = children_time()
    subprocess.run([cento, "add", index, given.corpus.resolve(), "--quiet"], capture_output=True, check=False)
    built = children_time() - started
    suffixes = work / "infinigram"
    words, took = build_infinigram(suffixes, documents)
    text = sum(len(document["text"].encode()) for document in documents)
    print(f"{len(documents):,} documents, {text / 1e6:.1f} MB of text")
    print(f"index, of the text: cento {size(index) / text:.2f}, infini-gram {size(suffixes) / text:.2f}")
    print(f"build, processor time: cento {built:.1f} s, infini-gram {took:.1f} s, {took / built:.0f} times")
    engine = InfiniGramEngine(index_dir=str(suffixes), eos_token_id=65_534, vocab_size=65_535)
    print("\n| replaced | engine | marked | precision | ms a query | of cento |\n|---|---|---|---|---|---|")
    for rate in RATES:
        made = queries(documents, own, rate, given.queries)
        marked, own_time = by_cento(cento, index, work, made)
        rows = [("cento trace", marked, own_time)]
        rows += [(f"infini-gram, {n} words", *by_infinigram(engine, words, made, n)) for n in (5, 14)]
        for name, marks, seconds in rows:
            found, precision = score(made, marks)
            print(f"| {rate} % | {name} | {found:.3f} | {precision:.3f} | {1e3 * seconds:.1f} | {seconds / own_time:.1f} |")


if __name__ == "__main__":
    main()
