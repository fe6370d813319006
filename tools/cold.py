#!/usr/bin/env python3
"""What would a search cost whose index lies in an object store, read in ranges, compared with pulling it first?

    tools/cold.py target/release/cento INDEX CORPUS.jsonl

The pages are counted that real searches read: all pages of the index are dropped from memory before each
search, and those that are there afterwards were read (mincore; cento maps files without read-ahead). Pages
that are at most GAP apart are one request. They are sorted into the rounds in which a reader could ask for
them, by the section of the file that they lie in: dictionary and filter; posting lists; documents, that is
forward lists and texts. What an open reads a searcher would keep. Only `.sig` and `.store` are counted for
queries: the other components (ids, metadata) are read whole in the background, so that what a query needs
of them is not seen, and the numbers are lower bounds. Needs Linux, and an index that nobody else has open.
"""

import ctypes
import json
import math
import mmap
import os
import random
import statistics
import struct
import subprocess
import sys

PAGE = 4096
GAP = 16
LATENCY = 0.030
BANDWIDTH = 100e6
AT_A_TIME = 16
PART = 16 << 20
QUERIES = 25
SECTIONS = ["terms", "term index", "filter", "postings", "forward", "ids", "documents", "checksums"]
ROUNDS = {
    "terms": 1, "filter": 1, "postings": 2, "forward": 3, "ids": 3, "documents": 3, ".store": 3,
}
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def files(index):
    names = (name for name in sorted(os.listdir(index)) if not name.startswith("."))
    return [os.path.join(index, name) for name in names if os.path.getsize(os.path.join(index, name))]


def drop(path):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def resident(path):
    """The numbers of the pages that are in memory."""
    length = os.path.getsize(path)
    fd = os.open(path, os.O_RDONLY)
    address = LIBC.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    pages = ctypes.create_string_buffer(math.ceil(length / PAGE))
    if LIBC.mincore(address, length, pages) != 0:
        raise OSError(ctypes.get_errno(), "mincore")
    LIBC.munmap(address, length)
    os.close(fd)
    return {number for number, byte in enumerate(pages.raw) if byte & 1}


def sections(path):
    """The sections of a .sig file: name, first page, last page."""
    with open(path, "rb") as file:
        data = file.read()
    footer = data.rindex(b"GISOTNEC") + 8 - 192
    table = struct.unpack_from("<16Q", data, footer)
    return [
        (name, table[2 * at] // PAGE, (table[2 * at] + max(table[2 * at + 1], 1) - 1) // PAGE)
        for at, name in enumerate(SECTIONS)
    ]


def place(path, page, table):
    if path.endswith(".sig"):
        return next((name for name, first, last in table[path] if first <= page <= last), "header")
    return os.path.splitext(path)[1] or "list"


def touched(cento, index, arguments, text):
    for path in files(index):
        drop(path)
    command = [cento, "search", index, "-", "--format", "json", *arguments]
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=False)
    if done.returncode > 1:
        sys.exit(f"search ended with {done.returncode}")
    counted = [path for path in files(index) if path.endswith((".sig", ".store"))]
    return {(path, page) for path in counted for page in resident(path)}


def requests(pages):
    """The number of requests for these pages, and their bytes with the gaps."""
    count, size, last = 0, 0, None
    for path, page in sorted(pages):
        if last and last[0] == path and page - last[1] <= GAP:
            size += (page - last[1]) * PAGE
        else:
            count += 1
            size += PAGE
        last = (path, page)
    return count, size


def seconds(rounds):
    return sum(
        math.ceil(count / AT_A_TIME) * LATENCY + size / BANDWIDTH for count, size in rounds if count
    )


def main():
    cento, index, corpus = sys.argv[1:4]
    random.seed(1)
    with open(corpus, encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in random.sample(lines.readlines(), 40 * QUERIES)]
    texts = [text for text in texts if len(text.split()) >= 100]
    passages = [" ".join(text.split()[:100]) for text in texts]
    kinds = [
        ("a passage of 100 words", [], passages),
        ("the same with its passages", ["--passages"], passages),
        ("a whole document", [], texts),
    ]
    table = {path: sections(path) for path in files(index) if path.endswith(".sig")}
    total = sum(os.path.getsize(path) for path in files(index))
    parts = sum(math.ceil(os.path.getsize(path) / PART) for path in files(index))
    # Of a word that no document has nothing but the filter is read, once a segment.
    kept = touched(cento, index, [], "qzxjvk " * 5)
    count, size = requests(kept)
    others = [path for path in files(index) if not path.endswith((".sig", ".store"))]
    count, size = count + len(others), size + sum(os.path.getsize(path) for path in others)
    print(f"index {total / 1e6:.0f} MB; an open reads {count} ranges, {size / 1e6:.1f} MB")
    pulling = math.ceil(parts / 8) * LATENCY + 2 * LATENCY + total / BANDWIDTH
    print(f"pull: {parts + 2} requests, {pulling:.1f} s; then nothing for a query")
    print("| query | requests, median (max) | KiB | in rounds of (requests) | s, median (max) |")
    print("|---|---|---|---|---|")
    for name, arguments, queries in kinds:
        counts, sizes, times, shares = [], [], [], []
        for text in queries[:QUERIES]:
            rounds = [set(), set(), set()]
            for path, page in touched(cento, index, arguments, text) - kept:
                rounds[ROUNDS.get(place(path, page, table), 1) - 1].add((path, page))
            rounds = [requests(pages) for pages in rounds]
            counts.append(sum(count for count, _ in rounds))
            sizes.append(sum(size for _, size in rounds))
            times.append(seconds(rounds))
            shares.append([count for count, _ in rounds])
        middle = [f"{statistics.median(share[at] for share in shares):.0f}" for at in range(3)]
        print(
            f"| {name} | {statistics.median(counts):.0f} ({max(counts)}) "
            f"| {statistics.median(sizes) / 1024:.0f} | {', '.join(middle)} "
            f"| {statistics.median(times):.2f} ({max(times):.2f}) |"
        )


main()
