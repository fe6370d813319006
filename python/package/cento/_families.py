"""Families of passages, and the lineage of documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, overload

from ._types import Unit, _plain, _Shown

_Row = TypeVar("_Row")


class _Rows(Sequence[_Row], Generic[_Row]):
    """Rows of an answer, in order."""

    __slots__ = ("_rows",)

    def __init__(self, rows: tuple[_Row, ...]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> _Row: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[_Row, ...]: ...
    def __getitem__(self, at: int | slice) -> _Row | tuple[_Row, ...]:
        return self._rows[at]

    def to_dict(self) -> dict[str, Any]:
        """The rows, and the numbers by their names: ``json.dumps`` takes it."""
        numbers = {name: getattr(self, name) for name in type(self).__slots__}
        return {"rows": _plain(self._rows), **numbers}

    def to_json(self) -> str:
        """The rows and the numbers as an object of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Change(_Shown):
    """Words that replace others in a later version of a passage."""

    removed: str
    """The words of the earlier version; empty if words were added."""
    added: str
    """The words of the later version; empty if words were removed."""


@dataclass(frozen=True, slots=True)
class Carrier(_Shown):
    """A place of a passage."""

    id: str
    """The id of the document."""
    place: tuple[int, int]
    """Where it is in the text of the document, half-open: ``text[start:end]``."""
    unit: Unit
    """What the place counts: code points, or UTF-8 bytes if requested."""
    version: int
    """The number of its wording, in the order of the carriers that have it first."""
    date: str | None = None
    """The date of the document, as ``meta`` has it, if documents are ordered by dates."""
    time: float | None = None
    """The beginning of that date: in seconds since 1970 or, if dates are numbers, the number."""
    part: str | None = None
    """The part with the passage, if the document has parts. Page and line count within the part."""
    page: int | None = None
    """The page on which it begins, from 1, if the text has pages."""
    line: int | None = None
    """The line on which it begins, from 1, if the text has lines."""
    relation: Literal["earlier", "same_date", "unknown", "later"] | None = None
    """How its date relates to that of the requested ``document``; ``None`` without one, and for the
    places of that document."""
    nearest: int | None = None
    """The earlier carrier with the nearest wording, by its place in the list, from 0."""
    direction_by: Literal["date", "added", "unknown"] | None = None
    """Why the nearest carrier is taken for the earlier one. Only ``date`` is certain; ``unknown``
    if both were added at the same time; ``None`` for places of the same document."""
    similarity: float | None = None
    """How alike the two wordings are, 0 to 1."""
    changes: tuple[Change, ...] = ()
    """The words that differ from the nearest wording; empty also without a ``similarity``, of
    passages that are too long to be compared word by word."""


@dataclass(frozen=True, slots=True)
class PassageFamily(_Shown):
    """A reused passage with all its carriers."""

    family: int
    """The number of the family. Family 1 has the most documents."""
    documents: int
    """The number of documents that carry the passage."""
    tokens: int
    """The tokens of the passage in its first carrier."""
    order: Literal["date", "added"]
    """The order of the carriers: by date, or by addition, which says nothing about who had the
    passage first."""
    first_is_certain: bool
    """Whether the first carrier is the earliest by its date: all have a date, and no other has the
    same one."""
    versions: int
    """The number of different wordings; case, punctuation and layout make no difference."""
    complete: bool
    """Whether all passages that its documents share were found: if not, carriers may be missing."""
    text: str
    """The passage, as the first carrier has it."""
    carriers: tuple[Carrier, ...]
    """The places of the passage, the earliest document first."""
    _json: str = field(default="", repr=False, compare=False)

    def to_json(self) -> str:
        """The family as ``cento families --format json`` writes it.

        Offsets are in the requested unit.
        """
        return self._json


