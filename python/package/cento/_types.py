"""What cento answers: small values that compare, print and show themselves."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, cast, overload

from . import _native

Unit = Literal["characters", "bytes", "tokens"]
Category = Literal["C1", "C2", "C3", "C4", "C5", "C6"]


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else str(value)


def _table(heads: list[str], rows: list[list[object]], caption: str = "") -> str:
    """A table of HTML; everything is escaped."""
    cells = [[html.escape(_shown(value)) for value in row] for row in rows]
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    above = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


PAGE_CHARACTERS_MAX = 8 << 20
"""A longer page is not shown: a notebook keeps all of it."""


def _framed(page: str | None) -> str:
    """A page in a frame of its own.

    Its styles change nothing around it, and it is of another origin than the notebook.
    """
    if page is None or len(page) > PAGE_CHARACTERS_MAX:
        return ""
    style = "width:100%;height:36rem;border:1px solid #c9c9c9;resize:vertical"
    return (
        f'<iframe sandbox="allow-scripts" loading="lazy" title="The passages in common" '
        f'style="{style}" srcdoc="{html.escape(page)}"></iframe>'
    )


def _plain(value: object) -> Any:
    """A value as ``json`` takes it: mappings and lists of plain values."""
    if isinstance(value, (_Value, Part)):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return value


class _Value:
    """A result: it is compared by its fields, copied, pickled, and written as JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The fields by their names, with lists for tuples: ``json.dumps`` takes it."""
        names = [each.name for each in fields(cast(Any, self))]
        return {name: _plain(getattr(self, name)) for name in names if not name.startswith("_")}

    def to_json(self) -> str:
        """The fields as an object of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


