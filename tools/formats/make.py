"""Small documents in the forms that people hand in, made from text."""

import gzip
import io
import json
import zipfile

PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
ODF = "urn:oasis:names:tc:opendocument:xmlns"


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return out.getvalue()


def relations(all_of):
    inner = "".join(f'<Relationship Id="r{n}" Type="{OFFICE}/{kind}" Target="{to}"/>' for n, (kind, to) in enumerate(all_of, 1))
    return f'<Relationships xmlns="{PACKAGE}/relationships">{inner}</Relationships>'


def types(part, kind):
    main = f"application/vnd.openxmlformats-officedocument.{kind}.main+xml"
    return (f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
            f'<Override PartName="/{part}" ContentType="{main}"/></Types>')


def docx_of(document):
    return zipped([("[Content_Types].xml", types("word/document.xml", "wordprocessingml.document")),
                   ("_rels/.rels", relations([("officeDocument", "word/document.xml")])), ("word/document.xml", document)])


def docx(paragraphs):
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    return docx_of('<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
                   f"{body}</w:body></w:document>")


def opendocument(kind, body):
    content = (f'<office:document-content xmlns:office="{ODF}:office:1.0" xmlns:text="{ODF}:text:1.0" xmlns:draw="{ODF}:drawing:1.0">'
               f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>")
    return zipped([("mimetype", f"application/vnd.oasis.opendocument.{kind}"), ("content.xml", content)])


def odt(paragraphs):
    return opendocument("text", "".join(f"<text:p>{text}</text:p>" for text in paragraphs))


def odp(slides):
    return opendocument("presentation", "".join(
        f'<draw:page draw:name="p{n}"><draw:frame><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame></draw:page>'
        for n, text in enumerate(slides)))


def pptx(slides):
    p, a = "http://schemas.openxmlformats.org/presentationml/2006/main", "http://schemas.openxmlformats.org/drawingml/2006/main"
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="r{n}"/>' for n in range(1, len(slides) + 1))
    files = [("[Content_Types].xml", types("ppt/presentation.xml", "presentationml.presentation")),
             ("_rels/.rels", relations([("officeDocument", "ppt/presentation.xml")])),
             ("ppt/presentation.xml", f'<p:presentation xmlns:p="{p}" xmlns:r="{OFFICE}"><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>'),
             ("ppt/_rels/presentation.xml.rels", relations([("slide", f"slides/slide{n + 1}.xml") for n in range(len(slides))]))]
    for number, text in enumerate(slides, 1):
        files.append((f"ppt/slides/slide{number}.xml", f'<p:sld xmlns:p="{p}" xmlns:a="{a}"><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>'
                      f"{text}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"))
        files.append((f"ppt/slides/_rels/slide{number}.xml.rels", relations([])))
    return zipped(files)


def epub(paragraphs, repeat=1):
    container = ('<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="b.opf" '
                 'media-type="application/oebps-package+xml"/></rootfiles></container>')
    package = ('<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest><item id="c" href="c.xhtml" '
               'media-type="application/xhtml+xml"/></manifest><spine>' + '<itemref idref="c"/>' * repeat + "</spine></package>")
    chapter = '<html xmlns="http://www.w3.org/1999/xhtml"><body>' + "".join(f"<p>{text}</p>" for text in paragraphs) + "</body></html>"
    return zipped([("mimetype", "application/epub+zip"), ("META-INF/container.xml", container), ("b.opf", package), ("c.xhtml", chapter)])


def rtf(paragraphs):
    return ("{\\rtf1\\ansi " + "".join(f"{text}\\par\n" for text in paragraphs) + "}").encode()


def pdf_of(contents, extra=""):
    """A PDF whose pages have these content streams; `extra` goes into their dictionaries."""
    kids = "".join(f"{4 + 2 * n} 0 R " for n in range(len(contents)))
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {len(contents)}>>".encode(),
               b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"]
    for number, content in enumerate(contents):
        objects.append(f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>/Contents {5 + 2 * number} 0 R>>".encode())
        objects.append(f"<</Length {len(content)}{extra}>>\nstream\n".encode() + content + b"\nendstream")
    out, offsets = b"%PDF-1.4\n", []
    for number, data in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + data + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode() + b"".join(f"{at:010} 00000 n \n".encode() for at in offsets)
    return out + f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n".encode()


def pdf(pages):
    def content(text):
        words = text.split()
        lines = "".join(f"({' '.join(words[at:at + 10])}) Tj T*\n" for at in range(0, len(words), 10))
        return f"BT /F 12 Tf 14 TL 50 740 Td\n{lines}ET".encode()

    return pdf_of([content(page) for page in pages])


def mail(text, attached=None, subject="Submission"):
    head = f"From: a@example.org\nTo: b@example.org\nSubject: {subject}\nMIME-Version: 1.0\n"
    if attached is None:
        return (head + f"Content-Type: text/plain; charset=utf-8\n\n{text}\n").encode()
    import base64

    name, data = attached
    return (head + "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\n" + text + "\n--x\nContent-Type: "
            f"application/octet-stream; name={name}\nContent-Disposition: attachment; filename={name}\nContent-Transfer-Encoding: base64\n\n"
            + base64.encodebytes(data).decode() + "--x--\n").encode()


def html(paragraphs):
    menu = "".join(f'<li><a href="/{n}">Menu {n}</a></li>' for n in range(30))
    body = "".join(f"<p>{text}</p>\n" for text in paragraphs)
    return f"<!doctype html><html><head><title>t</title></head><body><ul>{menu}</ul>\n{body}<ul>{menu}</ul></body></html>".encode()


def warc(page):
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page
    head = ("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/a\r\nContent-Type: application/http; msgtype=response\r\n"
            f"Content-Length: {len(body)}\r\n\r\n")
    return head.encode() + body + b"\r\n\r\n"


def notebook(paragraphs):
    return json.dumps({"cells": [{"cell_type": "markdown", "source": [text]} for text in paragraphs], "nbformat": 4}).encode()


def tex(paragraphs):
    return ("\\documentclass{article}\n\\begin{document}\n" + "\n\n".join(paragraphs) + "\n\\end{document}\n").encode()


def packed(data):
    return gzip.compress(data, mtime=0)
