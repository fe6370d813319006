"""Deduplication over iterators."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cento
import pytest


def kinds(texts: list[Any], **options: Any) -> list[str]:
    return [verdict.kind for _, verdict in cento.dedup(texts, **options)]


def test_each_item_comes_back_with_its_verdict(texts: list[tuple[str, str]]) -> None:
    items = [*texts, ("again", texts[0][1]), ("part", texts[4][1][:400])]
    found = list(cento.dedup(items, min_resemblance=0.5, min_containment=0.9))
    assert all(given is item for (given, _), item in zip(found, items, strict=True))
    for (id, _), verdict in found[:40]:
        at = int(id.split("-")[1])
        if at % 4 == 3:
            assert (verdict.kind, verdict.of) == ("near", f"doc-{at - 1}")
            assert verdict.resemblance is not None
            assert not verdict.kept
        else:
            assert verdict.kept
    assert (found[40][1].kind, found[40][1].of) == ("exact", "doc-0")
    assert (found[41][1].kind, found[41][1].of) == ("contained", "doc-4")
    assert kinds(items, exact=True).count("kept") == 41


def test_items_are_texts_or_mappings_too(texts: list[tuple[str, str]]) -> None:
    plain = [text for _, text in texts]
    rows = [{"text": text, "label": 1} for text in plain]
    expected = kinds(texts, min_resemblance=0.5)
    for items in (plain, rows):
        found = list(cento.dedup(items, min_resemblance=0.5))
        assert [verdict.kind for _, verdict in found] == expected
        assert [verdict.id for _, verdict in found] == [str(at) for at in range(40)]


def test_verdicts_do_not_depend_on_threads(made: Any) -> None:
    texts = [" ".join(made(60, at % 700)) for at in range(3000)]
    one = [verdict for _, verdict in cento.dedup(texts, threads=1)]
    three = [verdict for _, verdict in cento.dedup(iter(texts), threads=3)]
    assert one == three
    assert sum(verdict.kept for verdict in one) == 700


def test_what_is_kept_is_compared_with_tomorrow(
    tmp_path: Path, texts: list[tuple[str, str]]
) -> None:
    path = tmp_path / "kept.idx"
    assert kinds(texts[:20], min_resemblance=0.5, index=path).count("kept") == 15
    index = cento.Index(path)
    assert len(index) == 15
    assert index.stores_text
    others = [(f"other-{id}", text) for id, text in texts]
    assert (
        kinds(others, min_resemblance=0.5, index=path)[:20]
        == ["exact"] * 3 + ["near"] + (["exact"] * 3 + ["near"]) * 4
    )
    assert "kept" not in kinds(others[:8], min_resemblance=0.5, against=[path])


def test_a_repeated_batch_is_not_a_duplicate_of_itself(
    tmp_path: Path, texts: list[tuple[str, str]]
) -> None:
    path = tmp_path / "kept.idx"
    first = kinds(texts, min_resemblance=0.5, index=path)
    again = ["unchanged" if kind == "kept" else kind for kind in first]
    assert kinds(texts, min_resemblance=0.5, index=path) == again
    assert kinds(texts, min_resemblance=0.5, against=[path]) == again
    id, text = texts[0]
    corrected = [(id, text + " One more sentence was added.")]
    [(_, verdict)] = cento.dedup(corrected, min_resemblance=0.5, index=path)
    assert (verdict.kind, verdict.kept, verdict.replaces) == ("kept", True, True)
    stored = cento.Index(path).get(id)
    assert stored is not None
    assert stored.text == corrected[0][1]


def test_a_data_set_is_filtered_again(tmp_path: Path, made: Any) -> None:
    texts = [" ".join(made(60, at % 208)) for at in range(220)]
    rows: dict[str, list[Any]] = {"key": list(range(220)), "text": texts}

    def kept(size: int, **options: Any) -> int:
        keep = cento.Deduper(tmp_path / f"{options.get('id')}.idx", **options).keep
        batches = [{key: rows[key][at : at + size] for key in rows} for at in range(0, 220, size)]
        return sum(sum(keep(batch)) for batch in batches)

    assert [kept(100, id="key"), kept(50, id="key"), kept(220, id="key")] == [208] * 3
    # Without ids, nothing tells a document that comes again from a duplicate of it.
    assert [kept(100), kept(100)] == [208, 0]


def test_a_run_that_is_left_adds_nothing(tmp_path: Path, made: Any) -> None:
    path = tmp_path / "kept.idx"

    def endless() -> Iterator[tuple[int, str]]:
        at = 0
        while True:
            yield (at, " ".join(made(40, at)))
            at += 1

    for at, (item, verdict) in enumerate(cento.dedup(endless(), index=path)):
        assert item[0] == at
        assert verdict.kept
        if at == 2000:
            break
    assert len(cento.Index(path)) == 0
    with cento.Index(path).writer() as w:
        w.add("a", "the lock is free")


def test_an_item_that_is_no_document_ends_the_run(tmp_path: Path) -> None:
    path = tmp_path / "kept.idx"
    with pytest.raises(cento.InputError, match="item 1: the text is a int"):
        list(cento.dedup([("a", "text"), ("b", 5)], index=path))

    def raising() -> Iterator[str]:
        yield "text"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(cento.dedup(raising(), index=path))
    assert len(cento.Index(path)) == 0
    with pytest.raises(cento.InvalidArgumentError, match="`items` is a int, not a list"):
        cento.dedup(5)  # type: ignore[arg-type]


def test_passages_are_cut_out(made: Any) -> None:
    shared = " ".join(made(50, 1))
    first = " ".join(made(80, 2)) + " " + shared
    second = "größer 🦉 " + " ".join(made(80, 3)) + " " + shared + " end"
    found = list(cento.dedup([("a", first), ("b", second)], cut_passages=20))
    verdict = found[1][1]
    assert verdict.kept
    assert verdict.of is None
    (cut,) = verdict.cut
    # A blank goes with the passage.
    assert second[slice(*cut.range)] == shared + " "
    assert verdict.text == second[: cut.range[0]] + second[cut.range[1] :]
    in_bytes = list(cento.dedup([("a", first), ("b", second)], cut_passages=20, bytes=True))
    assert second.encode()[slice(*in_bytes[1][1].cut[0].range)].decode() == shared + " "
    short = [("a", first), ("b", "no more than six own words " + shared)]
    assert [verdict.kept for _, verdict in cento.dedup(short, cut_passages=20)] == [True, True]
    found = list(cento.dedup(short, cut_passages=20, min_left=7))
    assert [verdict.kind for _, verdict in found] == ["kept", "passages"]


def test_duplicates_are_those_of_one_group_or_of_different_groups(made: Any) -> None:
    text = " ".join(made(50, 1))
    groups = ["x", "x", "y", "y"]
    items = [
        {"id": str(at), "text": text, "meta": {"of": group}} for at, group in enumerate(groups)
    ]
    cases: list[tuple[dict[str, Any], list[bool]]] = [
        ({}, [True, False, False, False]),
        ({"within": "of"}, [True, False, True, False]),
        ({"group_by": "of"}, [True, True, False, False]),
    ]
    for options, kept in cases:
        found = [verdict.kept for _, verdict in cento.dedup(items, **options)]
        assert found == kept, options


def test_the_preferred_duplicate_stays_wherever_it_is(made: Any) -> None:
    texts = [" ".join(made(50, at)) for at in range(3)]
    items = [
        {"id": "a", "text": texts[0], "meta": {"year": 2001, "site": "x"}},
        {"id": "b", "text": texts[1], "meta": {"year": 2003, "site": "x"}},
        {"id": "c", "text": f"{texts[0]} end", "meta": {"year": 1999, "site": "y"}},
        {"id": "a", "text": texts[1], "meta": {"year": 2004, "site": "y"}},
        {"id": "e", "text": texts[2], "meta": {"year": 2000, "site": "x"}},
    ]
    cases: list[tuple[dict[str, Any], list[bool]]] = [
        ({}, [True, True, False, False, True]),
        ({"prefer": "oldest"}, [True, True, False, False, True]),
        ({"prefer": "year"}, [False, True, True, False, True]),
        ({"prefer": "-year"}, [True, False, False, True, True]),
        # Of equals that with the least id.
        ({"prefer": "longest"}, [False, False, True, True, True]),
        ({"prefer": "-year", "group_by": "site"}, [True, False, False, True, True]),
        ({"prefer": "-year", "within": "site"}, [True] * 5),
    ]
    for options, kept in cases:
        found = list(cento.dedup(items, min_resemblance=0.7, **options))
        # In the order of the items, whatever is preferred.
        assert all(given is item for (given, _), item in zip(found, items, strict=True)), options
        assert [verdict.kept for _, verdict in found] == kept, options
    verdicts = [verdict for _, verdict in cento.dedup(items, min_resemblance=0.7, prefer="year")]
    assert (verdicts[0].kind, verdicts[0].of) == ("near", "c")
    assert (verdicts[3].kind, verdicts[3].of) == ("exact", "b")


def test_a_preference_needs_all_items(tmp_path: Path, made: Any) -> None:
    path = tmp_path / "kept.idx"
    texts = [" ".join(made(40, at % 700)) for at in range(1500)]
    items: list[Any] = [
        {"text": text, "meta": {"n": -at}} for at, text in enumerate(texts) if at != 7
    ]
    items.insert(7, {"text": None})
    found = list(cento.dedup(items, prefer="n", on_error="skip", index=path))
    assert [item for item, _ in found] == items
    # The last of each.
    assert [at for at, (_, verdict) in enumerate(found) if verdict.kept] == list(range(800, 1500))
    assert (found[7][1].kind, found[7][1].id) == ("failed", "item 7")
    assert len(cento.Index(path)) == 700
    with pytest.raises(cento.InputError, match="item 7: the text is a NoneType"):
        next(cento.dedup(items, prefer="n", index=tmp_path / "none.idx"))
    with pytest.raises(cento.InvalidArgumentError, match="no document has the field `m`"):
        next(cento.dedup([texts[0]], prefer="m"))
    with pytest.raises(cento.InvalidArgumentError, match="a `Deduper` sees a batch at a time"):
        cento.Deduper(path, prefer="n")
    with pytest.raises(cento.InvalidArgumentError, match="without `wait`"):
        cento.dedup(texts, prefer="n", index=path, wait=1)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"exact": True, "min_resemblance": 0.5}, "`exact` drops only"),
        ({"exact": True, "min_containment": 0.5}, "`exact` drops only"),
        ({"cut_passages": 4}, "at least 5"),
        ({"min_left": 7}, "give both"),
        ({"within": "a", "group_by": "b"}, "cannot be combined"),
        ({"cut_passages": 20, "store_text": False}, "without `store_text=False`"),
        ({"min_resemblance": 1.5}, "must be a number from 0 to 1"),
        ({"threads": -1}, "`threads` cannot be -1"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    tmp_path: Path, options: Any, what: str
) -> None:
    path = tmp_path / "kept.idx"
    with pytest.raises(cento.InvalidArgumentError, match=what):
        cento.dedup(["text"], index=path, **options)
    with pytest.raises(cento.InvalidArgumentError, match=what):
        cento.Deduper(path, **options).keep({"text": ["text"]})
    assert not path.exists()


def test_options_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    wrong: Any = {"min_similarity": 0.5}
    with pytest.raises(TypeError, match=r"dedup\(\) got an unexpected .* 'min_similarity'"):
        cento.dedup(["text"], **wrong)
    with pytest.raises(TypeError, match=r"dedup_arrow\(\) got an unexpected"):
        cento.dedup_arrow([], **wrong)
    with pytest.raises(TypeError, match=r"Deduper\(\) got an unexpected"):
        cento.Deduper(tmp_path / "kept.idx", **wrong)
    for call in (cento.dedup, cento.dedup_arrow, cento.Deduper):
        named = inspect.signature(call).parameters
        assert set(cento.DedupOptions.__optional_keys__) < set(named)


def test_an_index_has_the_settings_that_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "kept.idx"
    settings: Any = {"scheme": "kgram(k=3)", "store_text": False}
    assert kinds(["a b c d e"], index=path, **settings) == ["kept"]
    assert kinds(["a b c d e"], index=path, **settings) == ["exact"]
    assert kinds(["a b c d e"], index=path) == ["exact"]
    for other in ({"scheme": "winnow(k=5,w=10)"}, {"analyzer": "chars"}, {"store_text": True}):
        asked: Any = other
        with pytest.raises(cento.OpenError, match="leave the setting out"):
            cento.dedup(["a b c d e"], index=path, **asked)


def test_batches_of_a_data_set_are_filtered(tmp_path: Path, texts: list[tuple[str, str]]) -> None:
    keep = cento.Deduper(tmp_path / "kept.idx", min_resemblance=0.5).keep
    kept: list[bool] = []
    for at in range(0, 40, 10):
        kept += keep({"text": [text for _, text in texts[at : at + 10]]})
    assert kept == [at % 4 != 3 for at in range(40)]
    named = cento.Deduper(tmp_path / "named.idx", id="url", text="body")
    assert named.verdicts({"url": ["u"], "body": ["text"]})[0].id == "u"