class _Shown(_Value):
    """What shows itself in a notebook by its fields."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        names = [each.name for each in fields(cast(Any, self))]
        return _table(["", ""], [[name, getattr(self, name)] for name in names])


@dataclass(frozen=True, slots=True)
class Passage(_Shown):
    """Text that two texts have in common: ``a``, the query or the first, and ``b``, the hit or the
    second."""

    a: tuple[int, int]
    """Its range in ``a``: ``text[start:end]``."""
    b: tuple[int, int]
    """Its range in ``b``."""
    tokens: int
    """The tokens of ``a`` in it."""
    matched: int
    """How many of these stand in ``b`` too, within its range: in the same order where the passage
    was copied; where it was rewritten, the words that both have."""
    similarity: float
    """How alike the two places are, 0 to 1: common tokens over their mean number."""
    unit: Unit
    """What the ranges, which are half-open, count: code points, which index a ``str``; UTF-8 bytes
    if they were asked for; tokens if the index stores no text or the query has none."""
    matched_ranges: tuple[tuple[int, int], ...] = ()
    """The ranges of the matched tokens in ``a``; empty if they are all of the passage."""
    evidence: float | None = None
    """How much it says in this collection, in bits; ``None`` without the texts of a collection."""
    expected: float | None = None
    """How many unrelated documents have a passage that says as much in common with ``a``, by
    chance. If the passages have more than half of the longer text, the number for all of
    them together counts where it is less."""
    by_letters: bool = False
    """Whether letters were aligned instead of words, because many words have wrong letters, or were
    joined or cut. All of the passage then corresponds, and no evidence is computed."""
    a_part: str | None = None
    """The part of ``a`` that it is in, if that has parts; its page and line are those of the
    part."""
    a_page: int | None = None
    """The page on which it begins there, from 1, if the text has pages."""
    a_line: int | None = None
    """The line on which it begins there, from 1, if the text has lines."""
    b_part: str | None = None
    """The part of ``b`` that it is in, if that has parts; its page and line are those of the
    part."""
    b_page: int | None = None
    """The page on which it begins there, from 1, if the text has pages."""
    b_line: int | None = None
    """The line on which it begins there, from 1, if the text has lines."""


@dataclass(frozen=True, slots=True)
class Weighted(_Shown):
    """The measures of a hit or a pair, with fingerprints weighted by their rarity, 0 to 1."""

    containment_of_a: float
    """The share of the weight of the query, or the first document, that the other has."""
    containment_of_b: float
    """The share of the weight of the hit, or the second document, that the other has."""
    resemblance: float


@dataclass(frozen=True, slots=True)
class Hit(_Shown):
    """A stored document that shares text with a query."""

    id: str
    """The id. If you added the document with a number, the digits of the number."""
    overlap: int
    """Distinct fingerprints in common."""
    fingerprints: int
    """Distinct fingerprints of the document."""
    containment_of_a: float
    """The share of the text of the query that the document has, 0 to 1."""
    containment_of_b: float
    """The share of the text of the document that the query has, 0 to 1."""
    resemblance: float
    """The shared part, divided by all text of both documents, 0 to 1."""
    standard_error: float | None = None
    """The standard error of ``resemblance`` if that is an estimate; 0 if it is exact; ``None`` for
    schemes that only compare sketches."""
    exact: bool = False
    """Whether the numbers describe the texts, rather than estimates."""
    meta: Mapping[str, Any] = field(default_factory=lambda: dict[str, Any](), hash=False)
    """The meta object that was added with the document."""
    passages: tuple[Passage, ...] = ()
    """The passages in common, in the order of the query; empty if not requested."""
    passages_complete: bool | None = None
    """Whether the list is complete. ``None`` if you requested no passages."""
    weighted: Weighted | None = None
    """The measures weighted by rarity, if the query needs them."""
    passage_tokens: int | None = None
    """The tokens of the query in passages, if hits are ranked by them."""
    adds: int | None = None
    """Letters and digits of the query that no hit before has, if a trace was requested."""
    similarity: float | None = None
    """The similarity of the texts by the measure of ``verify``, 0 to 1."""


def _passages(found: list[dict[str, Any]] | None, is_bytes: bool) -> tuple[Passage, ...]:
    def unit(passage: dict[str, Any]) -> Unit:
        if passage.get("unit") == "tokens":
            return "tokens"
        return "bytes" if is_bytes else "characters"

    return tuple(
        Passage(
            a=(passage["a"][0], passage["a"][1]),
            b=(passage["b"][0], passage["b"][1]),
            tokens=passage["tokens"],
            matched=passage["matched"],
            similarity=passage["similarity"],
            unit=unit(passage),
            matched_ranges=tuple((a, b) for a, b in passage.get("matched_ranges", ())),
            evidence=passage.get("evidence"),
            expected=passage.get("expected"),
            by_letters=passage.get("by_letters", False),
            a_part=passage.get("a_part"),
            a_page=passage.get("a_page"),
            a_line=passage.get("a_line"),
            b_part=passage.get("b_part"),
            b_page=passage.get("b_page"),
            b_line=passage.get("b_line"),
        )
        for passage in found or ()
    )


def _weighted(found: dict[str, Any] | None) -> Weighted | None:
    return None if found is None else Weighted(**found)


def _hit(
    id: str,
    overlap: int,
    fingerprints: int,
    containment_of_a: float,
    containment_of_b: float,
    resemblance: float,
    standard_error: float | None,
    exact: bool,
    meta: dict[str, Any],
    passages: Iterable[_native.PassageValues],
    passages_complete: bool | None,
    weighted: tuple[float, float, float] | None,
    passage_tokens: int | None,
    adds: int | None,
    similarity: float | None,
) -> Hit:
    return Hit(
        id,
        overlap,
        fingerprints,
        containment_of_a,
        containment_of_b,
        resemblance,
        standard_error,
        exact,
        meta,
        tuple(Passage(*each) for each in passages),
        passages_complete,
        None if weighted is None else Weighted(*weighted),
        passage_tokens,
        adds,
        similarity,
    )


def hit_of(found: dict[str, Any]) -> Hit:
    """A hit of JSON, whose places are in bytes."""
    return Hit(
        id=found["id"],
        overlap=found["overlap"],
        fingerprints=found["fingerprints"],
        containment_of_a=found["containment_of_a"],
        containment_of_b=found["containment_of_b"],
        resemblance=found["resemblance"],
        standard_error=found.get("standard_error"),
        exact=found["exact"],
        meta=found["meta"],
        passages=_passages(found.get("passages"), True),
        passages_complete=found.get("passages_complete"),
        weighted=_weighted(found.get("weighted")),
    )


@dataclass(frozen=True, slots=True)
class Unseen(_Value):
    """What a reader of a text does not see."""

    hidden_characters: int = 0
    """The number of characters without width between its letters."""
    mixed_words: int = 0
    """The number of words with letters of another script that look the same: other words."""


@dataclass(frozen=True, slots=True)
class Defaults(_Value):
    """The defaults of a preset that a search used, because it was given none of its own."""

    preset: str
    rank: str | None
    """The ranking, if it decided."""


@dataclass(frozen=True, slots=True)
class SpanCarrier(_Value):
    """A stored document that has a span of a traced text."""

    id: str
    added: str
    """When it was added (RFC 3339)."""
    b: tuple[int, int]
    """The range of its passage."""
    similarity: float
    """How alike the two passages are, 0 to 1."""
    unit: str = "bytes"
    """What ``b`` counts if the index stores no texts: ``"tokens"``."""
    index: str | None = None
    """The index that has it, if several were searched."""
    date: str | None = None
    """The date in ``meta``, if dates decide and the document has a date."""
    b_part: str | None = None
    b_page: int | None = None
    b_line: int | None = None
    text: str | None = None
    """The words of its passage, of the best and the first carrier."""


@dataclass(frozen=True, slots=True)
class TracedSpan(_Value):
    """A span of a text that stored documents have too."""

    a: tuple[int, int]
    """Its range in the text: ``text[start:end]``."""
    text: str
    words: int
    """Its words, of a program its tokens."""
    matched: int
    """How many of these words the best carrier has."""
    is_common: bool
    """Whether more than half of the documents of the index carry it, and at least eight do."""
    carriers: int
    """The number of documents that have at least half as much of it as the best carrier."""
    carriers_exact: bool
    """Whether all of these were compared; if not, the others are counted by fingerprints."""
    best: SpanCarrier
    """The carrier that has most of it."""
    first: SpanCarrier
    """The carrier with the earliest date, or the one that was added first."""
    others: tuple[SpanCarrier, ...] = ()
    """The carriers that were requested beside these (``carriers``), the best first."""
    evidence: float | None = None
    """The information of the best carrier's passage, in bits."""
    expected: float | None = None
    """How many unrelated documents have a passage that says as much, by chance."""
    a_part: str | None = None
    a_page: int | None = None
    a_line: int | None = None


