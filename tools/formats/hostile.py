"""Reads damaged, encrypted, huge, nested and endless files.

    python3 tools/formats/hostile.py CENTO [SAMPLES]

CENTO is the program, built with the features `office` and `parquet`. Each file is added to an index of its own together with a
text; SAMPLES, a directory with a directory for each format, has encrypted documents (those named `*protected*` or
`*encrypt*`). The table has the size of the file, what the program says of it, its time, and the most memory of a process.
"""

import bz2
import gzip
import io
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib

import make

MIB = 1 << 20


def bomb(mebibytes):
    """A deflated stream of `mebibytes` MiB of spaces."""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    spaces, out = b" " * MIB, []
    for _ in range(mebibytes):
        out.append(packed.compress(spaces))
    return b"".join(out) + packed.flush()


def large_zip(files, name, mebibytes):
    """A zip file with one entry made of words, again and again."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, data in files:
            archive.writestr(other, data)
        with archive.open(name, "w", force_zip64=True) as entry:
            head, line, tail = (part.encode() for part in mebibytes[1:])
            entry.write(head)
            block = line * (MIB // len(line))
            for _ in range(mebibytes[0]):
                entry.write(block)
            entry.write(tail)
    return out.getvalue()


def files(samples):
    text = "some words of a document that can be read by anybody who wants to"
    docx, odt, epub, pptx = make.docx([text] * 50), make.odt([text] * 50), make.epub([text] * 50), make.pptx([text] * 50)
    pdf = make.pdf([text] * 20)
    whole = {"docx": docx, "odt": odt, "epub": epub, "pptx": pptx, "odp": make.odp([text] * 50), "pdf": pdf,
             "rtf": make.rtf([text] * 50), "eml": make.mail(text, ("a.docx", docx)), "ipynb": make.notebook([text] * 50),
             "warc": make.warc(make.html([text] * 50)), "zip": make.zipped([("a.txt", text * 50), ("b.txt", text * 50)]),
             "txt.gz": gzip.compress(text.encode() * 50), "txt.xz": lzma.compress(text.encode() * 50),
             "txt.bz2": bz2.compress(text.encode() * 50), "json": json.dumps([{"text": text}] * 50).encode()}
    for name, data in whole.items():
        yield "damaged", f"half.{name}", data[:len(data) // 2]
    yield "damaged", "empty.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
    yield "damaged", "half.parquet", b"PAR1" + bytes(2000)
    yield "damaged", "length.parquet", b"PAR1" + bytes(50) + b"\xff\xff\xff\x7fPAR1"
    yield "damaged", "half.arrow", b"ARROW1\0\0" + bytes(2000)
    yield "damaged", "zeros.docx", docx[:300] + bytes(200) + docx[500:]
    if samples:
        for directory, _, names in os.walk(samples):
            for name in sorted(names):
                if re.search(r"protected|encrypt", name, re.I):
                    with open(os.path.join(directory, name), "rb") as file:
                        yield "encrypted", re.sub(r"^.*?_(?=[^_]*_?[^_]*$)", "", name), file.read()
    body = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    inside = [("[Content_Types].xml", make.types("word/document.xml", "wordprocessingml.document")),
              ("_rels/.rels", make.relations([("officeDocument", "word/document.xml")]))]
    paragraph = f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
    yield "huge", "1-GiB-of-text.docx", large_zip(inside, "word/document.xml", (
        1024, f'<w:document xmlns:w="{body}"><w:body>', paragraph, "</w:body></w:document>"))
    yield "huge", "100-MiB-of-text.docx", large_zip(inside, "word/document.xml", (
        100, f'<w:document xmlns:w="{body}"><w:body>', paragraph, "</w:body></w:document>"))
    yield "huge", "one-word-of-900-MiB.docx", large_zip(inside, "word/document.xml", (
        900, f'<w:document xmlns:w="{body}"><w:body><w:p><w:r><w:t>', "word", "</w:t></w:r></w:p></w:body></w:document>"))
    yield "huge", "chapter-100000-times.epub", make.epub([text] * 1000, repeat=100_000)
    yield "huge", "stream-packed-once.pdf", make.pdf_of([zlib.compress(zlib.compress(b" ", 9) + bomb(1), 9), ], "/Filter/FlateDecode")
    double = zlib.compress(b"\x78\xda" + bomb(2048), 9)
    yield "huge", "stream-packed-twice.pdf", make.pdf_of([double], "/Filter[/FlateDecode/FlateDecode]")
    yield "huge", "10-GiB-of-zeros.txt.gz", gzip_of(10 * 1024)
    yield "huge", "2-GiB.csv.xz", lzma.compress(b'id,text\na,"' + b"x" * (256 * MIB))
    yield "huge", "record-of-200-MiB.jsonl", b'{"id":"a","text":"' + b"word " * (40 * MIB) + b'"}\n'
    yield "huge", "row-never-closed.csv", b'id,text\na,"' + b"word " * (16 * MIB)
    yield "huge", "length-of-2-to-63.warc", make.warc(b"<p>x").replace(b"Content-Length: ", b"Content-Length: 9223372036854775")
    yield "huge", "bin-of-2-GiB.rtf", b"{\\rtf1 \\bin2147483647 " + b"x" * 1000 + b"}"
    deep = 1_000_000
    yield "nested", "groups.rtf", b"{\\rtf1 " + b"{" * deep + text.encode() + b"}" * deep + b"}"
    yield "nested", "tables.docx", make.docx_of(f'<w:document xmlns:w="{body}"><w:body>' + "<w:tbl><w:tr><w:tc>" * 100_000 + paragraph
                                                + "</w:tc></w:tr></w:tbl>" * 100_000 + "</w:body></w:document>")
    yield "nested", "lists.odt", make.opendocument("text", "<text:list><text:list-item>" * 100_000 + f"<text:p>{text}</text:p>"
                                                   + "</text:list-item></text:list>" * 100_000)
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "word "}">' for n in range(12))
    yield "nested", "entities.docx", make.docx_of(f'<!DOCTYPE d [{entities}]><w:document xmlns:w="{body}"><w:body><w:p><w:r><w:t>&e11;</w:t>'
                                                  "</w:r></w:p></w:body></w:document>")
    yield "nested", "elements.html", b"<div>" * deep + text.encode() + b"</div>" * deep
    yield "nested", "quotes.md", b">" * deep + text.encode()
    yield "nested", "groups.tex", b"\\documentclass{a}\\begin{document}" + b"{" * deep + text.encode() + b"}" * deep + b"\\end{document}"
    yield "nested", "brackets.ipynb", b'{"cells":' + b"[" * deep + b"]" * deep + b"}"
    yield "nested", "brackets.json", b"[" * deep + b"]" * deep
    mails = make.mail(text)
    for _ in range(200):
        mails = b"Content-Type: message/rfc822\n\n" + mails
    yield "nested", "mails.eml", mails
    parts = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(10_000))
    yield "nested", "parts.eml", (parts + "Content-Type: text/plain\n\n" + text).encode()
    arrays = pdf.replace(b"/MediaBox[0 0 612 792]", b"/MediaBox" + b"[" * deep + b"]" * deep, 1)
    yield "nested", "arrays.pdf", arrays
    archive = make.zipped([("a.txt", text)])
    for _ in range(5):
        archive = make.zipped([("a.zip", archive), ("b.txt", text)])
    yield "nested", "six-deep.zip", archive
    archive = make.zipped([(f"{n}.txt", b" " * (64 * MIB)) for n in range(4)])
    yield "nested", "zips-of-zips.zip", make.zipped([(f"{n}.zip", archive) for n in range(50)])
    yield "nested", "bombs-in-a-mail.eml", make.mail(text, ("a.docx", large_zip(inside, "word/document.xml", (
        300, f'<w:document xmlns:w="{body}"><w:body>', paragraph, "</w:body></w:document>"))))
    yield "endless", "pages-of-themselves.pdf", pdf.replace(b"/Kids[4 0 R ", b"/Kids[2 0 R ", 1)
    yield "endless", "tables-of-themselves.pdf", pdf.replace(b"/Root 1 0 R>>", b"/Root 1 0 R/Prev %d>>" % pdf.rindex(b"xref\n0"), 1)
    sector = bytearray(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + b"\x3e\0\x03\0\xfe\xff\x09\0\x06\0" + bytes(10) + b"\x01\0\0\0\x01\0\0\0"
                       + bytes(4) + b"\0\x10\0\0\xfe\xff\xff\xff\0\0\0\0\xfe\xff\xff\xff\0\0\0\0\0\0\0\0" + b"\xff" * 432)
    yield "endless", "sectors-of-themselves.doc", bytes(sector) + b"\xfd\xff\xff\xff\x01\0\0\0" + b"\xff" * 504 + bytes(512)
    yield "endless", "macro-of-itself.tex", b"\\documentclass{a}\\def\\x{\\x\\x}\\begin{document}\\x " + text.encode() + b"\\end{document}"
    yield "endless", "pipe.txt", None


def gzip_of(mebibytes):
    body = bomb(mebibytes)
    crc = 0
    for _ in range(mebibytes):
        crc = zlib.crc32(b" " * MIB, crc)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + body + crc.to_bytes(4, "little") + (mebibytes * MIB % (1 << 32)).to_bytes(4, "little")


def size(count):
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1000


def said(report, place):
    reasons = [file["reason"] for kind in ("unread_files", "left_out") for file in report.get(kind) or []]
    text = "; ".join(dict.fromkeys(reason.split(work)[-1] for reason in reasons for work in [place]))
    read = report["added"] - 1
    parts = [f"{read} read" if read else "", text[:170], f"{report['empty']} without text" if report.get("empty") else ""]
    return "; ".join(part for part in parts if part) or "nothing"


# Of a process that Python starts, the system counts the memory of Python too: a small one starts the program.
MEASURED = """
import os, subprocess, sys
started = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL)
_, status, used = os.wait4(started.pid, 0)
with open(sys.argv[1], "w") as file:
    file.write(f"{status >> 8} {used.ru_utime + used.ru_stime} {used.ru_maxrss / 1024}")
