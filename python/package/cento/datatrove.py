"""Steps for pipelines of datatrove, which take any function of documents."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

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
    """Drops documents that contain text of an index, such as one of benchmarks.

    It remembers nothing, so there may be as many tasks as you like.

    Args:
        index: The directory of the index.
        min_containment: The least share of a document of the index, 0 to 1, that a document must
            not contain. Other thresholds are those of :meth:`cento.Index.search_many`.
        batch: The number of documents that are looked up together.
    """

    def __init__(
        self, index: _Path, *, min_containment: float = 0.5, batch: int = 1000, **options: Any
    ) -> None:
        self._index = os.fspath(index)
        self._least = min_containment
        self._batch = batch
        self._options = options

    def __call__(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """The documents without such text."""
        index = Index(self._index)
        documents: list[Any] = []
        for document in data:
            documents.append(document)
            if len(documents) == self._batch:
                yield from self._clean(index, documents)
                documents = []
        yield from self._clean(index, documents)

    def _clean(self, index: Index, documents: list[Any]) -> Iterator[Any]:
        texts = [document.text for document in documents]
        for document, answer in zip(
            documents, index.search_many(texts, **self._options), strict=True
        ):
            if all(hit.containment_of_hit < self._least for hit in answer):
                yield document