@dataclass(frozen=True, slots=True)
class ContainingDocuments(_Value):
    """The documents that contain a text word for word, whatever its case and punctuation."""

    documents: int
    """How many there are, exactly."""
    ids: tuple[str, ...]
    """The ids of the first of them in the order of addition, at most ten."""


@dataclass(frozen=True, slots=True)
class Trace(_Value):
    """Where every part of a text comes from. The four shares add up to 1."""

    size: int
    """The letters and digits of the text, or the tokens of a program, that count."""
    unit: str
    """What ``size`` counts: ``"characters"`` or ``"tokens"``."""
    reused: float
    """The share that stored documents have, and that is neither common nor cited."""
    common: float
    """The share in common spans."""
    cited: float
    """The share that stored documents have, and that the text has in quotation marks or in its
    bibliography."""
    new: float
    """The rest."""
    order: str
    """How the first carriers were found: ``"date"`` or ``"added"``."""
    spans: tuple[TracedSpan, ...]
    """The spans in the order of the text; they do not overlap."""
    containing: ContainingDocuments | None = None
    """The documents that contain the whole text, word for word. Only for a text of 2 to 20 words,
    without the option ``without``, and if texts are stored."""


def _trace(written: dict[str, Any]) -> Trace:
    def carrier(values: dict[str, Any]) -> SpanCarrier:
        return SpanCarrier(**{**values, "b": tuple(values["b"])})

    def span(values: dict[str, Any]) -> TracedSpan:
        best, first = carrier(values["best"]), carrier(values["first"])
        others = tuple(carrier(other) for other in values.get("others", ()))
        known = {"a": tuple(values["a"]), "best": best, "first": first, "others": others}
        return TracedSpan(**{**values, **known})

    spans = tuple(span(values) for values in written["spans"])
    containing = written.get("containing")
    if containing is not None:
        containing = ContainingDocuments(containing["documents"], tuple(containing["ids"]))
    return Trace(**{**written, "spans": spans, "containing": containing})


