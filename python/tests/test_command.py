"""What Python answers is what the command line answers, to the last byte."""

from __future__ import annotations

import json
import os
import re
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any

import cento
import pytest


def corpora() -> list[Path | None]:
    """Those in CENTO_CORPORA, and the sample."""
    named = os.environ.get("CENTO_CORPORA", "").split(os.pathsep)
    return [None, *(Path(path) for path in named if path)]


def run(cli: str, *arguments: str | Path) -> str:
    done = subprocess.run([cli, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def untimed(line: str) -> str:
    return re.sub(r'"took_us":\d+', '"took_us":0', line)


@pytest.fixture(params=corpora(), ids=lambda path: path.name if path else "sample")
def corpus(request: pytest.FixtureRequest, tmp_path: Path, texts: list[tuple[str, str]]) -> Path:
    if request.param is not None:
        return Path(request.param)
    path = tmp_path / "sample.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for at, (id, text) in enumerate(texts):
            out.write(json.dumps({"id": id, "text": text, "meta": {"at": at}}) + "\n")
    return path


def rows(path: Path) -> list[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_answers_are_those_of_the_command_line(corpus: Path, tmp_path: Path, cli: str) -> None:
    theirs = tmp_path / "theirs.idx"
    run(cli, "create", theirs)
    run(cli, "add", theirs, corpus)
    documents = rows(corpus)
    ours = cento.Index(tmp_path / "ours.idx", create=True)
    with ours.writer() as w:
        w.add_many(documents)
    assert len(ours) == len(cento.Index(theirs))

    queries = documents[:: max(1, len(documents) // 200)]
    asked = tmp_path / "queries.jsonl"
    with asked.open("w", encoding="utf-8") as out:
        for each in queries:
            out.write(json.dumps({"id": each["id"], "text": each["text"]}) + "\n")
    options = ["--passages", "--min-containment", "0.3", "--format", "json"]
    expected = run(cli, "search", theirs, asked, *options).splitlines()
    found = ours.search_many(
        [str(each["text"]) for each in queries], passages=True, min_containment=0.3
    )
    assert len(expected) == len(found)
    for line, answer, query in zip(expected, found, queries, strict=True):
        # The command line names a query after its line.
        id = json.dumps(str(query["id"]), ensure_ascii=False)
        named = answer.to_json().replace('"query":{"id":null', f'"query":{{"id":{id}', 1)
        assert untimed(line) == untimed(named)

    least = ["--min-resemblance", "0.5", "--format", "json"]
    pairs = run(cli, "pairs", theirs, *least).splitlines()
    assert [pair.to_json() for pair in ours.pairs(min_resemblance=0.5)] == pairs
    ranked = run(cli, "pairs", theirs, *least, "--rank", "weight", "--limit", "7").splitlines()
    # The last line says that there are more.
    *best, end = ranked
    assert json.loads(end)["more"]
    found_pairs = ours.pairs(min_resemblance=0.5, rank="weight", limit=7)
    assert [pair.to_json() for pair in found_pairs] == best
    clusters = run(cli, "cluster", theirs, *least).splitlines()
    assert [each.to_json() for each in ours.clusters(min_resemblance=0.5)] == clusters


def test_verdicts_are_those_of_the_command_line(corpus: Path, tmp_path: Path, cli: str) -> None:
    out, dropped = tmp_path / "out.jsonl", tmp_path / "dropped.jsonl"
    options = ["--min-resemblance", "0.7", "--min-containment", "0.8"]
    run(cli, "dedup", corpus, "--out", out, "--dropped", dropped, *options)
    documents = rows(corpus)
    found = list(cento.dedup(documents, min_resemblance=0.7, min_containment=0.8))
    lines = [v.to_json() for _, v in found if not v.kept or v.kept_as is not None]
    assert lines == dropped.read_text(encoding="utf-8").splitlines()
    assert [item["id"] for item, verdict in found if verdict.kept] == [
        row["id"] for row in rows(out)
    ]


@pytest.fixture
def parquet(corpus: Path, tmp_path: Path) -> Path:
    """The corpus with nested meta objects, in row groups."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    about = [
        {"at": at, "deep": [{"half": at / 2, "name": f"größe {at}"}, None], "none": None}
        for at, _ in enumerate(rows(corpus))
    ]
    columns = {
        "url": [str(row["id"]) for row in rows(corpus)],
        "content": [row["text"] for row in rows(corpus)],
        "about": about,
    }
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=1000)
    return path


FIELDS = ["--id-field", "url", "--text-field", "content", "--meta-field", "about"]
COLUMNS: dict[str, Any] = {"id": "url", "text": "content", "meta": "about"}


def test_documents_of_parquet_are_those_of_the_command_line(
    parquet: Path, tmp_path: Path, cli: str
) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    theirs = tmp_path / "theirs.idx"
    run(cli, "create", theirs)
    added = subprocess.run(
        [cli, "add", theirs, parquet, *FIELDS], capture_output=True, text=True, check=False
    )
    if "feature `parquet`" in added.stderr:
        pytest.skip("the command was built without Parquet")
    assert added.returncode == 0, added.stderr
    ours = cento.Index(tmp_path / "ours.idx", create=True)
    with pq.ParquetFile(parquet) as file, ours.writer() as w:
        report = w.add_arrow(file.iter_batches(700), **COLUMNS)
    expected = cento.Index(theirs)
    assert report.added == len(ours) == len(expected) > 0
    assert ours.ids() == expected.ids()
    for id in ours.ids():
        own, other = ours.get(id), expected.get(id)
        assert own is not None
        assert own == other
    last = ours.get(ours.ids()[-1])
    assert last is not None
    assert set(last.meta) == {"at", "deep"}
    assert last.meta["deep"][0]["name"] == f"größe {last.meta['at']}"
    # Documents added by one are unchanged to the other.
    with pq.ParquetFile(parquet) as file, expected.writer() as w:
        assert w.add_arrow(file.iter_batches(), **COLUMNS).unchanged == len(ours)


def test_meta_of_any_column_is_that_of_the_command_line(tmp_path: Path, cli: str) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    entries = pa.map_(pa.string(), pa.int32())
    half = pa.array([0.1, None], pa.float32())
    columns = {
        "int": pa.array([2**63, None], pa.uint64()),
        "half": half.cast(pa.float16()),
        "float": half,
        "large": pa.array([1e20, 16777217.0], pa.float32()),
        "double": pa.array([0.1, 1e300]),
        "bool": pa.array([True, None]),
        "decimal": pa.array([Decimal("1.50"), Decimal("-0.25")], pa.decimal128(10, 2)),
        "date": pa.array([20_000, None], pa.date32()),
        "time": pa.array([3_723_000_000, None], pa.time64("us")),
        "when": pa.array([1_234_567_890_123, None], pa.timestamp("ms", "UTC")),
        "long": pa.array([90, None], pa.duration("s")),
        "list": pa.array([[1, None], []]),
        "map": pa.array([[("k", 1), ("none", None)], []], entries),
        "dictionary": pa.array(["x", None]).dictionary_encode(),
        "numbers": pa.array([7, None]).dictionary_encode(),
        "struct": pa.array([{"deep": {"x": None, "y": "ä"}}, None]),
        "nothing": pa.nulls(2),
    }
    about = pa.StructArray.from_arrays(list(columns.values()), names=list(columns))
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"url": ["a", "b"], "content": ["a b", "c d"], "about": about}), path)
    theirs = tmp_path / "theirs.idx"
    run(cli, "create", theirs)
    call: list[str | Path] = [cli, "add", theirs, path, *FIELDS]
    added = subprocess.run(call, capture_output=True, text=True, check=False)
    if "feature `parquet`" in added.stderr:
        pytest.skip("the command was built without Parquet")
    ours = cento.Index(tmp_path / "ours.idx", create=True)
    with ours.writer() as w:
        w.add_arrow(pq.read_table(path), **COLUMNS)
    for id in ("a", "b"):
        own, expected = ours.get(id), cento.Index(theirs).get(id)
        assert own is not None
        assert expected is not None
        assert own.meta == expected.meta
    first = ours.get("a")
    assert first is not None
    assert first.meta["float"] == 0.1
    assert first.meta["map"] == {"k": 1}
    assert "nothing" not in first.meta


@pytest.mark.parametrize("annotate", [False, True])
def test_rows_that_stay_are_those_of_the_command_line(
    parquet: Path, tmp_path: Path, cli: str, annotate: bool
) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    options = ["--min-resemblance", "0.7", *FIELDS, *(["--annotate"] if annotate else [])]
    done = subprocess.run(
        [cli, "dedup", parquet, "--out", f"{tmp_path}/out/", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    if "feature `parquet`" in done.stderr:
        pytest.skip("the command was built without Parquet")
    assert done.returncode == 0, done.stderr
    expected = pq.read_table(tmp_path / "out" / parquet.name)
    with pq.ParquetFile(parquet) as file:
        batches = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches(700))
        kept = cento.dedup_arrow(batches, min_resemblance=0.7, annotate=annotate, **COLUMNS)
        found = pa.table(kept)
    total = pq.read_metadata(parquet).num_rows
    assert found.equals(expected)
    assert len(found) == total if annotate else 0 < len(found) < total
