"""The native half of the package; its names may change with every version."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Literal, Protocol, TypeVar

from ._types import Refusal

_T = TypeVar("_T")

_Path = str | os.PathLike[str]
_Signed = tuple[str, str, str | None, str | None, int, list[tuple[int, int]]]
_Info = tuple[str | None, int, int, int, bool, int, bool, int | None]
_Unit = Literal["characters", "bytes", "tokens"]
PassageValues = tuple[
    tuple[int, int],
    tuple[int, int],
    int,
    int,
    float,
    _Unit,
    tuple[tuple[int, int], ...],
    float | None,
    float | None,
    bool,
    str | None,
    int | None,
    int | None,
    str | None,
    int | None,
    int | None,
]
_Hit = tuple[
    str,
    int,
    int,
    float,
    float,
    float,
    float | None,
    bool,
    dict[str, Any],
    tuple[PassageValues, ...],
    bool | None,
    tuple[float, float, float] | None,
    int | None,
    int | None,
    float | None,
]
DocumentValues = tuple[str, str | None, str, list[tuple[str, str | None]]]
_Report = tuple[list[int], list[tuple[int, str]]]

__version__: str

class Index:
    def __init__(
        self,
        path: _Path,
        create: bool,
        preset: str | None,
        scheme: str | None,
        analyzer: str | None,
        store_text: bool | None,
        store_signatures: bool | None,
        max_df: object,
        frequencies: _Path | None,
        key_file: _Path | None,
    ) -> None: ...
    @property
    def key_file(self) -> os.PathLike[str] | None: ...
    @property
    def path(self) -> os.PathLike[str]: ...
    def settings(self) -> tuple[str, str, bool, bool, str | None]: ...
    def reload(self) -> None: ...
    def count(self) -> int: ...
    def has(self, id: object) -> bool: ...
    def document(self, id: object) -> DocumentValues | None: ...
    def documents(self, filter: str | None) -> Documents: ...
    def rows(self, filter: str | None) -> Stream: ...
    def each_id(self) -> Ids: ...
    def ids(self) -> list[str]: ...
    def stats(self) -> str: ...
    def check(self) -> tuple[int, int, list[tuple[str, str, int, str]], list[str]]: ...
    def compact(self, segments: int) -> tuple[int, int, int]: ...
    def withdraw(self, id: object, dry_run: bool, options: dict[str, Any]) -> tuple[str, bool]: ...
    def withdrawals(self) -> list[str]: ...
    def forget_withdrawal(self, id: object) -> int: ...
    def search(
        self,
        text: str | None,
        parts: object,
        id: object,
        signature: _Signed | None,
        as_bytes: bool,
        options: dict[str, Any],
    ) -> Answer: ...
    def search_many(
        self,
        texts: Iterable[object],
        threads: int | None,
        as_bytes: bool,
        skips: bool,
        options: dict[str, Any],
    ) -> Answers: ...
    def writer(self, memory: int | None) -> Writer: ...
    def pairs(self, against: Index | None, as_bytes: bool, options: dict[str, Any]) -> Pairs: ...
    def clusters(self, options: dict[str, Any]) -> list[str]: ...
    def families(
        self, as_bytes: bool, options: dict[str, Any]
    ) -> tuple[list[str], tuple[int, int, int, int, int]]: ...
    def lineage(self, options: dict[str, Any]) -> tuple[list[str], tuple[int, int, int, int]]: ...
    def add_watches(
        self,
        watched: list[tuple[object, object, object, object, object]],
        webhook: tuple[str, str] | None,
        options: dict[str, Any],
    ) -> list[str]: ...
    def watches(self) -> list[str]: ...
    def remove_watch(self, name: str) -> bool: ...
    def watch_events(self, after: int, watch: str | None, limit: int) -> str: ...
    def repeated_passages(self, min_share: float) -> list[str]: ...
    def sign(self, text: str) -> _Signed: ...

class Reader(Protocol[_T]):
    def read(self) -> list[_T] | None: ...

class Documents:
    def read(self) -> list[DocumentValues] | None: ...

class Ids:
    def read(self) -> list[str] | None: ...

class Writer:
    def begin(self) -> None: ...
    def add(self, id: object, text: str | None, meta: object, parts: object | None) -> str: ...
    def add_many(
        self,
        items: Iterable[object],
        fields: tuple[str, str, str],
        threads: int | None,
        skips: bool,
    ) -> _Report: ...
    def add_arrow(
        self,
        table: object,
        columns: tuple[str | None, str | None, str],
        meta_object: str | None,
        meta: list[str],
        threads: int | None,
        skips: bool,
    ) -> _Report: ...
    def remove(self, id: object) -> bool: ...
    def remove_matching(self, filter: str) -> int: ...
    def patch_meta(self, id: object, meta: object) -> bool: ...
    def uncommitted(self) -> int: ...
    def commit(self) -> None: ...
    def finish(self) -> None: ...
    def discard(self, is_patient: bool) -> None: ...
    def is_open(self) -> bool | None: ...
    def __reduce__(self) -> str: ...

class Answers:
    def __len__(self) -> int: ...
    def get(self, at: int) -> Answer: ...
    def refusals(self) -> list[tuple[int, str]]: ...
    def table(self) -> Table: ...

class Answer:
    def __len__(self) -> int: ...
    def info(self) -> _Info: ...
    def unseen(self) -> tuple[int, int]: ...
    def defaults(self) -> tuple[str, str | None] | None: ...
    def hits(self) -> list[_Hit]: ...
    def trace(self) -> str | None: ...
    def json(self) -> str: ...
    def page(self) -> str | None: ...
    def table(self) -> Table: ...

class Pairs:
    def read(self) -> str | None: ...
    def table(self) -> Table: ...

class Dedup:
    def __init__(
        self,
        items: object,
        fields: tuple[str | None, str, str],
        index: _Path | None,
        against: list[_Path],
        as_bytes: bool,
        gives_batches: bool,
        options: dict[str, Any],
    ) -> None: ...
    def read(self) -> tuple[Any, tuple[str, str, str | None]] | None: ...
    def close(self, is_patient: bool) -> None: ...

class Stream:
    """Rows of Arrow data, while they are read.

    It is an iterator of :class:`Table`, one for each batch that has rows, and a stream for anything
    that takes ``__arrow_c_stream__``: ``pyarrow.RecordBatchReader.from_stream(s)``. It can be read
    once, so it is neither copied nor pickled: ``pyarrow.table(s)`` makes a table that is.
    """

    @property
    def failed(self) -> int:
        """The number of rows read so far that are no documents, and were left out."""
    @property
    def refusals(self) -> list[Refusal]:
        """Which they are, and why; the first 10,000."""
    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
    def __iter__(self) -> Stream: ...
    def __next__(self) -> Table: ...
    def close(self) -> None:
        """Ends the work before its end; what has not been committed is dropped."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Table:
    """Results as a table of Arrow.

    Anything that takes ``__arrow_c_stream__`` takes it, without a copy: ``pyarrow.table(t)``,
    ``polars.DataFrame(t)``, ``duckdb.sql("from t")``. It is pickled as a table of pyarrow, if there
    is that package.
    """

    @property
    def num_rows(self) -> int:
        """The number of rows."""
    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Benchmarks:
    def __init__(
        self, questions: list[tuple[str, str, str, str | None]], options: dict[str, Any]
    ) -> None: ...
    def unusable(self, question: int) -> str | None: ...
    def weigh(self, documents: list[str]) -> list[list[tuple[bool, float, int]]]: ...
    def findings(self, texts: list[str], threads: int | None, as_bytes: bool) -> list[str]: ...

def kept_rows(run: Dedup, annotates: bool, skips: bool) -> Stream: ...
def decontaminated_rows(
    benchmarks: Benchmarks,
    data: object,
    text: str,
    annotates: bool,
    min_left: int | None,
    threads: int | None,
    skips: bool,
) -> Stream: ...
def compare(
    a: str,
    b: str,
    preset: str | None,
    scheme: str | None,
    analyzer: str | None,
    as_bytes: bool,
    options: dict[str, Any],
) -> tuple[str, str, str]: ...
def comparison_page(a: str, b: str, line: str, analyzer: str) -> str: ...
def merge(path: _Path, shards: list[_Path], on_conflict: str, remove: bool) -> str: ...
def sign(
    text: str,
    preset: str | None,
    scheme: str | None,
    analyzer: str | None,
    frequencies: _Path | None,
    key_file: _Path | None,
) -> _Signed: ...
def presets() -> list[tuple[str, str, str, str, str | None, float | None]]: ...
def families(kind: str) -> list[dict[str, Any]]: ...
