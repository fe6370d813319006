"""Questions of benchmarks in documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from . import _native
from ._errors import InputError, InvalidArgumentError
from ._inputs import many, no_table, skips, tables, whole
from ._options import DecontaminateOptions, known, names_options
from ._types import _Shown

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Item = TypeVar("_Item")

_BATCH = 512

# The maximum depth of the texts of a value that are read.
_DEPTH_MAX = 8


@dataclass(frozen=True, slots=True)
class Finding(_Shown):
    """A question that occurs in a document."""

    benchmark: str
    question: str
    """The id of the question."""
    share: float
    """The share of the tokens of the question that occur there, 0 to 1."""
    own_share: float
    """The share of the question's own words, 0 to 1: those that are hard to guess, and that no
    other question or document shares."""
    tokens: int
    """The number of tokens of the question that occur there."""
    place: tuple[int, int]
    """Where: characters of the document, or bytes if requested, half-open."""
    page: int | None
    line: int | None
    answer: bool | None
    """Whether the answer follows; ``None`` without an answer to search for."""
    answer_place: tuple[int, int] | None
    matched: tuple[tuple[int, int], ...]
    """The tokens of the question that occur there: ascending ranges, half-open."""
    common: bool | None = None
    """Whether other documents have these words without the rest of the question, or it is a common
    phrase; ``None`` until :meth:`Benchmarks.weigh` tells."""
    carriers: int | None = None
    """The number of unrelated documents that have these words, from the same method."""
    _native: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Unusable(_Shown):
    """A question that is not searched for."""

    benchmark: str
    question: str
    """The id of the question."""
    reason: str


class Benchmarks:
    """The questions of benchmarks, ready to be found in documents.

    Args:
        questions: Texts, or mappings such as the rows of a dataset.
        question: The key of the question in a mapping: a ``str``, or a list, whose texts together
            are the question. Of several keys, the values of all make the question, such as
            choices; the first has a text.
        answer: The key of the answer, which may be absent. One of a letter or a digit, such as the
            number of a choice, is not searched for.
        id: The key of the id; without one, the number of the question, from 0.
        benchmark: The key of the name of the benchmark, which may be absent.
        options: What counts as a question that occurs in a document:
            :class:`DecontaminateOptions`.

    Raises:
        InputError: An item has no question, it has no text, one of several keys is missing, or two
            questions of a benchmark have one id.
        InvalidArgumentError: An option is out of bounds.
        SpecError: The analyzer cannot be used.
    """

    @names_options(DecontaminateOptions)
    def __init__(
        self,
        questions: Iterable[str | Mapping[str, Any]],
        *,
        question: str | Sequence[str] = "question",
        answer: str = "answer",
        id: str = "id",
        benchmark: str = "benchmark",
        **options: Unpack[DecontaminateOptions],
    ) -> None:
        named = known({**options}, DecontaminateOptions, "Benchmarks")
        self._questions: list[tuple[str, str, str, str | None]] = []
        keys = (question,) if isinstance(question, str) else tuple(question)
        if not keys:
            raise InvalidArgumentError("`question` has no key")
        numbers: dict[tuple[str, str], int] = {}
        for number, item in enumerate(questions):
            row: Mapping[str, Any] = {keys[0]: item} if isinstance(item, str) else item
            text = row.get(keys[0])
            is_number = isinstance(text, (bool, int, float))
            if not isinstance(text, str) and (is_number or not _texts(text)):
                raise InputError(f"question {number}: there is no {keys[0]!r} with a text")
            missing = [key for key in keys[1:] if key not in row and row is item]
            if missing:
                raise InputError(f"question {number}: there is no {missing[0]!r}")
            texts = ("\n".join(_texts(row.get(key))) for key in keys)
            right, own = row.get(answer), row.get(id)
            name = (str(row.get(benchmark) or ""), str(number if own is None else own))
            other = numbers.setdefault(name, number)
            if other != number:
                raise InputError(
                    f"question {number}: its id is {name[1]!r}, as that of question {other}"
                )
            self._questions.append(
                (
                    *name,
                    "\n".join(text for text in texts if text),
                    None if right is None else "\n".join(_texts(right)),
                )
            )
        self._options = named
        self._native = _native.Benchmarks(self._questions, named)

    def __reduce__(self) -> tuple[Any, ...]:
        # Steps of a pipeline are sent to other processes.
        return _of_tuples, (self._questions, self._options)

    def __len__(self) -> int:
        return len(self._questions)

    @property
    def unusable(self) -> tuple[Unusable, ...]:
        """The questions that are not searched for, with the reasons."""
        reasons = ((at, self._native.unusable(at)) for at in range(len(self)))
        return tuple(
            Unusable(*self._questions[at][:2], why) for at, why in reasons if why is not None
        )

    def find(
        self, texts: Iterable[str], *, threads: int | None = None, bytes: bool = False
    ) -> list[tuple[Finding, ...]]:
        """The questions that occur in each text: a finding for each place of a question.

        Args:
            texts: The texts.
            threads: The number of threads; as many as there are processors if not given.
            bytes: Give places in bytes of UTF-8 instead of code points.
        """
        found = self._native.findings(list(texts), whole("threads", threads), bytes)
        return [tuple(self._finding(each) for each in json.loads(line)) for line in found]

    def weigh(self, found: Iterable[Sequence[Finding]]) -> list[tuple[Finding, ...]]:
        """The findings of all documents of a corpus, each with a verdict on its words.

        Documents may have words of a question from elsewhere, such as a quotation or a license.
        Then many of them have these words, and few have the rest of the question. Such words are
        ``common``, and contaminate no document: their ``own_share`` is less than ``min_share``.

        Args:
            found: The findings of each document, also of those without any.
        """
        return self._weighed(found, None)

    def _weighed(
        self,
        found: Iterable[Sequence[Finding]],
        counts: tuple[int, list[tuple[int, int, bytes]]] | None,
    ) -> list[tuple[Finding, ...]]:
        """The findings with verdicts, by what is known of the whole corpus; if nothing is, these
        are the findings of all of its documents."""
        documents = [tuple(findings) for findings in found]
        natives = [json.dumps([finding._native for finding in each]) for each in documents]
        verdicts = self._native.weigh(natives, counts)
        return [
            tuple(
                replace(finding, common=common, own_share=share, carriers=carriers)
                for finding, (common, share, carriers) in zip(each, verdict, strict=True)
            )
            for each, verdict in zip(documents, verdicts, strict=True)
        ]

    def _finding(self, found: dict[str, Any]) -> Finding:
        benchmark, question, _, _ = self._questions[found["question"]]
        answer = found.get("answer")
        place = answer.get("bytes") if answer else None
        return Finding(
            benchmark=benchmark,
            question=question,
            share=found["share"],
            own_share=found["own_share"],
            tokens=found["tokens"],
            place=(found["bytes"][0], found["bytes"][1]),
            page=found.get("page"),
            line=found.get("line"),
            answer=answer["found"] if answer else None,
            answer_place=(place[0], place[1]) if place else None,
            matched=tuple((start, end) for start, end in found["matched"]),
            _native=found,
        )


def _texts(value: Any, depth: int = 0) -> list[str]:
    """The texts and numbers of a value, such as a list of choices."""
    if isinstance(value, str):
        return [value]
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (bool, int, float)):
        return [json.dumps(value)]
    if depth == _DEPTH_MAX or not isinstance(value, (Mapping, Sequence)):
        return []
    if isinstance(value, Mapping):
        value = [each for key, each in value.items() if len(value) == 1 or not _is_label(key, each)]
    return [text for each in value for text in _texts(each, depth + 1)]


def _is_label(key: Any, value: Any) -> bool:
    """Whether a value of this key labels the others, as the letters of choices do."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return key in ("label", "labels") and all(
        len(each) <= 2
        if isinstance(each, str)
        else isinstance(each, (int, float)) and not isinstance(each, bool)
        for each in values
    )