class Answer:
    """The answer to a search. It iterates over its hits, the best first.

    It can be copied, pickled and sent to other processes, all but the texts of its passages, which
    a notebook shows; ``pyarrow.table(answer)`` makes a table of its hits, with the columns of
    :meth:`Index.search_many`.
    """

    __slots__ = ("_hits", "_native")

    def __init__(self, native: _native.Answer) -> None:
        self._native = native
        self._hits: tuple[Hit, ...] | None = None

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The hits, the best first."""
        if self._hits is None:
            self._hits = tuple(_hit(*values) for values in self._native.hits())
        return self._hits

    @property
    def id(self) -> str | None:
        """The id of the stored document that was searched for."""
        return self._native.info()[0]

    @property
    def tokens(self) -> int:
        """The tokens of the query."""
        return self._native.info()[1]

    @property
    def fingerprints(self) -> int:
        """The distinct fingerprints of the query."""
        return self._native.info()[2]

    @property
    def stopped(self) -> int:
        """How many of them are stop-fingerprints, which find no documents (``max_df``)."""
        return self._native.info()[3]

    @property
    def unseen(self) -> Unseen:
        """What a reader of the query's text does not see."""
        return Unseen(*self._native.unseen())

    @property
    def defaults(self) -> Defaults | None:
        """The defaults of the preset of the index that the search used, if it used any."""
        used = self._native.defaults()
        return None if used is None else Defaults(*used)

    @property
    def trace(self) -> Trace | None:
        """Where every part of the query comes from, if a trace was requested (``goal``)."""
        written = self._native.trace()
        return None if written is None else _trace(json.loads(written))

    @property
    def more(self) -> bool:
        """Whether further documents meet the query, and ``limit`` left them out.

        With ``rank="passages"``, documents that ``candidates`` left out count as further ones.
        """
        return self._native.info()[6]

    @property
    def total(self) -> int | None:
        """How many documents meet the query, the hits included; None if it is not known."""
        return self._native.info()[7]

    @property
    def complete(self) -> bool:
        """Whether the search went to its end; if not (``budget``), hits may be missing.

        It says nothing of ``limit``: ``more`` does.
        """
        return self._native.info()[4]

    @property
    def took_us(self) -> int:
        """The time it took, in microseconds."""
        return self._native.info()[5]

    def to_json(self) -> str:
        """The answer as ``cento search --format json`` and the service write it.

        Offsets are in bytes of UTF-8 here, whatever was asked for; :meth:`to_dict` has them as they
        were asked for.
        """
        return self._native.json()

    def to_dict(self) -> dict[str, Any]:
        """All properties by their names, with lists for tuples: ``json.dumps`` takes it."""
        return {name: _plain(getattr(self, name)) for name in _ANSWER}

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.table().__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> tuple[type[Answer], tuple[_native.Answer]]:
        # Hits are made again where they are read.
        return (Answer, (self._native,))

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, at: int) -> Hit:
        return self.hits[at]

    def __repr__(self) -> str:
        shown = ", ".join(f"{hit.id!r}: {hit.containment_of_a:.3f}" for hit in self.hits[:5])
        more = ", ..." if len(self.hits) > 5 else ""
        return f"<Answer: {len(self.hits)} hits {{{shown}{more}}}>"

    def _repr_html_(self) -> str:
        heads = ["id", "of query", "of hit", "resemblance", "overlap", "passages"]
        rows: list[list[object]] = [
            [
                hit.id,
                hit.containment_of_a,
                hit.containment_of_b,
                hit.resemblance,
                hit.overlap,
                ", ".join(f"{a}-{b} in {c}-{d}" for a, b, c, d in map(_ends, hit.passages)),
            ]
            for hit in self.hits
        ]
        caption = f"{self.tokens} tokens, {self.fingerprints} fingerprints; {len(self)} hits"
        return _table(heads, rows, caption) + _framed(self._native.page())


_ANSWER = (
    *("hits", "id", "tokens", "fingerprints", "stopped", "unseen", "defaults", "trace"),
    *("more", "total", "complete", "took_us"),
)


class Answers(Sequence[Answer]):
    """The answers to many searches, in their order. An answer is made when it is read.

    Like other sequences that are no lists, it equals only itself; ``list(...)`` makes a list. It
    can be copied, pickled and sent to other processes, as an :class:`Answer` can;
    ``pyarrow.table(answers)`` makes the table of all hits that ``to_arrow=True`` gives. (polars
    would take it for a list of objects: give polars the table.)
    """

    __slots__ = ("_made", "_native")

    def __init__(self, native: _native.Answers) -> None:
        self._native = native
        self._made: dict[int, Answer] = {}

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, at: int) -> Answer: ...
    @overload
    def __getitem__(self, at: slice) -> list[Answer]: ...
    def __getitem__(self, at: int | slice) -> Answer | list[Answer]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        made = self._made.get(at)
        if made is None:
            # Another thread may have made it meanwhile.
            made = self._made.setdefault(at, Answer(self._native.get(at)))
        return made

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The inputs skipped as no texts (``on_error="skip"``), with the reasons."""
        return refusals_of(self._native.refusals())

    def to_dict(self) -> dict[str, Any]:
        """The answers and the refusals, with lists for tuples: ``json.dumps`` takes it."""
        return {"answers": [each.to_dict() for each in self], "refusals": _plain(self.refusals)}

    def to_json(self) -> str:
        """The answers and the refusals as an object of JSON; offsets are in the requested unit."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.table().__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> tuple[type[Answers], tuple[_native.Answers]]:
        return (Answers, (self._native,))

    def __repr__(self) -> str:
        hits = sum(len(self._native.get(at)) for at in range(len(self)))
        return f"<Answers: {len(self)}, {hits} hits>"


