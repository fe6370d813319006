"""Measures how much of documents of office programs and PDF is read, and how fast.

    python3 tools/formats/measure.py SAMPLES CENTO

SAMPLES is a directory with a directory of files for each format, named as these. CENTO is the program, built with the
feature `office`; its worker is given each file, as `cento add` does it. Prints a table: files, failures by reason,
words and 3-grams of words against a reference, and MB of files a second of processor time. The reference is pdftotext for
PDF; for docx, odt, epub and pptx it is the text in the XML of the parts that hold the body, in their order, as the
specifications of these formats have it. For rtf it is striprtf (PyPI), for doc word-extractor (npm, with `node`, found by
NODE_PATH); without them these two are not compared. Nor are files with fewer than 30 words in the reference.
"""

import collections
import io
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
import zipfile

try:
    from striprtf.striprtf import rtf_to_text
except ImportError:
    rtf_to_text = None

WORDS_MIN = 30


class Worker:
    def __init__(self, program):
        self.program, self.process, self.seconds = program, None, 0.0

    def ask(self, data):
        """The text, its missing parts, or the reason for a refusal."""
        if self.process is None:
            self.process = subprocess.Popen([self.program, "extract-worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={})
        try:
            self.process.stdin.write(struct.pack("<Q", len(data)) + data)
            self.process.stdin.flush()
            status = self.read(1)
            first, second = self.read_text(), self.read_text()
            # The number of characters that a reader does not see.
            self.read(8)
        except (BrokenPipeError, EOFError):
            self.end()
            return None, "", "the process ended"
        return (first, second, "") if status == b"\0" else (None, "", first)

    def read(self, size):
        data = self.process.stdout.read(size)
        if len(data) != size:
            raise EOFError
        return data

    def read_text(self):
        return self.read(struct.unpack("<Q", self.read(8))[0]).decode()

    def end(self):
        """Ends the process, and adds the processor time that it took."""
        if self.process is None:
            return
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.process.stdin.close()
        self.process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.process = None


def local(element):
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def walked(root, text, blocks, spaces, skipped):
    """The text of elements, `blocks` ending words."""
    out = []

    def walk(element):
        name = local(element)
        if name in skipped:
            return
        if name in spaces:
            out.append(" ")
        if text is None or name in text:
            out.append(element.text or "")
        for child in element:
            walk(child)
            if text is None:
                out.append(child.tail or "")
        if name in blocks:
            out.append(" ")

    walk(root)
    return "".join(out)


def parts(data, pattern):
    archive = zipfile.ZipFile(io.BytesIO(data))
    names = [name for name in archive.namelist() if re.fullmatch(pattern, name)]
    number = lambda name: [int(digits) for digits in re.findall(r"\d+", name)]
    return [xml.fromstring(archive.read(name)) for name in sorted(names, key=number)]


def docx(data):
    roots = parts(data, r"word/document\d*\.xml") + parts(data, r"word/(footnotes|endnotes)\.xml")
    skipped = {"del", "moveFrom", "instrText", "Fallback", "delText"}
    return " ".join(walked(root, {"t"}, {"p", "tc"}, {"tab", "br", "cr"}, skipped) for root in roots)


def odt(data):
    roots = parts(data, r"content\.xml")
    bodies = [body for root in roots for body in root if local(body) == "body"]
    return " ".join(walked(body, None, {"p", "h", "table-cell"}, {"tab", "line-break", "s"},
                           {"tracked-changes", "sequence-decls", "annotation", "note-citation", "forms"}) for body in bodies)


def pptx(data):
    return " ".join(walked(root, {"t"}, {"p"}, {"br"}, {"Fallback"}) for root in parts(data, r"ppt/slides/slide\d+\.xml"))


def epub(data):
    archive = zipfile.ZipFile(io.BytesIO(data))
    package = xml.fromstring(archive.read("META-INF/container.xml")).find(".//{*}rootfile").get("full-path")
    root = xml.fromstring(archive.read(package))
    items = {item.get("id"): item for item in root.iter() if local(item) == "item"}
    base, texts = os.path.dirname(package), []
    for reference in (element for element in root.iter() if local(element) == "itemref"):
        item = items[reference.get("idref")]
        if item.get("media-type") == "application/xhtml+xml":
            page = archive.read(os.path.join(base, item.get("href"))).decode("utf-8-sig")
            page = re.sub(r"(?is)<head.*?</head>|<(script|style).*?</\1>", " ", page)
            texts.append(re.sub(r"<[^>]*>", lambda tag: "" if re.match(r"</?(a|b|i|em|strong|span|code|sup|sub)\b", tag[0]) else " ", page))
    import html

    return html.unescape(" ".join(texts))


def pdf(data):
    done = subprocess.run(["pdftotext", "-q", "-", "-"], input=data, capture_output=True, check=True)
    return done.stdout.decode(errors="replace")


def rtf(data):
    # Its output is text for the code page that the file names, or for none.
    return rtf_to_text(data.decode("latin-1"), errors="ignore")


# Body, notes and boxes, as they follow each other in the file.
WORD_EXTRACTOR = """
const Extractor = require("word-extractor");
new Extractor().extract(require("fs").readFileSync(0)).then((found) => process.stdout.write(
  [found.getBody(), found.getFootnotes(), found.getEndnotes(), found.getTextboxes({ includeHeadersAndFooters: false })].join("\\n")));
"""


def doc(data):
    done = subprocess.run(["node", "-e", WORD_EXTRACTOR], input=data, capture_output=True, check=True)
    return done.stdout.decode()


REFERENCES = {"docx": docx, "odt": odt, "pptx": pptx, "epub": epub, "pdf": pdf}
if rtf_to_text:
    REFERENCES["rtf"] = rtf
if shutil.which("node") and subprocess.run(["node", "-e", "require('word-extractor')"], capture_output=True).returncode == 0:
    REFERENCES["doc"] = doc


def words(text):
    return re.findall(r"\w+", text.lower())


def grams(tokens, count):
    return collections.Counter(tuple(tokens[at:at + count]) for at in range(len(tokens) - count + 1))


def shares(reference, found, count):
    wanted, got = grams(reference, count), grams(found, count)
    hit = sum((wanted & got).values())
    return hit / (sum(wanted.values()) or 1), hit / (sum(got.values()) or 1)


def mean(numbers):
    return sum(numbers) / len(numbers)


def median(numbers):
    ordered = sorted(numbers)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def kind(reason):
    return re.split(r"[:;(]", reason)[0].strip()


def main():
    samples, program = sys.argv[1:3]
    print("| | files | read | of these empty | in part | not read | compared | 3-grams: recall, mean and median | precision "
          "| words: recall | precision | MB | MB/s | slowest |\n" + "|---" * 14 + "|")
    for name in sorted(os.listdir(samples)):
        if name in ("html", "tex", "ipynb", "eml"):
            continue
        directory = os.path.join(samples, name)
        worker, failures = Worker(program), collections.Counter()
        size = read = empty = cut = 0
        slowest, scores = 0.0, []
        for file in sorted(os.listdir(directory)):
            with open(os.path.join(directory, file), "rb") as opened:
                data = opened.read()
            size += len(data)
            started = time.monotonic()
            text, missing, why = worker.ask(data)
            slowest = max(slowest, time.monotonic() - started)
            if text is None:
                failures[kind(why)] += 1
                continue
            read += 1
            empty += not words(text)
            cut += bool(missing)
            try:
                reference = words(REFERENCES[name](data)) if name in REFERENCES else []
            except (KeyError, zipfile.BadZipFile, xml.ParseError, subprocess.CalledProcessError, ValueError, AttributeError):
                reference = []
            if len(reference) >= WORDS_MIN:
                found = words(text)
                scores.append(shares(reference, found, 3) + shares(reference, found, 1) + (file,))
        worker.end()
        if os.environ.get("VERBOSE"):
            for score in sorted(scores)[:8]:
                print("   ", name, *(f"{number:.3f}" for number in score[:4]), score[4], file=sys.stderr)
            print("   ", name, failures, file=sys.stderr)
        recall, precision, word_recall, word_precision = ([score[at] for score in scores] for at in range(4))
        compared = (f"{mean(recall):.3f}, {median(recall):.3f} | {mean(precision):.3f} | {mean(word_recall):.3f} "
                    f"| {mean(word_precision):.3f}") if scores else " | | | "
        reasons = ", ".join(f"{count} {reason}" for reason, count in failures.most_common())
        print(f"| {name} | {read + sum(failures.values())} | {read} | {empty} | {cut} | {reasons} | {len(scores)} | {compared} "
              f"| {size / 1e6:.1f} | {size / 1e6 / worker.seconds:.1f} | {slowest:.2f} s |")


if __name__ == "__main__":
    main()