def _of_tuples(
    questions: list[tuple[str, str, str, str | None]], options: dict[str, Any]
) -> Benchmarks:
    """Makes the questions that were sent from another process."""
    keys = ("benchmark", "id", "question", "answer")
    return Benchmarks([dict(zip(keys, each, strict=True)) for each in questions], **options)


def decontaminate(
    items: Iterable[_Item],
    against: Benchmarks,
    *,
    text: str = "text",
    threads: int | None = None,
    bytes: bool = False,
) -> Iterator[tuple[_Item, tuple[Finding, ...]]]:
    """Finds for each document, in order, the questions that occur in it.

    A question that is there several times has a finding for each place.

    It holds a few hundred documents at a time. Many documents may have words of a question from
    elsewhere, such as a quotation: pass the findings of all documents to :meth:`Benchmarks.weigh`
    before you drop documents. ``cento decontaminate`` does that.

    Args:
        items: Texts, or mappings with a text.
        against: The questions.
        text: The key of the text in a mapping.
        threads: The number of threads; as many as there are processors if not given.
        bytes: Give places in bytes of UTF-8 instead of code points.

    Raises:
        InputError: An item is not a text, and has none.
        InvalidArgumentError: ``items`` is a table, which :func:`decontaminate_arrow` takes.
    """
    no_table(items, "items", "decontaminate_arrow")
    given = many(items, "items", "pass [text], or a table to `cento.decontaminate_arrow`")
    return _searched(given, against, text, threads, bytes)


