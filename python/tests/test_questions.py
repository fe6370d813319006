"""Questions of benchmarks in a data set that no task has whole are found as on one machine.

An engine of this process runs the steps; `test_engines` runs them on Spark and on Ray.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import cento
import pytest
from conftest import QuizCorpus, quiz_corpus

pa = pytest.importorskip("pyarrow")
pytest.importorskip("numpy")

from cento import _questions  # noqa: E402
from cento._decontaminate import least_left  # noqa: E402
from test_joins import OwnEngine  # noqa: E402

Row = dict[str, Any]


def parts_of(corpus: QuizCorpus, parts: int) -> list[Any]:
    """The documents as tables, in turns, so that copies are in several."""
    return [pa.Table.from_pylist(corpus.documents[at::parts]) for at in range(parts)]


def counts_of(corpus: QuizCorpus, quiz: cento.Benchmarks, partitions: int) -> Any:
    texts = [part.select(["content"]) for part in parts_of(corpus, 3)]
    return _questions.counts(OwnEngine(partitions), texts, quiz, "content")


def found_by_many(corpus: QuizCorpus, quiz: cento.Benchmarks, partitions: int) -> list[Row]:
    counts = counts_of(corpus, quiz, partitions)
    rows: list[Row] = []
    for part in parts_of(corpus, 3):
        batches = iter(part.to_batches(max_chunksize=7))
        for batch in _questions.find(quiz, counts, "url", "content", True, batches):
            rows += batch.to_pylist()
    return sorted(rows, key=place_of)


def place_of(row: Row) -> tuple[Any, ...]:
    return row["document"], row["benchmark"], row["question"], row["start"]


def kept_by_many(
    corpus: QuizCorpus, quiz: cento.Benchmarks, partitions: int, **options: Any
) -> dict[str, Row]:
    """The rows that stay, by their ids."""
    counts = counts_of(corpus, quiz, partitions)
    annotate = bool(options.get("annotate"))
    least = least_left(annotate, bool(options.get("cut_passages")), options.get("min_left"))
    rows: dict[str, Row] = {}
    for part in parts_of(corpus, 3):
        batches = iter(part.to_batches(max_chunksize=7))
        for batch in _questions.decide(quiz, counts, "content", annotate, least, batches):
            rows.update({row["url"]: row for row in batch.to_pylist()})
    return rows


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", [{}, {"min_share": 0.8, "run": 3}], ids=str)
def test_places_are_those_of_one_machine(seed: int, options: dict[str, Any]) -> None:
    corpus = quiz_corpus(seed)
    quiz = cento.Benchmarks(corpus.questions, **options)
    found = cento.decontaminate(corpus.documents, quiz, text="content", bytes=True)
    documents, findings = zip(*found, strict=True)
    expected = [
        {
            "document": document["url"],
            **{name: getattr(each, name) for name in _questions.OF_FINDING},
            "start": each.place[0],
            "end": each.place[1],
        }
        for document, of in zip(documents, quiz.weigh(findings), strict=True)
        for each in of
    ]
    assert {row["common"] for row in expected} == {True, False}
    for partitions in (1, 5):
        assert found_by_many(corpus, quiz, partitions) == sorted(expected, key=place_of)


def lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("seed", range(2))
def test_rows_are_those_that_the_command_writes(cli: str, tmp_path: Path, seed: int) -> None:
    corpus = quiz_corpus(seed)
    quiz = cento.Benchmarks(corpus.questions)
    for name, rows in (("corpus", corpus.documents), ("quiz", corpus.questions)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")

    def written(name: str, *arguments: str) -> list[Row]:
        fixed = ["corpus.jsonl", "--against", "quiz.jsonl", "--benchmark-field", "benchmark"]
        fixed += ["--answer-field", "answer", "--id-field", "url", "--text-field", "content"]
        command = [cli, "decontaminate", *fixed, "--out", name, *arguments]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return lines(tmp_path / name)

    lists = ["--documents", "found.jsonl", "--questions", "questions.jsonl"]
    dropped = written("dropped.jsonl", *lists)
    cut = written("cut.jsonl", "--cut-passages", "--min-left", "30")
    annotated = written("annotated.jsonl", "--annotate")
    verdicts = [row["decontaminate"]["verdict"] for row in annotated]
    assert set(verdicts) == {"clean", "common", "contaminated"}
    assert len(dropped) < len(cut) < len(annotated)
    for partitions in (1, 5):
        kept = kept_by_many(corpus, quiz, partitions)
        assert list(kept.values()) == sorted(dropped, key=lambda row: list(kept).index(row["url"]))
        kept = kept_by_many(corpus, quiz, partitions, cut_passages=True, min_left=30)
        assert kept == {row["url"]: row for row in cut}
        kept = kept_by_many(corpus, quiz, partitions, annotate=True)
        assert kept == {row["url"]: with_members(row) for row in annotated}


def with_members(row: Row) -> Row:
    """An annotated record of the command, as a row of a table has it: without places."""
    verdict = row["decontaminate"]
    names = ("verdict", "benchmark", "question", "share", "questions")
    return {**row, "decontaminate": {name: verdict.get(name) for name in names}}


def test_a_data_set_without_questions_stays() -> None:
    corpus = quiz_corpus(1)
    quiz = cento.Benchmarks(["a question of nine words that no document has"])
    assert counts_of(corpus, quiz, 3) == (len(corpus.documents), [])
    kept = kept_by_many(corpus, quiz, 3)
    assert kept == {row["url"]: row for row in corpus.documents}
    assert found_by_many(corpus, quiz, 3) == []


def test_rows_that_are_no_documents_are_refused() -> None:
    quiz = cento.Benchmarks(["a question of nine words that no document has"])
    table = pa.table({"url": ["a", None], "content": ["text", None]})
    with pytest.raises(cento.InputError, match="the `content` of a row is no text"):
        _questions.counts(OwnEngine(2), [table.select(["content"])], quiz, "content")
    nameless = table.set_column(1, "content", pa.array(["text", "text"]))
    with pytest.raises(cento.InputError, match="a row has no `url`"):
        list(_questions.find(quiz, (2, []), "url", "content", False, iter(nameless.to_batches())))
    others: Any = (2, [(1, 1, b"")])
    batches = iter(table.slice(0, 1).to_batches())
    with pytest.raises(cento.InvalidArgumentError, match="not of these questions"):
        list(_questions.find(quiz, others, "url", "content", False, batches))