class Families(_Rows[PassageFamily]):
    """The families of a collection, and numbers of the search for them."""

    __slots__ = ("cursor", "cut_pairs", "pairs", "total", "undated")

    total: int
    """The number of families, those beyond ``limit`` too."""
    pairs: int
    """The number of pairs of documents whose passages were compared."""
    cut_pairs: int
    """The number of pairs whose search for passages was cut short, so carriers may be missing."""
    undated: int
    """The number of documents without a date, if dates decide: they come last."""
    cursor: int
    """What ``since`` takes to find the families of documents that are added later."""

    def __repr__(self) -> str:
        return f"<Families: {len(self)} of {self.total}>"


@dataclass(frozen=True, slots=True)
class Descent(_Shown):
    """A version of a document, or the first document of a tree of versions."""

    tree: int
    """The number of its tree: 1 for the largest."""
    depth: int
    """The number of versions between it and the first document of the tree, itself included."""
    id: str
    """The id of the document."""
    tokens: int
    """Its tokens."""
    date: str | None = None
    """Its date, as ``meta`` has it, if dates decide."""
    time: float | None = None
    """The beginning of that date: in seconds since 1970 or, if dates are numbers, the number."""
    ancestor: str | None = None
    """The id of its direct ancestor; ``None`` for the first document of a tree."""
    direction_by: Literal["date", "length", "added", "unknown"] | None = None
    """Why the ancestor is taken for the earlier one of both. Only ``date`` is certain; ``unknown``
    if both were added at the same time, and nothing tells."""
    containment_of_a: float | None = None
    """The share of the ancestor that the document has; it leaves out the rest."""
    containment_of_b: float | None = None
    """The share of the document that the ancestor has; it adds the rest."""
    resemblance: float | None = None
    """The resemblance of both texts."""
    standard_error: float | None = None
    """The standard error of the resemblance, if that is an estimate."""
    exact: bool | None = None
    """Whether the numbers describe the texts, rather than estimates."""
    of_sketches: bool = False
    """Whether the numbers describe the scheme's sketches of the texts."""
    _json: str = field(default="", repr=False, compare=False)

    def to_json(self) -> str:
        """The version as ``cento lineage --format json`` writes it."""
        return self._json


class Lineage(_Rows[Descent]):
    """The lineage of a collection, and numbers of it."""

    __slots__ = ("dated", "trees", "undated", "versions")

    trees: int
    """The number of trees."""
    versions: int
    """The number of documents that have an ancestor."""
    dated: int
    """The number of versions with a later date than the ancestor."""
    undated: int
    """The number of documents without a date, if dates decide."""

    def __repr__(self) -> str:
        return f"<Lineage: {self.versions} versions in {self.trees} trees>"


def _carrier(found: dict[str, Any], is_bytes: bool) -> Carrier:
    nearest = found.get("nearest")
    return Carrier(
        id=found["id"],
        place=(found["start"], found["end"]),
        unit="bytes" if is_bytes else "characters",
        version=found["version"],
        date=found.get("date"),
        time=found.get("time"),
        part=found.get("part"),
        page=found.get("page"),
        line=found.get("line"),
        relation=found.get("relation"),
        nearest=None if nearest is None else nearest - 1,
        direction_by=found.get("direction_by"),
        similarity=found.get("similarity"),
        changes=tuple(Change(**each) for each in found.get("changes", ())),
    )


def _family(line: str, is_bytes: bool) -> PassageFamily:
    found: dict[str, Any] = json.loads(line)
    carriers = tuple(_carrier(each, is_bytes) for each in found.pop("carriers"))
    return PassageFamily(**found, carriers=carriers, _json=line)


def families_of_passages(
    lines: list[str], counts: tuple[int, int, int, int, int], is_bytes: bool
) -> Families:
    made = Families(tuple(_family(line, is_bytes) for line in lines))
    made.total, made.pairs, made.cut_pairs, made.undated, made.cursor = counts
    return made


def lineage_of(lines: list[str], counts: tuple[int, int, int, int]) -> Lineage:
    made = Lineage(tuple(Descent(**json.loads(line), _json=line) for line in lines))
    made.trees, made.versions, made.dated, made.undated = counts
    return made