def _ends(passage: Passage) -> tuple[int, int, int, int]:
    return (*passage.a, *passage.b)


class Part(NamedTuple):
    """A part of a document: a file of a submission, a chapter of a book."""

    name: str
    """Its name, which no other part of the document has."""
    text: str | None
    """The text. ``None`` if the index stores no texts."""

    def to_dict(self) -> dict[str, Any]:
        """The name and the text, by their names."""
        return self._asdict()

    def to_json(self) -> str:
        """The name and the text, as an object of JSON."""
        return json.dumps(self._asdict(), ensure_ascii=False)


Parts = Sequence[tuple[str, str] | Part | Mapping[str, str]]
"""The parts of a document, in order: each a tuple ``(name, text)``, such as a :class:`Part`, or a
mapping with ``name`` and ``text``."""


@dataclass(frozen=True, slots=True)
class Document(_Shown):
    """A stored document."""

    id: str
    text: str | None
    """The text; ``None`` if the index stores none. That of a document with parts is their texts,
    joined with line feeds."""
    meta: Mapping[str, Any] = field(hash=False)
    parts: tuple[Part, ...] = ()
    """The parts, if you added the document with parts."""


@dataclass(frozen=True, slots=True)
class Pair(_Shown):
    """Two documents that share text. A pair unpacks into both ids and the resemblance."""

    a: str
    b: str
    overlap: int
    """Distinct fingerprints in common."""
    containment_of_a: float
    """The share of the text of ``a`` that ``b`` has, 0 to 1."""
    containment_of_b: float
    """The share of the text of ``b`` that ``a`` has, 0 to 1."""
    resemblance: float
    """The shared part, divided by all text of both documents, 0 to 1."""
    fingerprints_a: int
    fingerprints_b: int
    tokens_a: int
    tokens_b: int
    standard_error: float | None = None
    """The standard error of ``resemblance`` if that is an estimate; 0 if it is exact; ``None`` for
    schemes that only compare sketches."""
    exact: bool = False
    """Whether the numbers describe the texts, rather than estimates."""
    of_sketches: bool = False
    """Whether the numbers describe the scheme's sketches of the texts."""
    category: Category | None = None
    """The category of text reuse (Seo & Croft 2008, section 3.3)."""
    weighted: Weighted | None = None
    """The measures weighted by rarity, if requested."""
    passage_tokens: int | None = None
    """The tokens of ``a`` in passages, if pairs are ranked by them."""
    margin: float | None = None
    """How far the pair stands out from its neighbors, -1 to 1, if requested."""
    score: float | None = None
    """How much two programs suggest that one was copied, 0 to 1, if requested."""
    too_short: bool | None = None
    """Of programs: whether either is so short that independent ones are often equal."""
    passages: tuple[Passage, ...] = ()
    """The passages in common, if requested."""
    passages_complete: bool | None = None
    _json: str = field(default="", repr=False, compare=False)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.a, self.b, self.resemblance))

    def to_json(self) -> str:
        """The pair as ``cento pairs --format json`` writes it.

        Offsets are in the unit that was asked for.
        """
        return self._json


def pair_of(line: str, is_bytes: bool) -> Pair:
    found: dict[str, Any] = json.loads(line)
    passages = _passages(found.pop("passages", None), is_bytes)
    weighted = _weighted(found.pop("weighted", None))
    return Pair(**found, passages=passages, weighted=weighted, _json=line)


@dataclass(frozen=True, slots=True)
class Member(_Shown):
    """A document of a cluster."""

    id: str
    overlap: int
    """Distinct fingerprints in common with the representative."""
    resemblance: float
    """The resemblance of the text to the text of the representative, 0 to 1."""
    containment_of_a: float
    """The share of the text of the representative that it has, 0 to 1."""
    containment_of_b: float
    """The share of its text that the representative has, 0 to 1."""
    standard_error: float | None = None
    """The standard error of ``resemblance`` if that is an estimate; 0 if it is exact; ``None`` for
    schemes that only compare sketches."""
    exact: bool = False
    """Whether the numbers describe the texts, rather than estimates."""
    of_sketches: bool = False
    """Whether the numbers describe the scheme's sketches of the texts."""
    weighted: Weighted | None = None
    """The measures weighted by rarity, if clusters were made by them."""


