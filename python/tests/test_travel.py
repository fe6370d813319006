"""Results go to other processes, into caches, JSON and Arrow."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import multiprocessing
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import cento
import pytest


@pytest.fixture
def index(tmp_path: Path, texts: list[tuple[str, str]]) -> cento.Index:
    """An index of documents with everything that a result can show."""
    index = cento.Index(tmp_path / "travel.idx", create=True)
    with index.writer() as w:
        for at, (id, text) in enumerate(texts):
            w.add(id, text, {"year": 2000 + at, "deep": {"of": [1, None, "ü"]}})
        w.add(
            "parts", meta={"year": 1999}, parts=[("one.txt", texts[0][1]), ("two.txt", texts[4][1])]
        )
    return index


def values(index: cento.Index, texts: list[tuple[str, str]], path: Path) -> list[Any]:
    """Results of every kind."""
    text = f"größer 🦉 {texts[0][1]}"
    question = cento.Benchmarks([{"id": "q", "question": text, "answer": "Saturn"}, "Why?"])
    findings = question.find([f"{text} Saturn"])[0]
    index.watches.add(text, name="w", min_containment=0.1)
    with index.writer() as w:
        items: list[Any] = [("late", text, {"year": 2050}), ("bad", None)]
        report = w.add_many(items, on_error="skip")
    shard = cento.Index(path / "shard.idx", create=True)
    with shard.writer() as w:
        w.add("a", text)
    with cento.Index(path / "alike.idx", create=True).writer() as w:
        w.add_many((str(at), f"own{at} words{at} of{at} number{at} {text}") for at in range(6))
    bad: list[Any] = [text, None]
    shared = f"{' '.join(f'w{at}' for at in range(60))} {text}"
    return [
        report,
        index.search(text, passages=True, limit=3),
        index.search(text, goal="trace", passages=True),
        index.search(text, goal="trace").trace,
        index.search(" ".join(texts[0][1].split()[:3]), goal="trace").trace,
        index.search_many(bad, passages=True, on_error="skip"),
        index.search(text).unseen,
        next(iter(index.search(text, rank="weight", verify="levenshtein"))),
        next(iter(index.search(text, passages=True))).passages[0],
        next(index.pairs(weighted=True, passages=True, min_containment=0.5)),
        index.clusters(min_resemblance=0.5)[0],
        index.families(date="year"),
        index.lineage(date="year"),
        index.repeated_passages(0.01),
        cento.Index(path / "alike.idx").repeated_passages()[0],
        index.sign(text),
        index.stats(),
        index.check(),
        index.compact(),
        index["parts"],
        index["parts"].parts[0],
        index.watches.list(),
        index.watches.events(),
        cento.merge(path / "all.idx", [shard]),
        cento.compare(text, f"{text} more", measures=["levenshtein"]),
        [verdict for _, verdict in cento.dedup([text, text, shared, None], on_error="skip")],
        next(v for _, v in cento.dedup([text, shared], cut_passages=20) if v.cut),
        findings[0],
        question.unusable[0],
        cento.presets(),
        cento.schemes(),
        cento.Index(path / "preset.idx", create=True, preset="rewritten").search(text).defaults,
        cento.Problem("file", "section", 7, "what"),
    ]


def leaves(value: Any) -> list[Any]:
    """A result, and all results that it consists of."""
    if isinstance(value, (str, bytes, int, float, type(None))):
        return []
    if isinstance(value, dict):
        # A meta object contains no results.
        return []
    found = [value] if type(value).__module__.startswith("cento") else []
    own: list[Any]
    if dataclasses.is_dataclass(value):
        own = [getattr(value, each.name) for each in dataclasses.fields(value)]
    elif isinstance(value, cento.Answer):
        own = [*value, value.unseen, value.defaults]
    elif isinstance(value, cento.Answers):
        own = [*value, *value.refusals]
    else:
        own = list(value)
    return found + [each for part in own for each in leaves(part)]


def same(one: Any, other: Any) -> bool:
    # Sequences that are no lists are equal only to themselves.
    is_rows = isinstance(one, (cento.Answer, cento.Answers, cento.Families, cento.Lineage))
    return is_rows or bool(one == other)


def pickled(value: Any, protocol: int) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


# Those that hold an index, a lock or memory of Arrow. All but the last two can be pickled, as what
# they are made of.
HANDLES = ("Benchmarks", "Deduper", "Index", "Table", "Watches", "Writer", "Stream")


def public() -> dict[str, type]:
    """The classes of the package whose values a call returns."""
    named = {name: getattr(cento, name) for name in cento.__all__}
    return {
        name: each
        for name, each in named.items()
        if inspect.isclass(each) and not issubclass(each, (BaseException, dict))
    }


def test_every_result_is_copied_pickled_and_written_as_json(
    index: cento.Index, texts: list[tuple[str, str]], tmp_path: Path
) -> None:
    found: dict[str, list[Any]] = {}
    for value in leaves(values(index, texts, tmp_path)):
        found.setdefault(type(value).__name__, []).append(value)
    results = public().keys() - set(HANDLES)
    assert sorted(results - found.keys()) == [], "add a result of this type to `values`"
    ways: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        ways.append(partial(pickled, protocol=protocol))
    for value in (each for name in results for each in found[name]):
        for way in ways:
            there = way(value)
            assert type(there) is type(value)
            assert same(there, value), value
            assert there.to_dict() == value.to_dict()
            assert there.to_json() == value.to_json()
        # Without a private field, or a value that JSON lacks.
        assert json.loads(json.dumps(value.to_dict())) == value.to_dict()
        assert not [name for name in value.to_dict() if name.startswith("_")]
        assert isinstance(json.loads(value.to_json()), dict)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            own: Any = value
            assert dataclasses.asdict(own).keys() >= own.to_dict().keys()


def test_handles_are_pickled_or_say_why_not(
    index: cento.Index, texts: list[tuple[str, str]], tmp_path: Path
) -> None:
    assert set(HANDLES) < public().keys()
    text = texts[0][1]
    for there in (pickle.loads(pickle.dumps(index)), copy.deepcopy(index)):
        assert len(there.search(text)) == len(index.search(text))
    index.watches.add(text, name="w")
    assert pickle.loads(pickle.dumps(index.watches)).list() == index.watches.list()
    questions = cento.Benchmarks([text])
    assert pickle.loads(pickle.dumps(questions)).find([text]) == questions.find([text])
    deduper = cento.Deduper(tmp_path / "kept.idx")
    assert deduper.keep({"text": [text]}) == [True]
    for there in (pickle.loads(pickle.dumps(deduper)), copy.copy(deduper)):
        assert there.keep({"text": [text]}) == [False]
    writer, stream = index.writer(), index.to_arrow()
    for refused, what in ((writer, "a writer is neither copied"), (stream, "pyarrow.table(")):
        for way in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(cento.InvalidArgumentError, match="neither copied nor sent") as it:
                way(refused)
            assert what in str(it.value)


def test_tables_are_pickled_by_pyarrow(index: cento.Index, texts: list[tuple[str, str]]) -> None:
    pa = pytest.importorskip("pyarrow")
    for queries in ([text for _, text in texts[:3]], []):
        table = index.search_many(queries, passages=True, to_arrow=True)
        for there in (pickle.loads(pickle.dumps(table)), copy.copy(table), copy.deepcopy(table)):
            assert type(there) is cento.Table
            assert pa.table(there).equals(pa.table(table))
            assert pa.table(there).schema == pa.table(table).schema


def test_answers_are_tables(index: cento.Index, texts: list[tuple[str, str]]) -> None:
    pa = pytest.importorskip("pyarrow")
    queries = [text for _, text in texts[:3]]
    answers = index.search_many(queries, passages=True)
    expected = pa.table(index.search_many(queries, passages=True, to_arrow=True))
    assert pa.table(answers).equals(expected)
    assert pa.table(pickle.loads(pickle.dumps(answers))).equals(expected)
    one = pa.table(answers[1])
    assert one.schema == expected.schema
    assert one.drop_columns(["query"]).to_pylist() == [
        {name: value for name, value in row.items() if name != "query"}
        for row in expected.to_pylist()
        if row["query"] == 1
    ]


def test_an_answer_from_another_process_shows_itself_without_its_texts(
    index: cento.Index, texts: list[tuple[str, str]]
) -> None:
    answer = index.search(texts[0][1], passages=True)
    there: Any = pickle.loads(pickle.dumps(answer))
    here: list[Any] = [answer, copy.deepcopy(answer)]
    shown = there._repr_html_()
    assert "<iframe" not in shown
    for each in here:
        assert "<iframe" in each._repr_html_()
        assert each._repr_html_().startswith(shown)


def test_exceptions_keep_what_they_are_about(index: cento.Index) -> None:
    calls: list[Callable[[], object]] = [
        lambda: index["nothing"],
        lambda: cento.Index("nowhere.idx"),
        lambda: index.search("text", limit=-1),
        lambda: index.search(5),  # type: ignore[arg-type]
        lambda: cento.sign("a", scheme="no"),
    ]
    for call in calls:
        with pytest.raises(cento.Error) as raised:
            call()
        there = pickle.loads(pickle.dumps(raised.value))
        assert type(there) is type(raised.value)
        assert (str(there), there.__dict__) == (str(raised.value), raised.value.__dict__)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_pool_searches(index: cento.Index, texts: list[tuple[str, str]], method: str) -> None:
    queries = [text for _, text in texts[:6]]
    with multiprocessing.get_context(method).Pool(2) as pool:
        there = pool.map(index.search, queries)
    here = index.search_many(queries)
    assert [answer.hits for answer in there] == [answer.hits for answer in here]
