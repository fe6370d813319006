"""Steps for pipelines of datatrove, which take any function of documents."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ._decontaminate import Benchmarks
from ._errors import InvalidArgumentError
from ._index import Index
from ._options import DedupOptions
from ._texts import dedup

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Path = str | os.PathLike[str]


class Dedup:
    """Drops documents that duplicate an earlier one, and remembers the others in an index.

    A verdict depends on all earlier documents, so the step runs as one task, with all
    processors: ``LocalPipelineExecutor(pipeline=[reader, Dedup("kept.idx"), writer], tasks=1)``.

    Args:
        index: The directory of the index; created if it does not exist.
        options: The definition of a duplicate: :class:`cento.DedupOptions`.
    """

    def __init__(self, index: _Path, **options: Unpack[DedupOptions]) -> None:
        self._index = os.fspath(index)
        self._options = options

    def __call__(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Yields the kept documents.

        Raises:
            InvalidArgumentError: There are several tasks.
        """
        if world_size != 1:
            raise InvalidArgumentError(
                f"deduplication is one task, not {world_size}: it uses all processors by itself; "
                "set `tasks=1`"
            )
        waiting: deque[Any] = deque()

        def items() -> Iterator[tuple[str, str]]:
            for document in data:
                waiting.append(document)
                yield document.id, document.text

        for _, verdict in dedup(items(), index=self._index, **self._options):
            document = waiting.popleft()
            if verdict.kept:
                yield document


class Decontaminate:
    """Drops documents in which questions of benchmarks occur, or that contain text of an index.

    It remembers nothing, so there may be as many tasks as you like.

    Args:
        against: The questions (:class:`cento.Benchmarks`), or the directory of an index.
        min_containment: With an index, the least share of a document of it, 0 to 1, that a document
            must not contain. Other thresholds are those of :meth:`cento.Index.search_many`.
        batch: The number of documents that are looked up together.
    """

    def __init__(
        self,
        against: _Path | Benchmarks,
        *,
        min_containment: float = 0.5,
        batch: int = 1000,
        **options: Any,
    ) -> None:
        self._against = against
        self._least = min_containment
        self._batch = batch
        self._options = options

    def __call__(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """The documents without such text."""
        against = self._against
        against = against if isinstance(against, Benchmarks) else Index(os.fspath(against))
        documents: list[Any] = []
        for document in data:
            documents.append(document)
            if len(documents) == self._batch:
                yield from self._clean(against, documents)
                documents = []
        yield from self._clean(against, documents)

    def _clean(self, against: Benchmarks | Index, documents: list[Any]) -> Iterator[Any]:
        texts = [document.text for document in documents]
        if isinstance(against, Benchmarks):
            found = zip(documents, against.find(texts), strict=True)
            yield from (document for document, findings in found if not findings)
            return
        index = against
        for document, answer in zip(
            documents, index.search_many(texts, **self._options), strict=True
        ):
            if all(hit.containment_of_b < self._least for hit in answer):
                yield document
