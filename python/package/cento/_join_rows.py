"""Rows of a join whose documents lie on many machines: columns, and how steps read them.

Each step of a join takes the batches of a task and gives others. Where a step needs rows that
belong together, the engine has brought them to one task and sorted them, so that they follow each
other. No step holds more than a batch and the rows that belong together.

A text goes by its digest, so that copies are compared once. `_joins` has the order of the steps.
"""

from __future__ import annotations

import hashlib
import importlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _native
from ._errors import InputError

np: Any = importlib.import_module("numpy")
pa: Any = importlib.import_module("pyarrow")
pc: Any = importlib.import_module("pyarrow.compute")

Batches = Iterator[Any]

COUNTS = "key long, n long"
KEYS = "key long, salt long, t binary, size int, least int, df long, n int"
LISTED = "t binary, key long, df long, size int, least int"
POSTINGS = (
    "key long, cell long, block int, t binary, shared int, least int, need int, probes boolean"
)
SHARED = "a binary, b binary, need int"
TEXTS = "t binary, side int, other binary, rank binary, text string"
SENT = "place long, t binary, ranks array<binary>, text string, others array<binary>"
EDGES = "t binary, other binary, side int"
COPIES = "t binary, side int, rank binary"
IDS = "id string"

ROWS = 1 << 16
"""About how many rows a step gives at once."""

DOCUMENTS = 2_000
"""How many documents a step reads at once."""

NO_LIMIT = (1 << 64) - 1


@dataclass(frozen=True)
class Source:
    """Where the documents are in the rows of a data set, and what decides about them."""

    id: str
    text: str
    prefer: str | None
    options: Mapping[str, Any]
    is_dedup: bool
    df_limit: int = NO_LIMIT
    heavy: Mapping[int, int] = field(default_factory=dict)
    """Fingerprints that occur so often that their rows go to many tasks, with their frequency."""

    @property
    def column(self) -> str | None:
        """The column that decides which document is preferred, if one does."""
        if self.prefer is None or self.prefer == "longest":
            return None
        return self.prefer.removeprefix("-")

    @property
    def signer(self) -> _native.TextSigner:
        """Makes what signs texts; it cannot be sent to another process."""
        return _native.TextSigner(dict(self.options), self.is_dedup)

    def documents(self, batches: Iterable[Any]) -> Iterator[tuple[list[str], list[str], Any]]:
        """Gives ids, texts and rows of some documents at a time: an engine's batch may be large.

        Raises:
            InputError: A row has no id or no text.
        """
        for batch in batches:
            for first in range(0, len(batch), DOCUMENTS):
                rows = batch.slice(first, DOCUMENTS)
                ids = rows[self.id].cast(pa.string()).to_pylist()
                texts = rows[self.text].to_pylist()
                for id, text in zip(ids, texts, strict=True):
                    if id is None:
                        raise InputError(f"a row has no `{self.id}`; give every row an id")
                    if not isinstance(text, str):
                        raise InputError(f"{id}: its `{self.text}` is no text; leave the row out")
                yield ids, texts, rows


def digest_of(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def schema_of(columns: str) -> Any:
    """The schema of columns that are described in the words of Spark."""
    kinds = {
        "long": pa.int64(),
        "int": pa.int32(),
        "double": pa.float64(),
        "boolean": pa.bool_(),
        "string": pa.string(),
        "binary": pa.binary(),
        "array<binary>": pa.list_(pa.binary()),
    }
    described = [column.split() for column in columns.split(", ")]
    return pa.schema([(name, kinds[kind]) for name, kind in described])


def made(columns: str, **values: Any) -> Batches:
    """Gives rows of these columns in batches."""
    schema = schema_of(columns)
    arrays = [pa.array(values[each.name], each.type) for each in schema]
    yield from pa.Table.from_arrays(arrays, schema=schema).to_batches(max_chunksize=ROWS)


def combined(column: Any) -> Any:
    """A column as one array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def numbers(table: Any, name: str) -> Any:
    return combined(table[name]).to_numpy(zero_copy_only=False)


def starts(table: Any, names: Iterable[str]) -> Any:
    """Tells for each row whether one of these columns differs from the row before."""
    is_start = np.zeros(len(table), bool)
    if len(table) > 0:
        is_start[0] = True
    for name in names:
        column = combined(table[name])
        differs = pc.not_equal(column[1:], column[:-1])
        is_start[1:] |= differs.to_numpy(zero_copy_only=False)
    return is_start


def groups(batches: Iterable[Any], names: list[str]) -> Iterator[Any]:
    """Gives the batches anew, cut so that rows which agree in these columns stay together."""
    held: list[Any] = []
    for batch in batches:
        if len(batch) == 0:
            continue
        table = pa.Table.from_batches([batch])
        before = [held[-1].slice(len(held[-1]) - 1)] if held else []
        begins = np.flatnonzero(starts(pa.concat_tables([*before, table]), names)[len(before) :])
        if held and len(begins) == 0:
            held.append(table)
            continue
        last = int(begins[-1])
        if held or last > 0:
            yield pa.concat_tables([*held, table.slice(0, last)]).combine_chunks()
        held = [table.slice(last)]
    if held:
        yield pa.concat_tables(held).combine_chunks()


def starts_of(batches: Iterable[Any], name: str) -> Iterator[tuple[Any, Any]]:
    """Gives each batch that has rows, and for each row whether the column differs from before.

    For rows that belong together and may be too many for memory.
    """
    last: Any = None
    for batch in batches:
        if len(batch) > 0:
            is_start = starts(batch, [name])
            is_start[0] = batch[name][0] != last
            last = batch[name][len(batch) - 1]
            yield batch, is_start


@dataclass(frozen=True)
class SignedTexts:
    """The different texts of some documents, and what has been computed for each."""

    digests: list[bytes]
    keys: Any
    """The fingerprints of all texts, one after the other."""
    sizes: Any
    least: Any
    """The fingerprints that a text shares at least with each partner; 0 if it has none."""
    copies: Any


def signed(source: Source, batches: Batches) -> Iterator[SignedTexts]:
    """Signs the texts of some documents at a time."""
    signer = source.signer
    for ids, texts, _ in source.documents(batches):
        copies = Counter(texts)
        id_of = dict(zip(texts, ids, strict=True))
        keys, sizes, _, least = signer.sign(list(copies), [id_of[text] for text in copies])
        yield SignedTexts(
            [digest_of(text) for text in copies],
            np.frombuffer(keys, "<i8"),
            np.frombuffer(sizes, "<u4").astype(np.int64),
            np.frombuffer(least, "<u4").astype(np.int64),
            np.array(list(copies.values()), np.int64),
        )
