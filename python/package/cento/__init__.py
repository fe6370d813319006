"""cento: a persistent on-disk search engine for near-duplicate and reused text.

>>> import cento
>>> index = cento.Index("corpus.idx", create=True)
>>> with index.writer() as w:
...     w.add("a", "a text that is long enough to have some words in common with others")
>>> for hit in index.search("long enough to have some words in common", passages=True):
...     print(hit.id, hit.containment, hit.passages)

Long calls release the GIL, use several threads, and end within a second of Ctrl-C.
"""

from ._errors import (
    CancelledError,
    ConflictError,
    CorruptError,
    Error,
    InputError,
    InternalError,
    LockedError,
    MemoryLimitError,
    NotFoundError,
    OpenError,
    QueryError,
    SpecError,
    StorageError,
)
from ._index import Id, Index, Item, Meta, Rank, Writer
from ._native import Stream, Table, __version__
from ._texts import (
    Deduper,
    analyzers,
    compare,
    dedup,
    dedup_arrow,
    join,
    measures,
    schemes,
    sign,
)
from ._types import (
    AddReport,
    Answer,
    CheckReport,
    Cluster,
    Compaction,
    Comparison,
    Cut,
    Document,
    Estimate,
    Family,
    Hit,
    Joined,
    Member,
    Pair,
    Parameter,
    Passage,
    Problem,
    Signature,
    Stats,
    Verdict,
    Weighted,
)

__all__ = [
    "AddReport",
    "Answer",
    "CancelledError",
    "CheckReport",
    "Cluster",
    "Compaction",
    "Comparison",
    "ConflictError",
    "CorruptError",
    "Cut",
    "Deduper",
    "Document",
    "Error",
    "Estimate",
    "Family",
    "Hit",
    "Id",
    "Index",
    "InputError",
    "InternalError",
    "Item",
    "Joined",
    "LockedError",
    "Member",
    "MemoryLimitError",
    "Meta",
    "NotFoundError",
    "OpenError",
    "Pair",
    "Parameter",
    "Passage",
    "Problem",
    "QueryError",
    "Rank",
    "Signature",
    "SpecError",
    "Stats",
    "StorageError",
    "Stream",
    "Table",
    "Verdict",
    "Weighted",
    "Writer",
    "__version__",
    "analyzers",
    "compare",
    "dedup",
    "dedup_arrow",
    "join",
    "measures",
    "schemes",
    "sign",
]