@dataclass(frozen=True, slots=True)
class Cluster(_Shown):
    """Documents that are versions of one another."""

    cluster: int
    """The number: 1 for the largest."""
    size: int
    """How many documents it has, the representative included."""
    representative: str
    members: tuple[Member, ...]
    """The others, the most similar first."""
    _json: str = field(default="", repr=False, compare=False)

    def to_json(self) -> str:
        """The cluster as ``cento cluster --format json`` writes it."""
        return self._json

    def _repr_html_(self) -> str:
        rows: list[list[object]] = [[each.id, each.resemblance] for each in self.members]
        return _table(["id", "resemblance"], rows, f"{self.size} like {self.representative}")


def cluster_of(line: str) -> Cluster:
    found: dict[str, Any] = json.loads(line)
    members = tuple(
        Member(
            id=member["id"],
            overlap=member["overlap"],
            resemblance=member["resemblance"],
            containment_of_a=member["containment_of_a"],
            containment_of_b=member["containment_of_b"],
            standard_error=member.get("standard_error"),
            exact=member["exact"],
            of_sketches=member.get("of_sketches", False),
            weighted=_weighted(member.get("weighted")),
        )
        for member in found.pop("members")
    )
    return Cluster(**found, members=members, _json=line)


@dataclass(frozen=True, slots=True)
class Cut(_Shown):
    """A passage that was cut out of a document."""

    range: tuple[int, int]
    """Its range in the text, half-open: code points, or bytes if requested."""
    tokens: int
    of: str
    """A document that has it."""
    index: str | None = None
    """The path of the index that has that document, if several were compared with."""


@dataclass(frozen=True, slots=True)
class Verdict(_Shown):
    """The decision about a document, and its reason."""

    id: str
    kind: Literal[
        "kept", "unchanged", "exact", "near", "contained", "passages", "withdrawn", "failed"
    ]
    """Kept; or kept and ``unchanged``, because an index has it already under its id, with the same
    text; or dropped, because another document has the same text, resembles it, contains it, or
    others contain all passages of it, or the index refuses it because it was withdrawn. ``failed``
    is no document (``on_error="skip"``). The ``id`` is then ``item`` and a number, from 0."""
    of: str | None = None
    """The id of the other document."""
    index: str | None = None
    """The path of the index that has the other document, if several were compared with."""
    resemblance: float | None = None
    """For ``near``: the resemblance of the text to the duplicated document."""
    containment: float | None = None
    """For ``contained``: the share of the text that the containing document has."""
    exact: bool | None = None
    """Whether both texts were compared, of ``near`` and ``contained``."""
    standard_error: float | None = None
    """The standard error of the resemblance, if it is an estimate."""
    of_sketches: bool = False
    """Whether the similarity describes the scheme's sketches of the texts."""
    kept_as: str | None = None
    """The new id in the index, if a different document already had the id."""
    replaces: bool = False
    """Whether it takes the place of an old version, with another text, in the index."""
    withdrawn: str | None = None
    """When the other document was withdrawn, of ``withdrawn``."""
    cut: tuple[Cut, ...] = ()
    """The passages that were cut out, if ``cut_passages`` was given."""
    text: str | None = None
    """The text without the passages that were cut out; ``None`` if there are no cuts."""
    reason: str | None = None
    """The fault of the item, of ``failed``."""
    _json: str = field(default="", repr=False, compare=False)

    @property
    def kept(self) -> bool:
        """Whether the document is kept."""
        return self.kind in ("kept", "unchanged")

    def to_json(self) -> str:
        """The verdict as ``cento dedup --dropped`` has it, with offsets in bytes."""
        return self._json


def verdict_of(line: str, shown: str, text: str | None) -> Verdict:
    found: dict[str, Any] = json.loads(shown)
    cut = tuple(
        Cut(
            range=(each["bytes"][0], each["bytes"][1]),
            tokens=each["tokens"],
            of=each["of"],
            index=each.get("index"),
        )
        for each in found.pop("cut", ())
    )
    kind = found.pop("verdict")
    return Verdict(**found, kind=kind, cut=cut, text=text, _json=line)


