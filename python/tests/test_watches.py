"""Watches: standing queries, which later commits are matched against."""

from __future__ import annotations

from typing import Any

import cento
import pytest


def joined(made: Any, seed: int, number: int = 40) -> str:
    return " ".join(made(number, seed))


def test_documents_that_are_added_later_match(empty: cento.Index, made: Any) -> None:
    own = "größe 🦉 " + joined(made, 1)
    with empty.writer() as w:
        w.add("before", own)
    assert empty.watches.list() == []
    assert len(empty.watches.events()) == 0
    watch = empty.watches.add(own, name="mine", min_passage=20)
    assert (watch.name, watch.kind, watch.options) == ("mine", "text", {"min_passage": 20})
    assert empty.watches.list() == [watch]
    assert empty.watches.add(own, name="mine", min_passage=20) == watch
    text = f"größer {joined(made, 2)} {own} end"
    with empty.writer() as w:
        w.add("other", joined(made, 3))
        w.add("new", text, {"n": 1})
    found = empty.watches.events()
    (event,) = found
    assert (event.watch, event.hit.id, event.hit.meta) == ("mine", "new", {"n": 1})
    (passage,) = event.hit.passages
    assert passage.unit == "bytes"
    # A letter without a word is not in the passage at its beginning.
    assert text.encode()[slice(*passage.b)].decode() in own
    assert passage.tokens >= 40
    assert (found.more, found.missed) == (False, False)
    assert len(empty.watches.events(found.next)) == 0
    # What a search with the watch finds.
    (hit,) = empty.search(own, min_passage=20, bytes=True, exclude_id=["before"])
    assert (hit.passages, hit.containment_of_a) == (
        event.hit.passages,
        event.hit.containment_of_a,
    )


def test_documents_and_signatures_are_watched_for(empty: cento.Index, made: Any) -> None:
    texts = [joined(made, at, 80) for at in range(3)]
    with empty.writer() as w:
        w.add(7, texts[0])
    assert empty.watches.add(id=7, min_containment=0.9).id == "7"
    signed = empty.sign(texts[1])
    assert empty.watches.add(signature=signed, name="s", min_containment=0.9).kind == "signature"
    many = [("t", texts[2]), (None, f"{texts[2]} more")]
    assert len(empty.watches.add_many(many, min_containment=0.5, max_df=0.9)) == 2
    with empty.writer() as w:
        for at, text in enumerate(texts):
            w.add(f"copy-{at}", text)
    found = empty.watches.events()
    assert len(found) == 4
    assert {event.hit.id for event in found} == {"copy-0", "copy-1", "copy-2"}
    assert [event.hit.id for event in empty.watches.events(watch="s")] == ["copy-1"]
    first = empty.watches.events(limit=1)
    assert first.more
    assert len(empty.watches.events(first.next)) == 3
    assert empty.watches.remove("s")
    assert not empty.watches.remove("s")
    assert len(empty.watches.list()) == 3
    with pytest.raises(cento.UnknownIdError, match="no watch has this name") as raised:
        empty.watches.events(watch="s")
    assert raised.value.id == "s"


def test_wrong_watches_are_refused(empty: cento.Index, made: Any) -> None:
    text, watches = joined(made, 1), empty.watches
    for wrong in ({}, {"text": text, "id": "a"}):
        subject: Any = wrong
        with pytest.raises(cento.InvalidArgumentError, match="one of them"):
            watches.add(**subject)
    with pytest.raises(cento.UnknownIdError):
        watches.add(id="nobody")
    with pytest.raises(cento.InvalidArgumentError, match="given together"):
        watches.add(text, webhook="https://a.example/")
    with pytest.raises(cento.InvalidArgumentError, match="at least 16 bytes"):
        watches.add(text, webhook="https://a.example/", webhook_secret="short")
    with pytest.raises(TypeError, match="limit"):
        watches.add(text, limit=5)  # type: ignore[call-arg]
    with pytest.raises(cento.InputError, match="the text is a int"):
        watches.add(5)  # type: ignore[arg-type]
    watches.add(text, name="a")
    with pytest.raises(cento.InputError, match="another content"):
        watches.add(f"{text} more", name="a")
    # All, or none.
    with pytest.raises(cento.InvalidArgumentError):
        watches.add_many([("b", text), ("c", "")])
    assert [watch.name for watch in watches.list()] == ["a"]
