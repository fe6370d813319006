"""Pairs and duplicates of a data set that no task has whole are those of one machine.

An engine of this process runs the steps, so that many corpora can be tried; `test_engines` runs
them on Spark and on Ray.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from typing import Any

import cento
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("numpy")

from cento import _join_rows, _join_steps, _joins  # noqa: E402

Document = tuple[str, str, int | None]


class OwnEngine:
    """Runs steps in this process; a data set is a list of partitions of batches.

    Batches have few rows. Each step runs twice, as after a failure, and the second attempt counts.
    """

    def __init__(self, partitions: int) -> None:
        self.partitions = partitions

    def map(self, rows: list[Any], step: Any, columns: str) -> list[Any]:
        return [self._run(step, columns, part) for part in rows]

    def exchange(
        self, rows: list[Any], by: Sequence[str], step: Any, columns: str, order: Sequence[str] = ()
    ) -> list[Any]:
        whole = pa.concat_tables(rows)
        if not by:
            return [self._run(step, columns, whole)]
        keys = zip(*(whole[name].to_pylist() for name in by), strict=True)
        numbers = [zlib.crc32(repr(key).encode()) % self.partitions for key in keys]
        whole = whole.append_column("number", pa.array(numbers, pa.int64()))
        parts = [
            whole.filter(pa.compute.equal(whole["number"], at)).drop_columns("number")
            for at in range(self.partitions)
        ]
        sorting = [(name, "ascending") for name in (*by, *order)]
        return [self._run(step, columns, part.sort_by(sorting)) for part in parts]

    def _run(self, step: Any, columns: str, part: Any) -> Any:
        schema = _join_rows.schema_of(columns)
        for _ in range(2):
            found = list(step(iter(part.to_batches(max_chunksize=50))))
        for batch in found:
            assert batch.schema.names == schema.names
        return pa.Table.from_batches(found, schema)

    def union(self, first: list[Any], second: list[Any]) -> list[Any]:
        return [*first, *second]

    def hold(self, rows: list[Any]) -> list[Any]:
        return rows

    def release(self, rows: list[Any]) -> None:
        rows.clear()

    def count(self, rows: list[Any]) -> int:
        return sum(len(part) for part in rows)

    def read(self, rows: list[Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = pa.concat_tables(rows).to_pylist()
        return found


def corpus(seed: int, count: int = 70) -> list[Document]:
    """Documents in an order of their own: copies, near-duplicates in rows, and texts of their own.

    In a row each has a few words less of the first, so that only neighbors are near.
    """
    draw = random.Random(seed)
    words = [f"w{at}" for at in range(4000)]
    common = draw.choices(words, k=30)
    texts: list[str] = []
    for _ in range(count):
        kind = draw.random()
        if kind < 0.1 and texts:
            texts.append(draw.choice(texts))
        elif kind < 0.6 and texts:
            own = draw.choice(texts[-12:]).split()
            share = draw.choice([0.005, 0.02, 0.06])
            texts.append(" ".join(draw.choice(words) if draw.random() < share else w for w in own))
        else:
            own = draw.choices(words, k=draw.choice([0, 1, 4, 7, 15, 40, 120, 300]))
            texts.append(" ".join(own + common if kind > 0.9 else own))
    numbers = [draw.choice([None, 1, 2, 3, 4, -5]) for _ in texts]
    rows = [(f"d{at}", text, n) for at, (text, n) in enumerate(zip(texts, numbers, strict=True))]
    draw.shuffle(rows)
    return rows


def rows_of(documents: list[Document], parts: int = 3) -> list[Any]:
    schema = pa.schema([("url", pa.string()), ("content", pa.string()), ("n", pa.int64())])
    columns = [
        pa.array(each, kind.type)
        for each, kind in zip(zip(*documents, strict=True), schema, strict=True)
    ]
    table = pa.table(columns, schema)
    size = -(-len(table) // parts)
    return [table.slice(at * size, size) for at in range(parts)]


def pairs_of_one(documents: list[Document], tmp_path: Any, **options: Any) -> list[dict[str, Any]]:
    """The pairs of an index to which the documents are added in the order of their ids."""
    settings = {name: options.pop(name) for name in _joins.SETTINGS if name in options}
    index = cento.Index(tmp_path / f"{random.random()}.idx", create=True, **settings)
    with index.writer() as w:
        w.add_many([(id, text) for id, text, _ in sorted(documents)])
    return found_rows(pa.table(index.pairs(to_arrow=True, **options)))


def found_rows(table: Any) -> list[dict[str, Any]]:
    names = [column.split()[0] for column in cento.parts.PAIRS.split(", ")]
    rows: list[dict[str, Any]] = table.select(names).to_pylist()
    return sorted(rows, key=lambda row: (row["a"], row["b"]))


def pairs_of_many(documents: list[Document], partitions: int, **options: Any) -> Any:
    source = _joins.Source("url", "content", None, options, False)
    return _joins.pairs(OwnEngine(partitions), rows_of(documents), source)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "options",
    [
        {"min_resemblance": 0.5},
        {"min_resemblance": 0.8},
        {"min_resemblance": 0.95},
        {"min_similarity": 0.7},
        {"min_containment": 0.3},
        {"min_overlap": 4},
        {},
        {"min_resemblance": 0.3, "max_df": 4},
        {"min_containment": 0.2, "max_df": 2},
        {"preset": "rewritten"},
        {"preset": "ocr"},
        {"scheme": "kgram(k=3)", "min_resemblance": 0.6},
    ],
    ids=str,
)
def test_pairs_are_those_of_one_machine(seed: int, options: dict[str, Any], tmp_path: Any) -> None:
    documents = corpus(seed)
    expected = pairs_of_one(documents, tmp_path, **options)
    assert len(expected) > 5
    for partitions in (1, 5):
        found = pa.concat_tables(pairs_of_many(documents, partitions, **options))
        assert found_rows(found) == expected


def kept_by_one(documents: list[Document], prefer: str | None, **options: Any) -> set[str]:
    """What one machine keeps of the documents in the order of their ids."""
    items: list[dict[str, Any]] = [
        {"id": id, "text": text, **({} if n is None else {"n": n})}
        for id, text, n in sorted(documents)
    ]
    found = cento.dedup(items, prefer=prefer, **options)
    return {item["id"] for item, verdict in found if verdict.kept}


def kept_by_many(
    documents: list[Document], partitions: int, prefer: str | None, **options: Any
) -> set[str]:
    source = _joins.Source("url", "content", prefer, options, True)
    gone = _joins.dropped(OwnEngine(partitions), rows_of(documents), source)
    ids = [row["id"] for part in gone for row in part.to_pylist()]
    assert len(ids) == len(set(ids))
    return {id for id, _, _ in documents} - set(ids)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "options",
    [
        {"min_resemblance": 0.5},
        {"min_resemblance": 0.8},
        {"min_resemblance": 0.95},
        {},
        {"exact": True},
        {"preset": "corpus"},
        {"preset": "ocr"},
        {"scheme": "kgram(k=3)", "min_resemblance": 0.6},
    ],
    ids=str,
)
def test_the_documents_that_stay_are_those_of_one_machine(
    seed: int, options: dict[str, Any]
) -> None:
    documents = corpus(seed)
    for prefer in (None, "n", "-n", "longest"):
        expected = kept_by_one(documents, prefer, **options)
        assert 15 < len(expected) < 65
        for partitions in (1, 5):
            assert kept_by_many(documents, partitions, prefer, **options) == expected


def test_rounds_over_all_tasks_decide_as_one_task_does(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each resembles its neighbors only, so that every decision depends on the one before.
    words = [f"w{at}" for at in range(400)]
    row: list[Document]
    row = [(f"r{at:03}", " ".join(words[4 * at : 4 * at + 100]), None) for at in range(40)]
    for documents in (row, corpus(7), corpus(8, 300)):
        expected = kept_by_one(documents, None, min_resemblance=0.7)
        for most in (0, 5, 1000):
            monkeypatch.setattr(_joins, "_EDGES_OF_ONE_TASK", most)
            assert kept_by_many(documents, 4, None, min_resemblance=0.7) == expected


def test_lists_too_long_for_one_task_are_cut(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(_joins, "_HEAVY_LEAST", 3)
    monkeypatch.setattr(_join_steps, "_BLOCK", 4)
    monkeypatch.setattr(_join_steps, "ROWS", 10)
    documents = corpus(3, 60)
    words = [f"w{at}" for at in range(60)]
    documents += [(f"s{at}", " ".join([*words, f"v{at}"]), at) for at in range(30)]
    for options in ({"min_resemblance": 0.6}, {"min_containment": 0.3}):
        expected = pairs_of_one(documents, tmp_path, **options)
        assert len(expected) > 435
        found = pa.concat_tables(pairs_of_many(documents, 3, **options))
        assert found_rows(found) == expected
    expected_ids = kept_by_one(documents, "n", min_resemblance=0.6)
    assert kept_by_many(documents, 3, "n", min_resemblance=0.6) == expected_ids


def test_copies_whose_fingerprints_are_all_stopped_pair_with_the_first(tmp_path: Any) -> None:
    texts = [" ".join(f"t{of}w{at}" for at in range(30)) for of in range(3)]
    documents: list[Document] = [(f"c{at:02}", texts[at % 2], None) for at in range(20)]
    documents += [("x1", texts[2], None), ("x2", texts[2], None)]
    options: dict[str, Any] = {"min_resemblance": 0.5, "max_df": 6}
    expected = pairs_of_one(documents, tmp_path, **options)
    assert len(expected) == 9 + 9 + 1
    assert found_rows(pa.concat_tables(pairs_of_many(documents, 3, **options))) == expected


def test_a_data_set_without_pairs_has_none() -> None:
    documents: list[Document] = [("a", "some words of one", 1), ("b", "", 2)]
    found = pairs_of_many(documents, 2, min_resemblance=0.5)
    assert sum(map(len, found)) == 0
    assert kept_by_many(documents, 2, None) == {"a", "b"}


def test_a_column_of_floats_decides_as_on_one_machine() -> None:
    text = " ".join(f"w{at}" for at in range(50))
    numbers = [0.5, -1.5, None, -0.0, 0.0, 1e300, -1e300, 7.0, -2.25]
    ids = [f"d{at}" for at in range(len(numbers))]
    texts = [f"{text} {id}" for id in ids]
    items = [
        {"id": id, "text": text, "n": n} for id, text, n in zip(ids, texts, numbers, strict=True)
    ]
    table = pa.table({"id": ids, "text": texts, "n": pa.array(numbers, pa.float64())})
    for prefer in ("n", "-n"):
        found = cento.dedup(items, prefer=prefer)
        (expected,) = [item["id"] for item, verdict in found if verdict.kept]
        source = _joins.Source("id", "text", prefer, {}, True)
        gone = _joins.dropped(OwnEngine(2), [table], source)
        dropped = {row["id"] for part in gone for row in part.to_pylist()}
        assert set(ids) - dropped == {expected}


def test_what_tasks_cannot_decide_is_refused() -> None:
    for option in ("passages", "rank", "group_by", "weighted", "min_weighted_resemblance"):
        with pytest.raises(cento.InvalidArgumentError, match=f"no option `{option}`"):
            _joins.allowed({option: 1}, _joins.SETTINGS + _joins.THRESHOLDS, "pairs")
    for option in ("cut_passages", "min_containment", "index", "against"):
        with pytest.raises(cento.InvalidArgumentError, match=f"no option `{option}`"):
            _joins.allowed({option: 1}, _joins.DUPLICATES, "dedup")
    twice: list[Document] = [("a", "one", 1), ("b", "two", 2), ("a", "three", 3)]
    with pytest.raises(cento.InvalidArgumentError, match="'a' occurs more than once in `url`"):
        pairs_of_many(twice, 2)
    documents: list[Document] = [("a", "one", 1), ("b", "two", 2)]
    with pytest.raises(cento.InvalidArgumentError, match="tasks can compare numbers only"):
        kept_by_many(documents, 2, "content")
    with pytest.raises(cento.InvalidArgumentError, match="min_resemblance"):
        pairs_of_many(documents, 2, min_resemblance=1.5)
    nothing: list[Any] = [("a", None, 1)]
    with pytest.raises(cento.InputError, match="a: its `content` is no text"):
        kept_by_many(nothing, 2, None)
