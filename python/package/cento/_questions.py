"""Questions of benchmarks in a data set that no machine has whole: steps, and their order.

One machine reads a corpus twice, because words that many documents have without the rest of a
question contaminate none of them. So there are two rounds here, too. In the first, each task looks
for the questions in its rows, and the engine counts for each word of a question the unrelated
documents that have it. Documents are related if the words around a question are the same, so the
engine brings these together. In the second, each task looks again and decides, by the counts of the
whole corpus.

Questions are few, so each task has all of them, and the driver holds the counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import chain, pairwise
from typing import Any

from . import _native
from ._decontaminate import Benchmarks
from ._errors import InputError
from ._join_rows import DOCUMENTS, Batches, groups, made, np, numbers, pa, schema_of, starts
from ._joins import Engine
from .parts import FINDINGS

Counts = tuple[int, list[tuple[int, int, bytes]]]
"""The number of documents, and for each question with words in them its number, how many they are,
and by token how many unrelated ones."""

WORDS = "question int, surroundings long, tokens binary, n long"
CARRIERS = "question int, n long, carriers binary"

_COLUMNS = [column.split()[0] for column in FINDINGS.split(", ")]

OF_FINDING = tuple(name for name in _COLUMNS if name not in ("document", "start", "end"))
"""The attributes of a finding that are columns."""

_ALL = -1
"""Stands for a question that all documents have. So there are rows in each exchange also if no
question is found, because Ray forgets the columns of data without rows."""

ANNOTATION = (
    "decontaminate struct<verdict: string, benchmark: string, question: string, share: double, "
    "questions: double>"
)
"""The column of verdicts, in the words of Spark."""


def counts(engine: Engine, rows: Any, against: Benchmarks, text: str) -> Counts:
    """Counts the documents of a data set that have words of questions: the first round."""
    words = engine.map(rows, partial(read_words, against, text), WORDS)
    related = engine.exchange(words, ["question", "surroundings"], add_related, CARRIERS)
    found = engine.read(engine.exchange(related, ["question"], add_up, CARRIERS))
    of_questions = sorted((row["question"], row["n"], bytes(row["carriers"])) for row in found)
    documents = sum(n for question, n, _ in of_questions if question == _ALL)
    return documents, [each for each in of_questions if each[0] != _ALL]


def _texts(text: str, batches: Batches) -> Iterator[tuple[Any, list[str]]]:
    """Gives rows and texts of some documents at a time: an engine's batch may be large.

    Raises:
        InputError: A row has no text.
    """
    for batch in batches:
        for first in range(0, len(batch), DOCUMENTS):
            rows = batch.slice(first, DOCUMENTS)
            texts = rows[text].to_pylist()
            for each in texts:
                if not isinstance(each, str):
                    raise InputError(f"the `{text}` of a row is no text; leave the row out")
            yield rows, texts


def read_words(against: Benchmarks, text: str, batches: Batches) -> Batches:
    """Gives the words of questions that documents have, with the number of these documents."""
    for _, texts in _texts(text, batches):
        found = against._native.findings(texts, 1, True)
        words = Counter(against._native.carried_words(found))
        words[_ALL, 0, b""] = len(texts)
        question, surroundings, tokens = zip(*words, strict=True)
        yield from made(
            WORDS,
            question=question,
            surroundings=surroundings,
            tokens=tokens,
            n=list(words.values()),
        )


class _Sums:
    """The documents with words of each question, and by token the unrelated ones."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[int, Any]] = {}

    def add(self, question: int, documents: int, carriers: Any) -> None:
        before, others = self._of.get(question, (0, 0))
        self._of[question] = (before + documents, others + carriers)

    def rows(self) -> Batches:
        found = sorted(self._of)
        yield from made(
            CARRIERS,
            question=found,
            n=[self._of[question][0] for question in found],
            carriers=[self._of[question][1].astype("<u4").tobytes() for question in found],
        )


def add_related(batches: Batches) -> Batches:
    """Counts related documents once for each token that one of them has.

    Rows are in the order of question and surroundings.
    """
    sums = _Sums()
    for table in groups(batches, ["question", "surroundings"]):
        begins = np.append(np.flatnonzero(starts(table, ["question"])), len(table))
        for begin, end in pairwise(begins.tolist()):
            rows = table.slice(begin, end - begin)
            tokens = rows["tokens"].to_pylist()
            bits = np.frombuffer(b"".join(tokens), np.uint8).reshape(len(rows), len(tokens[0]))
            related = np.flatnonzero(starts(rows, ["surroundings"]))
            together = np.bitwise_or.reduceat(bits, related, axis=0)
            carriers = np.unpackbits(together, axis=1, bitorder="little").sum(0, np.int64)
            sums.add(rows["question"][0].as_py(), int(numbers(rows, "n").sum()), carriers)
    yield from sums.rows()


def add_up(batches: Batches) -> Batches:
    """Adds up what the tasks have counted."""
    sums = _Sums()
    for batch in batches:
        for row in batch.to_pylist():
            carriers = np.frombuffer(row["carriers"], "<u4").astype(np.int64)
            sums.add(row["question"], row["n"], carriers)
    yield from sums.rows()


def decide(
    against: Benchmarks,
    counts: Counts,
    text: str,
    annotate: bool,
    least: int | None,
    batches: Batches,
) -> Batches:
    """Gives the rows that one machine keeps, or with `annotate` all rows and their verdicts."""
    first = next(batches, None)
    if first is not None:
        rows = chain([first], batches)
        questions = against._native
        stream = _native.decontaminated_rows(
            questions, rows, text, annotate, least, 1, False, counts
        )
        reader = pa.RecordBatchReader.from_stream(stream)
        # So that columns are known even if there are no rows.
        yield pa.RecordBatch.from_pylist([], schema=reader.schema)
        yield from reader


def find(
    against: Benchmarks, counts: Counts, id: str, text: str, bytes: bool, batches: Batches
) -> Batches:
    """Gives a row for each place of a question.

    Raises:
        InputError: A row has no id.
    """
    for documents, texts in _texts(text, batches):
        ids = documents[id].cast(pa.string()).to_pylist()
        if None in ids:
            raise InputError(f"a row has no `{id}`; give every row an id")
        found = against._weighed(against.find(texts, threads=1, bytes=bytes), counts)
        rows = [
            {
                "document": document,
                **{name: getattr(finding, name) for name in OF_FINDING},
                "start": finding.place[0],
                "end": finding.place[1],
            }
            for document, findings in zip(ids, found, strict=True)
            for finding in findings
        ]
        yield from pa.Table.from_pylist(rows, schema=schema_of(FINDINGS)).to_batches()