def _searched(
    items: Iterable[_Item], against: Benchmarks, text: str, threads: int | None, bytes: bool
) -> Iterator[tuple[_Item, tuple[Finding, ...]]]:
    waiting = iter(items)
    number = 0
    while batch := list(islice(waiting, _BATCH)):
        texts: list[str] = []
        for item in batch:
            found = item.get(text) if isinstance(item, Mapping) else item
            if not isinstance(found, str):
                raise InputError(f"item {number}: there is no {text!r} that is a str")
            texts.append(found)
            number += 1
        yield from zip(batch, against.find(texts, threads=threads, bytes=bytes), strict=True)


def least_left(annotate: bool, cut_passages: bool, min_left: int | None) -> int | None:
    """The number of words that a row has at least when passages were cut, if they are.

    Raises:
        InvalidArgumentError: The arguments contradict each other.
    """
    if annotate and cut_passages:
        raise InvalidArgumentError("`annotate` keeps all rows as they are; `cut_passages` does not")
    if min_left is not None and not cut_passages:
        raise InvalidArgumentError("`min_left` is about what `cut_passages` leaves; give both")
    return (5 if min_left is None else min_left) if cut_passages else None


def decontaminate_arrow(
    data: object,
    against: Benchmarks,
    *,
    annotate: bool = False,
    cut_passages: bool = False,
    min_left: int | None = None,
    text: str = "text",
    threads: int | None = None,
    on_error: Literal["raise", "skip"] = "raise",
) -> _native.Stream:
    """Yields the rows of Arrow data in which no question of a benchmark occurs.

    Rows come out as they went in, with all of their columns. No more of the data is in memory than
    a few batches, so it may be larger than memory by far.

    The data is read once, so nothing is known of other documents: a row that has the words of a
    question from elsewhere, such as a quotation, goes too. ``cento decontaminate`` reads a corpus
    twice to keep it, and so do :func:`cento.spark.decontaminate` and
    :func:`cento.ray.decontaminate`; here :func:`decontaminate` gives the findings that
    :meth:`Benchmarks.weigh` judges.

    Args:
        data: Anything with ``__arrow_c_stream__`` (a table, a reader, a data frame), an iterable of
            batches, a data set, a scanner or a Parquet file of pyarrow, or a data set of Hugging
            Face.
        against: The questions.
        annotate: Give all rows, and a column ``decontaminate`` of structs: ``verdict``
            (``clean`` or ``contaminated``), ``benchmark`` and ``question``, those with the greatest
            ``share`` in the row, and ``questions``, how many occur there; with ``on_error="skip"``
            also ``reason``.
        cut_passages: Keep rows in which questions occur, without the passages where they do.
        min_left: With ``cut_passages``, leave out a row if fewer than this number of words are
            left; 5 if not given.
        text: The column of the texts: strings, or bytes of UTF-8. A row without one may have
            ``parts``, as for :meth:`Writer.add_arrow`.
        threads: The number of threads; as many as there are processors if not given.
        on_error: ``"skip"`` leaves out rows that are no documents, counts them in ``failed`` and
            names them in ``refusals`` of the stream.

    Returns:
        An iterator of tables, and a stream for anything that takes ``__arrow_c_stream__``.

    Raises:
        InputError: The column is missing or of another type, or a row is no document. It comes when
            that is read, by what reads the stream in its own way.
        InvalidArgumentError: ``data`` gives no Arrow data, or the arguments contradict each other.
    """
    least = least_left(annotate, cut_passages, min_left)
    leaves = skips(on_error)
    questions = against._native
    return _native.decontaminated_rows(
        questions, tables(data), text, annotate, least, whole("threads", threads), leaves
    )
