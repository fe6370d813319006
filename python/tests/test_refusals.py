"""Arguments of a wrong kind, and the other items when one item is no document."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import cento
import pytest

pa = pytest.importorskip("pyarrow")

Words = Callable[[int, int], list[str]]

LONE = "half \ud83d of an owl"
ONE_TEXT = "one text where a list of texts is meant"


@pytest.fixture
def good(made: Words) -> list[str]:
    return [" ".join(made(40, seed)) for seed in range(6)]


def test_one_text_is_not_taken_for_many(
    empty: cento.Index, tmp_path: Path, good: list[str]
) -> None:
    calls: list[Callable[[Any], object]] = [
        lambda one: cento.dedup(one),
        lambda one: empty.search_many(one),
        lambda one: cento.Deduper(tmp_path / "d").keep({"text": one}),
        lambda one: cento.Deduper(tmp_path / "d").verdicts({"text": one}),
        lambda one: cento.Deduper(tmp_path / "d", id="id").keep({"id": one, "text": [one]}),
    ]
    for call in calls:
        for one in (good[0], good[0].encode(), bytearray(b"a b c")):
            with pytest.raises(cento.InputError, match=ONE_TEXT):
                list(cast(Any, call(one)) or ())
    with empty.writer() as w:
        for one in (good[0], good[0].encode()):
            with pytest.raises(cento.InputError, match=ONE_TEXT):
                w.add_many(cast(Any, one))
            with pytest.raises(cento.Error, match="where a table is meant"):
                w.add_arrow(one)
    with pytest.raises(cento.Error, match="where a table is meant"):
        cento.dedup_arrow(good[0])
    assert len(empty) == 0
    assert not (tmp_path / "d").exists()


def test_a_record_is_no_batch_and_columns_are_no_items(
    empty: cento.Index, tmp_path: Path, good: list[str]
) -> None:
    keep: Any = cento.Deduper(tmp_path / "d").keep
    for record in ({"id": "0", "text": good[0]}, {"text": None}, {"text": 5}):
        with pytest.raises(cento.InputError, match="pass batched=True"):
            keep(record)
    for batch in (good, good[0], 5, None):
        with pytest.raises(cento.InputError, match="where a batch of columns is meant"):
            keep(batch)
    with pytest.raises(cento.InputError, match="there is no column 'text'"):
        keep({"content": good})
    with pytest.raises(cento.InputError, match="different lengths"):
        cento.Deduper(tmp_path / "d", id="id").keep({"id": ["a"], "text": good[:2]})
    columns: Any = {"id": ["a", "b"], "text": good[:2]}
    with pytest.raises(cento.InputError, match="columns by their names, where a list is meant"):
        cento.dedup(columns)
    with pytest.raises(cento.InputError, match="columns by their names, where a list is meant"):
        empty.search_many(columns)
    with empty.writer() as w, pytest.raises(cento.InputError, match="where a list is meant"):
        w.add_many(columns)
    assert not (tmp_path / "d").exists()


def test_filter_without_batched_is_an_error(tmp_path: Path, good: list[str]) -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"id": [str(n) for n in range(6)], "text": [good[0]] * 6})
    with pytest.raises(cento.InputError, match="pass batched=True"):
        rows.filter(cento.Deduper(tmp_path / "d").keep)
    assert len(rows.filter(cento.Deduper(tmp_path / "d").keep, batched=True)) == 1
    for kind in ("arrow", "numpy", "pandas"):
        keep = cento.Deduper(tmp_path / kind).keep
        assert len(rows.with_format(kind).filter(keep, batched=True)) == 1, kind


def test_one_path_or_name_is_not_taken_for_many(tmp_path: Path, good: list[str]) -> None:
    for one in ("kept.idx", tmp_path):
        with pytest.raises(
            cento.InvalidArgumentError, match="one path where a list of paths is meant"
        ):
            cento.dedup(good, against=cast(Any, one))
        with pytest.raises(
            cento.InvalidArgumentError, match="one path where a list of paths is meant"
        ):
            cento.merge(tmp_path / "all", cast(Any, one))
    with pytest.raises(cento.InvalidArgumentError, match="one name where a list of names is meant"):
        cento.compare(good[0], good[1], measures="style")
    with pytest.raises(cento.InputError, match="the second text: there is nothing to compare"):
        cento.compare(good[0], " ")


def test_what_is_no_table_is_refused_with_what_to_pass(empty: cento.Index, good: list[str]) -> None:
    table = pa.table({"id": ["a", "b"], "text": good[:2]})
    cases: list[tuple[Any, str]] = [
        (table["text"], "is no table of Arrow"),
        (table["text"].combine_chunks(), "is no table of Arrow"),
        ({"train": table}, "pass one of its values ('train')"),
        (5, "a int is no Arrow table"),
        ([{"id": "a", "text": "b"}], "a dict is no Arrow table"),
    ]
    polars = pytest.importorskip("polars")
    cases += [
        (polars.Series(good), "is no table of Arrow"),
        (polars.DataFrame({"text": good}).lazy(), "pass `frame.collect()`"),
    ]
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"text": good})
    cases.append((datasets.DatasetDict({"train": rows}), "pass one of its values ('train')"))
    for data, what in cases:
        with pytest.raises(cento.InvalidArgumentError) as raised, empty.writer() as w:
            w.add_arrow(data)
        assert what in str(raised.value), type(data)
        with pytest.raises(cento.InvalidArgumentError) as raised:
            list(cento.dedup_arrow(data))
        assert what in str(raised.value), type(data)
    for data in (5, None, table):
        with pytest.raises(cento.InvalidArgumentError, match="not a list"):
            empty.search_many(cast(Any, data))
        with pytest.raises(cento.InvalidArgumentError, match="`add_arrow`"), empty.writer() as w:
            w.add_many(cast(Any, data))


def test_a_column_of_arrow_is_a_list_of_texts(index: cento.Index, good: list[str]) -> None:
    column = pa.chunked_array([good[:2], good[2:], [good[0]]])
    expected = [len(answer) for answer in index.search_many([*good, good[0]])]
    for texts in (column, column.combine_chunks(), column.dictionary_encode()):
        assert [len(answer) for answer in index.search_many(texts)] == expected
        kept = [verdict.kept for _, verdict in cento.dedup(texts)]
        assert kept == [True] * 6 + [False]
    polars = pytest.importorskip("polars")
    series = polars.Series([*good, good[0]])
    assert [len(answer) for answer in index.search_many(series)] == expected
    assert [verdict.kept for _, verdict in cento.dedup(series)] == [True] * 6 + [False]


def bad_items(good: list[str]) -> list[Any]:
    """Good items, whose texts are all different, and bad ones between them."""
    return [
        ("a", good[0]),
        {"id": "b", "text": None},
        ("c", LONE),
        ("d", good[1]),
        ("e" * 2000, good[2]),
        {"id": "f", "text": good[3], "meta": {"n": object()}},
        ("g", good[4]),
        5,
        ("h", "a", "b", "c"),
        ("i", good[5]),
    ]


def test_bad_items_are_skipped_counted_and_named(empty: cento.Index, good: list[str]) -> None:
    items = bad_items(good)
    with empty.writer() as w:
        report = w.add_many(items, on_error="skip")
    assert (report.added, report.failed) == (4, 6)
    assert [refusal.number for refusal in report.refusals] == [1, 2, 4, 5, 7, 8]
    assert "the text is a NoneType" in report.refusals[0].reason
    assert "surrogate" in report.refusals[1].reason
    assert sorted(empty.ids()) == ["a", "d", "g", "i"]

    found = list(cento.dedup(items, on_error="skip"))
    assert [item for item, _ in found] == items
    kinds = [verdict.kind for _, verdict in found]
    assert [at for at, kind in enumerate(kinds) if kind == "failed"] == [1, 2, 4, 5, 7, 8]
    assert kinds.count("kept") == 4
    failed = found[1][1]
    assert (failed.kept, failed.id) == (False, "item 1")
    assert "NoneType" in (failed.reason or "")
    assert '"verdict":"failed"' in failed.to_json()
    # Many batches, in order.
    many = [(f"{n}", None if n % 7 == 3 else f"{n} {good[n % 6]}") for n in range(3000)]
    kinds = [
        verdict.kind for _, verdict in cento.dedup(cast(Any, many), on_error="skip", exact=True)
    ]
    assert all((kind == "failed") == (n % 7 == 3) for n, kind in enumerate(kinds))


def test_an_error_of_the_iterator_is_no_bad_item(empty: cento.Index, good: list[str]) -> None:
    def items() -> Any:
        yield "a", good[0]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(cento.dedup(items(), on_error="skip"))
    with pytest.raises(ZeroDivisionError), empty.writer() as w:
        w.add_many(items(), on_error="skip")
    with pytest.raises(cento.InvalidArgumentError, match="on_error"):
        list(cento.dedup(good, on_error=cast(Any, "ignore")))
    with pytest.raises(cento.InvalidArgumentError, match="on_error"), empty.writer() as w:
        w.add_many([], on_error=cast(Any, "ignore"))


def test_bad_rows_are_skipped_counted_and_named(empty: cento.Index, good: list[str]) -> None:
    ids = ["a", "b", None, "d", "e" * 2000, "a2"]
    texts = [good[0], None, good[1], good[2], good[3], good[0]]
    table = pa.table({"id": ids, "text": texts})
    with empty.writer() as w:
        report = w.add_arrow(table, on_error="skip")
    assert (report.added, report.failed) == (4, 2)
    assert [refusal.number for refusal in report.refusals] == [1, 4]
    assert report.refusals[0].reason == "there is no `text`"
    assert sorted(empty.ids()) == ["a", "a2", "d", "row/2"]

    stream = cento.dedup_arrow(table, on_error="skip")
    assert pa.table(stream)["text"].to_pylist() == [good[0], good[1], good[2]]
    assert stream.failed == 2
    assert [each.number for each in stream.refusals] == [1, 4]
    annotated = pa.table(cento.dedup_arrow(table, annotate=True, on_error="skip"))
    rows = annotated["dedup"].to_pylist()
    kinds = [row["verdict"] for row in rows]
    assert kinds == ["kept", "failed", "kept", "kept", "failed", "exact"]
    assert (rows[1]["reason"], rows[0]["reason"]) == ("there is no `text`", None)
    # Without it a row ends the run, and the rows before it were good.
    with pytest.raises(cento.InputError, match="row 1: there is no `text`"):
        list(cento.dedup_arrow(table))
    with pytest.raises(cento.InputError, match="there is no column `link`"):
        list(cento.dedup_arrow(table, text="link", on_error="skip"))


def test_what_came_before_a_bad_item_can_be_committed(empty: cento.Index, good: list[str]) -> None:
    table = pa.table({"id": ["x", "y", "z"], "text": [good[3], None, good[4]]})
    with empty.writer() as w:
        with pytest.raises(cento.InputError, match="item 1"):
            w.add_many(bad_items(good))
        with pytest.raises(cento.InputError, match="row 1"):
            w.add_arrow(table)
    assert sorted(empty.ids()) == ["a", "x"]


def test_null_ids_are_numbered_and_replace_nothing(empty: cento.Index, good: list[str]) -> None:
    items: list[Any] = [
        (None, good[0]),
        {"id": math.nan, "text": good[1]},
        {"id": 3.0, "text": good[2]},
    ]
    with empty.writer() as w:
        w.add_many(items)
    assert sorted(empty.ids()) == ["3", "item/0", "item/1"]
    with empty.writer() as w:
        # The same again is the same.
        assert w.add_many(items).unchanged == 3
        with pytest.raises(cento.InputError, match="its number is the id of another"):
            w.add_many([(None, good[5])])
        report = w.add_many([(None, good[5]), ("n", good[5])], on_error="skip")
    assert (report.added, report.failed) == (1, 1)


def test_searches_go_on_after_what_is_no_text(index: cento.Index, good: list[str]) -> None:
    texts: list[Any] = [good[0], None, LONE, "%PDF-1.7 \0", good[1]]
    with pytest.raises(cento.InputError, match="text 1: the text is a NoneType"):
        index.search_many(texts)
    answers = index.search_many(texts, on_error="skip")
    assert len(answers) == 5
    assert [refusal.number for refusal in answers.refusals] == [1, 2, 3]
    assert answers.refusals[0].reason == "the text is a NoneType, not a str"
    assert list(answers[1]) == []
    table = pa.table(index.search_many(texts, on_error="skip", to_arrow=True))
    assert set(table["query"].to_pylist()) <= {0, 4}


def test_a_deduper_leaves_out_what_is_no_document(tmp_path: Path, good: list[str]) -> None:
    batch: Any = {"text": [good[0], None, good[1], good[0]]}
    with pytest.raises(cento.InputError, match="item 1"):
        cento.Deduper(tmp_path / "raises").keep(batch)
    deduper = cento.Deduper(tmp_path / "skips", on_error="skip")
    assert deduper.keep(batch) == [True, False, True, False]
    assert [refusal.number for refusal in deduper.refusals] == [1]
    assert len(cento.Index(tmp_path / "skips")) == 2


def test_a_number_that_is_none_of_threads_or_bytes_is_refused_by_name(
    empty: cento.Index, good: list[str]
) -> None:
    # It was an OverflowError of the boundary to Rust, which no handler of cento.Error saw.
    calls: dict[str, Callable[[Any], object]] = {
        "memory": lambda n: empty.writer(memory=n),
        "threads": lambda n: empty.search_many(good, threads=n),
        "segments": lambda n: empty.compact(n),
        "after": lambda n: empty.watches.events(n),
        "limit": lambda n: empty.watches.events(limit=n),
    }
    for name, call in calls.items():
        for number in (-1, 1 << 70, 1.5, "3", True):
            with pytest.raises(cento.InvalidArgumentError, match=f"`{name}` is") as refused:
                call(number)
            assert (refused.value.argument, refused.value.reason) == (name, "invalid_argument")


def test_every_refusal_has_a_reason(empty: cento.Index, good: list[str]) -> None:
    # Refusals that Python made itself had none.
    calls: list[tuple[str, Callable[[], object]]] = [
        ("invalid_input", lambda: empty.search_many(cast(Any, good[0]))),
        ("invalid_argument", lambda: empty.search_many(cast(Any, None))),
        ("invalid_argument", lambda: empty.open_writer(wait=-1)),
        ("invalid_argument", lambda: list(cento.dedup(good, on_error=cast(Any, "stop")))),
        ("unknown_id", lambda: empty["nobody"]),
    ]
    for reason, call in calls:
        with pytest.raises(cento.Error) as refused:
            call()
        assert refused.value.reason == reason
