"""Finds a passage in sixteen submissions, each in another form, and in one archive with all of them.

    python3 tools/formats/submissions.py CENTO

CENTO is the program, built with the feature `office`. A passage of sixty words stands between others in each of the
submissions; they are added, and the passage is searched for. The table has of each what the passage's place is, and how many
of its words are found.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

import make


def words(seed, count):
    generator = random.Random(seed)
    letters = lambda: "".join(generator.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(generator.randint(3, 9)))
    return " ".join(letters() for _ in range(count))


def folder(passage):
    """The submissions by their names, with the id that each document has in the index."""
    parts = lambda seed: [words(seed, 50), f"{words(seed + 50, 10)} {passage} {words(seed + 60, 10)}", words(seed + 70, 50)]
    plain = lambda seed: "\n\n".join(parts(seed)).encode()
    odt = make.odt(parts(16))
    return [
        ("a.docx", make.docx(parts(1)), ""),
        ("b.odt", make.odt(parts(2)), ""),
        ("c.rtf", make.rtf(parts(3)), ""),
        ("d.doc", make.rtf(parts(4)), ""),
        ("e.pdf", make.pdf(parts(5)), ""),
        ("f.epub", make.epub(parts(6)), ""),
        ("g.pptx", make.pptx(parts(7)), ""),
        ("h.odp", make.odp(parts(8)), ""),
        ("i.html", make.html(parts(9)), ""),
        ("j.tex", make.tex(parts(10)), ""),
        ("k.ipynb", make.notebook(parts(11)), ""),
        ("l.txt", plain(12), ""),
        ("m.md", plain(13), ""),
        ("n.eml", make.mail("See the file.", ("essay.docx", make.docx(parts(14)))), "/essay.docx"),
        ("o.warc", make.warc(make.html(parts(15))), "/http://example.org/a"),
        ("p.zip", make.zipped([("q.zip", make.zipped([("r.odt", odt)]))]), "/q.zip/r.odt"),
    ]


def main():
    program = os.path.abspath(sys.argv[1])
    passage = words(1000, 60)
    with tempfile.TemporaryDirectory() as work:
        run = lambda *args: subprocess.run([program, *args], cwd=work, capture_output=True, text=True)
        os.mkdir(os.path.join(work, "in"))
        submissions = folder(passage)
        for name, data, _ in submissions:
            with open(os.path.join(work, "in", name), "wb") as file:
                file.write(data)
        with open(os.path.join(work, "mixed.zip"), "wb") as file:
            # The archive within an archive would be one too deep.
            file.write(make.zipped([(f"class/{name}", data) for name, data, _ in submissions if name != "p.zip"]
                                   + [("class/p.zip", make.zipped([("r.odt", make.odt([passage]))]))]))
        found = {}
        for index, source in (("folder.idx", "in"), ("zip.idx", "mixed.zip")):
            added = run("add", index, source, "--format", "json")
            report = json.loads(added.stdout)
            print(f"{source}: {report['added']} added, {report.get('left_out')}, {report.get('unread_files')}", file=sys.stderr)
            answer = json.loads(run("search", index, "--text", passage, "--passages", "-n", "50", "--format", "json").stdout)
            found[source] = {hit["id"]: hit["passages"] for hit in answer["hits"]}
        print("| submission | found in the folder | words | in the archive | words |\n|---|---|---|---|---|")
        for name, _, inner in submissions:
            cells = []
            for source, id in (("in", f"in/{name}{inner}"), ("mixed.zip", f"mixed.zip/class/{name}{inner.replace('/q.zip', '')}")):
                passages = found[source].get(id)
                if passages is None:
                    cells += ["no", "0"]
                    continue
                first = passages[0]
                place = [f"{what} {first[what]}" for what in ("page", "line") if what in first]
                cells += [", ".join(place) or "yes", str(sum(part["tokens"] for part in passages))]
            print(f"| `{name}{inner}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
