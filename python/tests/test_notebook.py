"""What a notebook shows of answers and comparisons."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

import cento

EVIL = "<script>alert(1)</script> <img src=x onerror=alert(2)> \"' &amp; \u202e"


def shown(value: Any) -> str:
    """What a notebook shows."""
    html = value._repr_html_()
    assert isinstance(html, str)
    return html


class Frames(HTMLParser):
    """The elements outside of frames, and the pages in them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.pages: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "iframe":
            about = dict(attrs)
            # Without `allow-same-origin`, so that nothing in it reaches the notebook.
            assert about["sandbox"] == "allow-scripts"
            self.pages.append(about["srcdoc"] or "")


PLAIN = {"table", "caption", "thead", "tbody", "tr", "th", "td", "iframe"}


def test_an_answer_shows_its_passages_in_their_texts(
    empty: cento.Index, texts: list[tuple[str, str]]
) -> None:
    text = texts[0][1]
    with empty.writer() as w:
        w.add(EVIL, f"{EVIL} {text}", {EVIL: EVIL})
        w.add("https://example.org/a", text)
    answer = empty.search(f"{text} {EVIL}", passages=True)
    found = Frames(shown(answer))
    assert set(found.tags) == PLAIN
    (page,) = found.pages
    assert page.startswith("<!DOCTYPE html>")
    # The parts of the report: shares, the bar, sources, the text in colors, side by side.
    for part in ('class="shares"', 'class="bar"', "Sources side by side", "<mark ", "beside"):
        assert part in page
    assert 'href="https://example.org/a"' in page
    inside = Frames(page)
    assert inside.tags.count("script") == 1
    assert "img" not in inside.tags
    assert "\u202e" not in page
    assert "Content-Security-Policy" in page
    # A search by an id has a text, too; a signature does not.
    assert Frames(shown(empty.search(id=EVIL, passages=True))).pages
    by_signature = empty.search(signature=cento.sign(text), passages=True)
    assert not Frames(shown(by_signature)).pages
    assert not Frames(shown(empty.search(text))).pages
    many = empty.search_many([text, "nothing is like this"], passages=True)
    assert [len(Frames(shown(each)).pages) for each in many] == [1, 0]


def test_an_answer_of_an_index_without_texts_shows_itself(
    tmp_path: Any, texts: list[tuple[str, str]]
) -> None:
    index = cento.Index(tmp_path / "i", create=True, store_text=False)
    with index.writer() as w:
        w.add_many(texts)
    (page,) = Frames(shown(index.search(texts[0][1], passages=True))).pages
    assert "doc-0" in page


def test_a_comparison_shows_both_texts(texts: list[tuple[str, str]]) -> None:
    text = texts[0][1]
    found = cento.compare(f"{EVIL} {text}", f"ü {text}", measures=["levenshtein"])
    html = shown(found)
    frames = Frames(html)
    assert set(frames.tags) == PLAIN
    (page,) = frames.pages
    assert "img" not in Frames(page).tags
    assert text[:40] in unescape(re.sub(r"<[^>]*>", "", page))
    assert "levenshtein" in html
    # Offsets in bytes, if requested, change nothing of it.
    in_bytes = cento.compare(f"{EVIL} {text}", f"ü {text}", bytes=True)
    assert Frames(shown(in_bytes)).pages == frames.pages
    assert not Frames(shown(cento.compare("a", "b"))).pages