@dataclass(frozen=True, slots=True)
class Comparison(_Value):
    """The comparison of two texts."""

    overlap: int
    """Distinct fingerprints in common."""
    containment_of_a: float
    """The share of the first text that the second has, 0 to 1."""
    containment_of_b: float
    """The share of the second text that the first has, 0 to 1."""
    resemblance: float
    """The shared part, divided by all text of both documents, 0 to 1."""
    exact: bool
    """Whether the numbers describe the texts. False for schemes that only compare sketches."""
    category: Category | None
    measures: Mapping[str, float] = field(hash=False)
    """What other measures say, by their names."""
    passages: tuple[Passage, ...]
    """The passages in common, in the order of the first text."""
    complete: bool
    """Whether these are all."""
    unseen: tuple[Unseen, Unseen] = (Unseen(), Unseen())
    """What a reader of either text does not see."""
    _json: str = field(default="", repr=False, compare=False)
    _texts: tuple[str, str] = field(default=("", ""), repr=False, compare=False)
    _analyzer: str = field(default="words", repr=False, compare=False)

    def to_json(self) -> str:
        """The comparison as the service writes it, with offsets in bytes."""
        return self._json

    def _repr_html_(self) -> str:
        measures = {
            "resemblance": self.resemblance,
            "of a": self.containment_of_a,
            "of b": self.containment_of_b,
            **self.measures,
        }
        rows: list[list[object]] = [[name, value] for name, value in measures.items()]
        caption = f"{self.overlap} fingerprints and {len(self.passages)} passages in common"
        page = None
        if self.passages:
            page = _native.comparison_page(*self._texts, self._json, self._analyzer)
        return _table(["measure", ""], rows, caption) + _framed(page)


def comparison_of(
    shown: str, line: str, texts: tuple[str, str], analyzer: str, is_bytes: bool
) -> Comparison:
    found: dict[str, Any] = json.loads(shown)
    a, b = found.get("unseen", ({}, {}))
    return Comparison(
        overlap=found["overlap"],
        containment_of_a=found["containment_of_a"],
        containment_of_b=found["containment_of_b"],
        resemblance=found["resemblance"],
        exact=found["exact"],
        category=found["category"],
        measures=found.get("measures", {}),
        passages=_passages(found["passages"], is_bytes),
        complete=found["complete"],
        unseen=(Unseen(**a), Unseen(**b)),
        _json=line,
        _texts=texts,
        _analyzer=analyzer,
    )


@dataclass(frozen=True, slots=True)
class Signature(_Value):
    """The fingerprints of a text, which can be searched for without the text."""

    scheme: str
    analyzer: str
    frequencies: str | None
    """The digest of the frequency table, if the scheme reads one."""
    key: str | None
    """The check value of the key, if the fingerprints depend on one."""
    tokens: int
    """The tokens of the text."""
    fingerprints: tuple[tuple[int, int], ...]
    """Keys, of at most 64 bits, and the first token of each; positions do not descend."""

    def __len__(self) -> int:
        return len(self.fingerprints)

    @property
    def keys(self) -> frozenset[int]:
        """The distinct keys."""
        return frozenset(key for key, _ in self.fingerprints)

    def __repr__(self) -> str:
        return f"<Signature: {len(self)} fingerprints of {self.tokens} tokens by {self.scheme}>"


def signed(
    signature: Signature,
) -> tuple[str, str, str | None, str | None, int, list[tuple[int, int]]]:
    return (
        signature.scheme,
        signature.analyzer,
        signature.frequencies,
        signature.key,
        signature.tokens,
        list(signature.fingerprints),
    )


def signature_of(
    signed: tuple[str, str, str | None, str | None, int, list[tuple[int, int]]],
) -> Signature:
    scheme, analyzer, frequencies, key, tokens, fingerprints = signed
    return Signature(scheme, analyzer, frequencies, key, tokens, tuple(fingerprints))


@dataclass(frozen=True, slots=True)
class RepeatedPassage(_Shown):
    """A passage that many documents have."""

    documents: int
    """The number of different documents with the passage."""
    of_documents: int
    """The number of different documents; exact copies count once."""
    tokens: int
    """Its length."""
    example: str
    """The id of a document with the passage."""
    bytes: tuple[int, int]
    """Its place in that document, in bytes of UTF-8."""
    text: str


def repeated_of(line: str) -> RepeatedPassage:
    found: dict[str, Any] = json.loads(line)
    return RepeatedPassage(**{**found, "bytes": tuple(found["bytes"])})


@dataclass(frozen=True, slots=True)
class Stats(_Shown):
    """The size of an index."""

    documents: int
    deleted: int
    """Removed or replaced documents that still take space, until :meth:`Index.compact`."""
    segments: int
    terms: int
    """Distinct fingerprints, added up over the segments."""
    postings: int
    """Pairs of a fingerprint and a document that has it."""
    fingerprints: int
    """Stored occurrences of fingerprints."""
    tokens: int
    scheme: str
    analyzer: str
    signature_bytes: int
    """Bytes on disk of all signatures."""
    text_bytes: int
    """Bytes on disk of all texts."""
    other_bytes: int
    """Bytes on disk of everything else."""
    preset: str | None = None
    """The preset of the index, if it has one."""
    key: str | None = None
    """The check value of the key that fingerprints depend on, if they depend on one."""


