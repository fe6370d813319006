"""Spark, Ray and datatrove give what one machine gives; each test needs that package."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cento
import cento.datatrove
import cento.parts
import cento.ray
import cento.spark
import pytest
from conftest import QuizCorpus, quiz_corpus

ROOT = Path(__file__).parent.parent
# The page of the book and its samples: python/check.sh runs a copy of the tests, with these beside.
BOOK = ROOT / "book" if (ROOT / "book").exists() else ROOT.parent / "docs"


def kept_by_one(texts: list[tuple[str, str]]) -> set[str]:
    """What stays on one machine: the first of each cluster."""
    found = cento.dedup(texts, min_resemblance=0.5)
    return {item[0] for item, verdict in found if verdict.kept}


@pytest.fixture
def table(texts: list[tuple[str, str]]) -> Any:
    pa = pytest.importorskip("pyarrow")
    ids, bodies = zip(*texts, strict=True)
    return pa.table({"url": ids, "content": bodies, "n": list(range(len(texts)))})


def pairs_of(index: cento.Index) -> set[frozenset[str]]:
    return {frozenset((a, b)) for a, b, _ in index.pairs(min_resemblance=0.5)}


def pairs_of_sorted(texts: list[tuple[str, str]], tmp_path: Path) -> Any:
    """The pairs that one machine finds if it adds the documents in the order of their ids."""
    pa: Any = pytest.importorskip("pyarrow")
    index = cento.Index(tmp_path / "sorted.idx", create=True)
    with index.writer() as w:
        w.add_many(sorted(texts))
    return pa.table(index.pairs(min_resemblance=0.5, to_arrow=True))


def rows_of_pairs(table: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.select(all_columns(cento.parts.PAIRS)).to_pylist()
    return sorted(rows, key=lambda row: (row["a"], row["b"]))


def all_columns(spark: str) -> list[str]:
    return [column.split()[0] for column in spark.split(", ")]


def test_parts_become_one_index_and_leave_nothing(
    table: Any, index: cento.Index, tmp_path: Path, texts: list[tuple[str, str]]
) -> None:
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "all.idx"
    where = cento.parts.directory_of(path)
    batches = table.to_batches(max_chunksize=15)
    columns: dict[str, Any] = {"id": "url", "text": "content", "meta": ["n"]}
    parts = [cento.parts.write_part([batch], where, **columns) for batch in batches]
    # An attempt that ran twice and is not named, and one that failed.
    assert cento.parts.write_part(batches[:1], where, **columns) not in parts
    with pytest.raises(cento.InputError):
        cento.parts.write_part(batches[:1], where, id="url", text="n")
    assert cento.parts.write_part([], where) is None
    assert len(list(where.iterdir())) == 4
    merged = cento.parts.merge_parts(path, [part for part in parts if part])
    assert (merged.documents, merged.segments) == (40, 3)
    assert not where.exists()
    all = cento.Index(path)
    assert pairs_of(all) == pairs_of(index)

    found = [cento.parts.pairs_of_part(path, (at, 3), min_resemblance=0.5) for at in range(3)]
    rows = [row for part in found for row in part.to_pylist()]
    whole = pa.table(all.pairs(min_resemblance=0.5, to_arrow=True)).to_pylist()
    assert rows == whole
    assert all_columns(cento.parts.PAIRS) == found[0].schema.names

    queries = table.slice(0, 5)
    (found,) = cento.parts.search_batches(queries.to_batches(), path, id="url", text="content")
    expected = [
        (query, rank, hit.id)
        for (query, text) in texts[:5]
        for rank, hit in enumerate(index.search(text), 1)
    ]
    rows = found.to_pylist()
    assert [(row["query"], row["rank"], row["id"]) for row in rows] == expected
    nothing = table.slice(0, 0).to_batches() or [table.to_batches()[0].slice(0, 0)]
    assert all_columns(cento.parts.HITS) == found.schema.names
    (none,) = cento.parts.search_batches(nothing, path, id="url", text="content")
    assert none.schema == found.schema


@pytest.fixture
def session() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # A task may fail three times.
    builder = sql.SparkSession.builder.master("local[2,4]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def test_spark_gives_what_one_machine_gives(
    session: Any, table: Any, index: cento.Index, tmp_path: Path, texts: list[tuple[str, str]]
) -> None:
    df = session.createDataFrame(table.to_pandas())
    columns: dict[str, Any] = {"id": "url", "text": "content"}
    path = tmp_path / "all.idx"
    merged = cento.spark.build(df, path, parts=3, **columns)
    assert merged.documents == 40
    assert merged.segments > 1
    all = cento.Index(path)
    assert pairs_of(all) == pairs_of(index)
    assert [found.meta for found in all.documents(filter="n:7")] == [{"n": 7}]
    found = cento.spark.search(df.limit(5), path, min_resemblance=0.3, **columns).collect()
    expected = {
        (id, hit.id, hit.resemblance)
        for id, text in texts[:5]
        for hit in index.search(text, min_resemblance=0.3)
    }
    assert {(row.query, row.id, row.resemblance) for row in found} == expected
    shared_out = df.repartition(3)
    pairs = cento.spark.pairs(shared_out, min_resemblance=0.5, **columns).toArrow()
    assert rows_of_pairs(pairs) == rows_of_pairs(pairs_of_sorted(texts, tmp_path))
    kept = cento.spark.dedup(shared_out, min_resemblance=0.5, prefer="n", **columns)
    assert {row.url for row in kept.collect()} == kept_by_one(texts)
    assert kept.columns == df.columns
    assert cento.spark.pairs(df.limit(1), min_resemblance=0.5, **columns).count() == 0
    assert cento.spark.dedup(df.limit(1), **columns).count() == 1
    # The same ids again are not merged, and nothing is left of the attempt.
    with pytest.raises(cento.OpenError, match="nothing was merged"):
        cento.spark.build(df, path, **columns)
    assert not cento.parts.directory_of(path).exists()
    assert len(cento.Index(path)) == 40


Row = dict[str, Any]


def quiz_of_one(corpus: QuizCorpus, quiz: cento.Benchmarks) -> tuple[list[Row], list[Row]]:
    """The places of questions on one machine, and the rows that stay."""
    documents = sorted(corpus.documents, key=lambda row: str(row["url"]))
    found = cento.decontaminate(documents, quiz, text="content")
    weighed = quiz.weigh([findings for _, findings in found])
    places: list[Row] = []
    kept: list[Row] = []
    for row, findings in zip(documents, weighed, strict=True):
        if all(each.common for each in findings):
            kept.append(row)
        for each in findings:
            start, end = each.place
            places.append({"document": row["url"], **each.to_dict(), "start": start, "end": end})
    names = all_columns(cento.parts.FINDINGS)
    places = [{name: place[name] for name in names} for place in places]
    return in_order(places, "document", "benchmark", "question", "start"), kept


def in_order(rows: list[Row], *names: str) -> list[Row]:
    return sorted(rows, key=lambda row: [row[name] for name in names])


def same_as_one(corpus: QuizCorpus, quiz: cento.Benchmarks, rows: Callable[..., list[Row]]) -> None:
    """Compares with one machine what an engine finds, keeps, cuts and annotates."""
    places, kept = quiz_of_one(corpus, quiz)
    assert {place["common"] for place in places} == {True, False}
    assert in_order(rows("findings"), "document", "benchmark", "question", "start") == places
    assert in_order(rows("decontaminate"), "url") == kept
    own = {place["document"] for place in places if not place["common"]}
    verdict = {row["url"]: "clean" for row in corpus.documents}
    verdict.update({place["document"]: "common" for place in places})
    verdict.update(dict.fromkeys(own, "contaminated"))
    annotated = rows("decontaminate", annotate=True)
    assert {row["url"]: row["decontaminate"]["verdict"] for row in annotated} == verdict
    cut = rows("decontaminate", cut_passages=True, min_left=30)
    text_of = {row["url"]: row["content"] for row in corpus.documents}
    changed = {row["url"] for row in cut if row["content"] != text_of[row["url"]]}
    assert changed
    assert changed <= own
    assert {row["url"] for row in cut} - changed == {row["url"] for row in kept}


def test_spark_decontaminates_as_one_machine_does(session: Any) -> None:
    corpus = quiz_corpus(5)
    quiz = cento.Benchmarks(corpus.questions)

    # The first attempt of every task that reads documents fails after it has read some.
    def read(batches: Any) -> Iterator[Any]:
        from pyspark import TaskContext

        yield from batches
        task = TaskContext.get()
        if task is None or task.attemptNumber() == 0:
            raise OSError("the first attempt")

    pandas = pytest.importorskip("pandas")
    df = session.createDataFrame(pandas.DataFrame(corpus.documents)).repartition(3)
    failing = df.mapInArrow(read, df.schema)

    def rows(call: str, **options: Any) -> list[Row]:
        if call == "findings":
            options["id"] = "url"
        made = getattr(cento.spark, call)(failing, quiz, text="content", partitions=3, **options)
        return [row.asDict(recursive=True) for row in made.collect()]

    same_as_one(corpus, quiz, rows)
    assert cento.spark.decontaminate(df, quiz, text="content").columns == df.columns


def test_the_program_of_the_page_runs_on_spark(tmp_path: Path) -> None:
    pytest.importorskip("pyspark.sql")
    for name in ("pages.jsonl", "quiz.jsonl"):
        shutil.copy(BOOK / "samples" / name, tmp_path)
    page = (BOOK / "howto" / "parts.md").read_text(encoding="utf-8")
    ((program, output),) = re.findall(
        r"```python\n(.*?)```\n\n((?:    [^\n]*\n)+)", page, re.DOTALL
    )
    # By a process of its own, because Spark reads files where its first session began.
    names = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-c", program]
    ran = subprocess.run(
        command, cwd=tmp_path, env=names, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == re.sub("^    ", "", output, flags=re.MULTILINE)


def test_spark_runs_failed_tasks_of_a_join_again(
    session: Any, table: Any, tmp_path: Path, texts: list[tuple[str, str]]
) -> None:
    # The first attempt of every task that reads documents fails after it has read some.
    def read(batches: Any) -> Iterator[Any]:
        from pyspark import TaskContext

        yield from batches
        task = TaskContext.get()
        if task is None or task.attemptNumber() == 0:
            raise OSError("the first attempt")

    df = session.createDataFrame(table.to_pandas()).repartition(3)
    failing = df.mapInArrow(read, df.schema)
    columns: dict[str, Any] = {"id": "url", "text": "content", "partitions": 5}
    pairs = cento.spark.pairs(failing, min_resemblance=0.5, **columns).toArrow()
    assert rows_of_pairs(pairs) == rows_of_pairs(pairs_of_sorted(texts, tmp_path))
    kept = cento.spark.dedup(failing, min_resemblance=0.5, prefer="n", **columns)
    assert {row.url for row in kept.collect()} == kept_by_one(texts)


def test_ray_runs_a_join_again_whose_worker_was_killed(
    table: Any, tmp_path: Path, texts: list[tuple[str, str]]
) -> None:
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    killed = tmp_path / "killed"

    def read(block: Any) -> Any:
        if not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        ds = ray.data.from_arrow(table).repartition(3).map_batches(read, batch_format="pyarrow")
        kept = cento.ray.dedup(
            ds, id="url", text="content", partitions=5, min_resemblance=0.5, prefer="n"
        )
        assert {row["url"] for row in kept.take_all()} == kept_by_one(texts)
        assert killed.exists()
    finally:
        ray.shutdown()


def test_ray_gives_what_one_machine_gives(
    table: Any, index: cento.Index, tmp_path: Path, texts: list[tuple[str, str]]
) -> None:
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        ds = ray.data.from_arrow(table)
        columns: dict[str, Any] = {"id": "url", "text": "content"}
        path = tmp_path / "all.idx"
        merged = cento.ray.build(ds, path, parts=3, **columns)
        assert (merged.documents, merged.segments) == (40, 3)
        assert pairs_of(cento.Index(path)) == pairs_of(index)
        assert [found.meta for found in cento.Index(path).documents(filter="n:7")] == [{"n": 7}]
        found = cento.ray.search(ds.limit(5), path, min_resemblance=0.3, **columns).take_all()
        expected = {
            (id, hit.id, hit.resemblance)
            for id, text in texts[:5]
            for hit in index.search(text, min_resemblance=0.3)
        }
        assert {(row["query"], row["id"], row["resemblance"]) for row in found} == expected
        columns["partitions"] = 3
        shared_out = ds.repartition(3)
        pairs = cento.ray.pairs(shared_out, min_resemblance=0.5, **columns)
        batches = pairs.iter_batches(batch_size=None, batch_format="pyarrow")
        whole = pytest.importorskip("pyarrow").concat_tables(list(batches))
        assert rows_of_pairs(whole) == rows_of_pairs(pairs_of_sorted(texts, tmp_path))
        kept = cento.ray.dedup(shared_out, min_resemblance=0.5, prefer="n", **columns)
        assert {row["url"] for row in kept.take_all()} == kept_by_one(texts)
        assert kept.schema().names == ds.schema().names
        assert cento.ray.pairs(ds.limit(1), min_resemblance=0.5, **columns).count() == 0
        assert cento.ray.dedup(ds.limit(1), **columns).count() == 1
    finally:
        ray.shutdown()


def test_ray_decontaminates_as_one_machine_does() -> None:
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    corpus = quiz_corpus(6)
    quiz = cento.Benchmarks(corpus.questions)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        ds = ray.data.from_items(corpus.documents).repartition(3)

        def rows(call: str, **options: Any) -> list[Row]:
            if call == "findings":
                options["id"] = "url"
            made = getattr(cento.ray, call)(ds, quiz, text="content", partitions=3, **options)
            found: list[Row] = made.take_all()
            return found

        same_as_one(corpus, quiz, rows)
        # Ray has no columns of data without rows, and no question is in any of these.
        clean = cento.Benchmarks(["a question of nine words that no document has"])
        kept = cento.ray.decontaminate(ds, clean, text="content", partitions=3)
        assert kept.count() == len(corpus.documents)
        assert kept.schema().names == ds.schema().names
    finally:
        ray.shutdown()


class Found:
    """A document as datatrove has them: what the steps need of it."""

    def __init__(self, id: str, text: str) -> None:
        self.id, self.text = id, text


def test_steps_for_datatrove_drop_what_they_should(
    index: cento.Index, tmp_path: Path, texts: list[tuple[str, str]]
) -> None:
    documents = [Found(id, text) for id, text in texts]
    step = cento.datatrove.Dedup(tmp_path / "kept.idx", min_resemblance=0.5)
    expected = [
        item[0] for item, verdict in cento.dedup(texts, min_resemblance=0.5) if verdict.kept
    ]
    assert [each.id for each in step(documents)] == expected
    # Documents that come again are no duplicates of themselves.
    assert [each.id for each in step(documents)] == expected
    with pytest.raises(cento.InvalidArgumentError, match="set `tasks=1`"):
        list(step(documents, 0, 2))
    clean = cento.datatrove.Decontaminate(index.path, batch=7)
    others = [Found("new", "nothing of this is in any of them, whatever they may say")]
    assert [each.id for each in clean([*documents, *others])] == ["new"]


def test_datatrove_runs_the_steps(tmp_path: Path, texts: list[tuple[str, str]]) -> None:
    base = pytest.importorskip("datatrove.data")
    executor = pytest.importorskip("datatrove.executor")
    documents = [base.Document(text=text, id=id) for id, text in texts]
    seen: list[str] = []

    def collect(data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        for each in data:
            seen.append(each.id)
            yield each

    step = cento.datatrove.Dedup(tmp_path / "kept.idx", min_resemblance=0.5)
    local = executor.LocalPipelineExecutor(
        pipeline=[documents, step, collect], tasks=1, logging_dir=str(tmp_path / "logs")
    )
    local.run()
    assert len(seen) == 30
