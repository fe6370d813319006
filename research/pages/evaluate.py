"""Measures how well the content of web pages is found.

    python3 research/pages/evaluate.py PAGES.jsonl CENTO [NAME=TEXTS.jsonl ...]

The measure is that of the article-extraction benchmark: 4-grams of words, every page counts the same. PAGES has
objects with `id`, `html`, `article` and perhaps `kind`; CENTO is the program. Texts of other extractors, objects with
`id` and `text`, can be added. Beside what cento finds (one interval of greatest sum) stand all text and the windows of
Seo and Croft 2008, section 3: the longest run of windows of 60 words and tags in which tags are fewer than three
quarters of their share in the page.
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser

WINDOW, SLOPE = 60, 0.75
HIDDEN = {"script", "style", "template", "noscript", "svg"}


class Tokens(HTMLParser):
    """The words and tags of a page, in order; a tag is None."""

    def __init__(self):
        super().__init__()
        self.tokens, self.hidden = [], 0

    def handle_starttag(self, tag, attributes):
        self.tokens.append(None)
        self.hidden += tag in HIDDEN

    def handle_endtag(self, tag):
        self.tokens.append(None)
        if tag in HIDDEN and self.hidden:
            self.hidden -= 1

    def handle_data(self, data):
        if not self.hidden:
            self.tokens.extend(data.split())


def windows(page):
    parser = Tokens()
    parser.feed(page)
    tokens = parser.tokens
    if len(tokens) <= WINDOW:
        return " ".join(token for token in tokens if token)
    tags = [0]
    for token in tokens:
        tags.append(tags[-1] + (token is None))
    flat = SLOPE * tags[-1] / len(tokens)
    best, start = (0, 0), None
    for at in range(len(tokens) - WINDOW + 2):
        is_flat = at <= len(tokens) - WINDOW and (tags[at + WINDOW] - tags[at]) / WINDOW < flat
        if is_flat and start is None:
            start = at
        elif not is_flat and start is not None:
            best, start = max(best, (start, at - 1 + WINDOW), key=lambda run: run[1] - run[0]), None
    return " ".join(token for token in tokens[best[0]:best[1]] if token)


def by_cento(program, pages, html):
    with tempfile.TemporaryDirectory() as work:
        paths = []
        for number, page in enumerate(pages):
            paths.append(os.path.join(work, f"{number}.html"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                # The text is decoded already, whatever the page declares.
                file.write(page["html"])
        out = os.path.join(work, "out.jsonl")
        command = [program, "dedup", "--exact", "--annotate", "--encoding", "utf-8", "--html", html, "--out", out]
        subprocess.run(command + paths, check=True, capture_output=True)
        texts = {}
        with open(out, encoding="utf-8") as file:
            for line in file:
                found = json.loads(line)
                texts[int(os.path.basename(found["id"]).split(".")[0])] = found["text"]
        return [texts.get(number, "") for number in range(len(pages))]


def grams(text):
    words = re.findall(r"\w+", text.lower())
    return collections.Counter(tuple(words[i:i + 4]) for i in range(max(1, len(words) - 3)))


def counts(article, found):
    wanted, got = grams(article), grams(found)
    hit = sum((wanted & got).values())
    counted = [hit, sum(got.values()) - hit, sum(wanted.values()) - hit]
    return [count / sum(counted) for count in counted]


def scores(all_counts):
    hit, more, less = (sum(column) for column in zip(*all_counts))
    precision, recall = hit / (hit + more or 1), hit / (hit + less or 1)
    return 2 * precision * recall / (precision + recall or 1), precision, recall


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        pages = [json.loads(line) for line in file]
    ways = {
        "interval (`--html content`)": by_cento(sys.argv[2], pages, "content"),
        "all text (`--html all`)": by_cento(sys.argv[2], pages, "all"),
        "windows of the paper": [windows(page["html"]) for page in pages],
    }
    for argument in sys.argv[3:]:
        name, path = argument.split("=", 1)
        with open(path, encoding="utf-8") as file:
            texts = {found["id"]: found["text"] for found in map(json.loads, file)}
        ways[name] = [texts[page["id"]] for page in pages]
    kinds = sorted({page.get("kind", "all") for page in pages})
    groups = [(f"{kind}, {name}", [i for i, p in enumerate(pages) if p.get("kind", "all") == kind and bool(p.get("is_real")) == real])
              for kind in kinds for real, name in ((False, "made up"), (True, "real"))]
    groups = [group for group in groups if group[1]] + [("all", list(range(len(pages))))]
    print("| | pages | " + " | ".join(ways) + " |\n|---|---|" + "---|" * len(ways))
    for name, members in groups:
        cells = []
        for texts in ways.values():
            f1, precision, recall = scores([counts(pages[i]["article"], texts[i]) for i in members])
            cells.append(f"{f1:.3f} ({precision:.3f}, {recall:.3f})")
        print(f"| {name} | {len(members)} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