def stats_of(line: str) -> Stats:
    found: dict[str, Any] = json.loads(line)
    size = found.pop("bytes")
    return Stats(
        **found,
        signature_bytes=size["signatures"],
        text_bytes=size["text"],
        other_bytes=size["other"],
    )


@dataclass(frozen=True, slots=True)
class Problem(_Shown):
    """A damaged place of an index."""

    file: str
    section: str
    offset: int
    """Bytes from the start of the file; the damage is at or after this place."""
    what: str


@dataclass(frozen=True, slots=True)
class CheckReport(_Shown):
    """The result of a check. It is true if the index is sound."""

    segments: int
    damaged: int
    """The segments with damage."""
    problems: tuple[Problem, ...]
    unlisted: tuple[str, ...] = ()
    """Files in the directory that belong to no commit. They are no damage, but may have texts that
    were removed since; the next writer removes them."""

    def __bool__(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class Compaction(_Shown):
    """The result of a compaction."""

    segments_before: int
    segments_after: int
    purged: int
    """Deleted documents whose space was reclaimed."""


@dataclass(frozen=True, slots=True)
class AddedIndexes(_Shown):
    """The result of a merge of indexes."""

    documents: int
    """Documents that have come from the shards."""
    segments: int
    """Segments that have come from the shards."""
    bytes: int
    """Bytes of their files."""
    linked: int
    """Files that are links to the files of the shards. All remaining files are copies."""
    replaced: int
    """Older documents that were deleted because a later shard has their ids."""
    known: int
    """Segments of the shards that had been merged before, and were not taken again."""
    removed_since: int
    """Documents that shards have removed since they were merged; the index still has them."""
    removed: int
    """Shards whose directories were removed."""


@dataclass(frozen=True, slots=True)
class Refusal(_Shown):
    """Something that is no document or no text, and was left out."""

    number: int
    """The number of the item, row or text, from 0."""
    reason: str
    """The fault."""


@dataclass(frozen=True, slots=True)
class AddReport(_Shown):
    """The result of adding, in documents."""

    added: int
    """Their ids were new."""
    replaced: int
    """They took the place of another version."""
    unchanged: int
    """They were there already, with the same text and meta."""
    failed: int = 0
    """Items that were no documents and were left out (``on_error="skip"``)."""
    refusals: tuple[Refusal, ...] = ()
    """Which they were, and why; the first 10,000."""


def report_of(counts: list[int], refusals: list[tuple[int, str]]) -> AddReport:
    added, replaced, unchanged, failed = counts
    return AddReport(added, replaced, unchanged, failed, refusals_of(refusals))


def refusals_of(refusals: list[tuple[int, str]]) -> tuple[Refusal, ...]:
    return tuple(Refusal(*each) for each in refusals)


@dataclass(frozen=True, slots=True)
class PresetSettings(_Shown):
    """What a preset sets."""

    name: str
    purpose: str
    """The texts that it suits."""
    scheme: str
    analyzer: str
    rank: str | None
    """The default ranking of searches and pairs, if it sets one."""
    min_resemblance: float | None
    """The least resemblance of near-duplicates, for pairs, clusters and deduplication, if it sets
    one. Searches have no threshold by default."""


@dataclass(frozen=True, slots=True)
class Parameter(_Shown):
    """A parameter of a scheme, an analyzer or a measure."""

    name: str
    default: str | None
    """``None`` if it must be given."""
    min: int | None
    max: int | None
    values: tuple[str, ...]
    """The names of its values, if it is no number."""
    meaning: str


@dataclass(frozen=True, slots=True)
class Family(_Shown):
    """A scheme, an analyzer or a measure, by its name."""

    name: str
    summary: str
    source: str
    """Paper and section; empty if it is common knowledge or cento's own."""
    example: str
    """A specification to begin with."""
    parameters: tuple[Parameter, ...]


def families_of(kind: str) -> list[Family]:
    def family(found: dict[str, Any]) -> Family:
        parameters = tuple(
            Parameter(**{**each, "values": tuple(each["values"])})
            for each in found.pop("parameters")
        )
        return Family(**found, parameters=parameters)

    return [family(found) for found in _native.families(kind)]