"""


def main():
    program = os.path.abspath(sys.argv[1])
    print("| | file | size | content | status | s of processor | MiB |\n|---|---|---|---|---|---|---|")
    for kind, name, data in files(sys.argv[2] if len(sys.argv) > 2 else None):
        with tempfile.TemporaryDirectory() as work:
            place = os.path.join(work, "in")
            os.mkdir(place)
            path = os.path.join(place, name)
            if data is None:
                os.mkfifo(path)
            else:
                with open(path, "wb") as file:
                    file.write(data)
            with open(os.path.join(place, "zz.txt"), "w") as file:
                file.write("the words of a text beside it, which are to be read whatever comes before")
            out, err = (open(os.path.join(work, stream), "w+") for stream in ("out", "err"))
            used = os.path.join(work, "used")
            subprocess.run([sys.executable, "-c", MEASURED, used, program, "add", "idx", "in", "--format", "json", "--threads", "1"],
                           cwd=work, stdout=out, stderr=err, check=True)
            with open(used, encoding="ascii") as file:
                status, seconds, mebibytes = file.read().split()
            out.seek(0)
            err.seek(0)
            try:
                report = json.loads(out.read())
            except json.JSONDecodeError:
                report = None
            what = said(report, "in/") if report else "NO REPORT: " + err.read()[-300:]
            beside = report and report["added"] >= 1
            print(f"| {kind} | `{name}` | {size(len(data or b''))} | {what}{'' if beside else ' THE TEXT BESIDE IT IS LOST'} | {status} "
                  f"| {float(seconds):.1f} | {float(mebibytes):.0f} |", flush=True)


if __name__ == "__main__":
    main()
