"""Searches over shards: indexes that together answer as one index with all their documents.

Each shard has a part of the documents, here or behind a service (``cento serve``), and each id is
in one shard alone. A search asks all shards three times: for the document frequencies of the query,
which are added up; for their candidates by these; and for the passages of the winners. The rules
are those of the library: this module asks, repeats and puts together.
"""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from . import _native
from ._errors import ConflictError, Error, InvalidArgumentError
from ._index import Index
from ._options import SearchOptions
from ._types import Answer

if TYPE_CHECKING:
    from typing_extensions import Unpack

_T = TypeVar("_T")

_BUSY = (429, 500, 502, 503, 504)
"""The status codes of requests that can succeed later, or elsewhere."""

_PAUSE = 0.1
"""The time before a request is repeated the first time, in seconds; each time it doubles."""


class Shard(Protocol):
    """What answers the three calls: a :class:`cento.Index`, or a :class:`Service`."""

    def frequencies(self, search: Mapping[str, Any], *, sample: bool = False) -> dict[str, Any]:
        """Counts the documents with each fingerprint of a search."""
        ...

    def candidates(
        self, search: Mapping[str, Any], frequencies: Mapping[str, Any], most: int
    ) -> dict[str, Any]:
        """Finds the documents that may be hits, by the frequencies of all shards."""
        ...

    def spans(self, search: Mapping[str, Any], winners: Mapping[str, Any]) -> dict[str, Any]:
        """Compares documents with the query, or reads excerpts of them."""
        ...


class ShardDownError(Error, ConnectionError):
    """Shards do not answer: ``shards`` names them."""

    reason = "unavailable"
    shards: tuple[str, ...] = ()


class Service:
    """A service over a shard.

    Args:
        url: Its address, such as ``"http://10.0.0.7:7227"``.
        token: The token for reading, if it has tokens.
        timeout: The time for an answer, in seconds.
    """

    def __init__(self, url: str, *, token: str | None = None, timeout: float = 30.0) -> None:
        self.url: str = url.rstrip("/")
        self._headers = {"Content-Type": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout = timeout

    def __repr__(self) -> str:
        return self.url

    def frequencies(self, search: Mapping[str, Any], *, sample: bool = False) -> dict[str, Any]:
        """Counts the documents with each fingerprint of a search."""
        return self._ask("frequencies", {"search": search, "sample": sample})

    def candidates(
        self, search: Mapping[str, Any], frequencies: Mapping[str, Any], most: int
    ) -> dict[str, Any]:
        """Finds the documents that may be hits, by the frequencies of all shards."""
        return self._ask("candidates", {"search": search, "frequencies": frequencies, "most": most})

    def spans(self, search: Mapping[str, Any], winners: Mapping[str, Any]) -> dict[str, Any]:
        """Compares documents with the query."""
        return self._ask("spans", {"search": search, "winners": winners})

    def _ask(self, call: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.url}/v1/shard/{call}", data=json.dumps(body).encode(), headers=self._headers
        )
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as reply:
                answer: dict[str, Any] = json.load(reply)
                return answer
        except urllib.error.HTTPError as error:
            if error.code in _BUSY:
                raise
            raise _refusal(self.url, error) from None
        except (http.client.HTTPException, ValueError) as error:
            raise ConnectionError(f"its answer was cut off: {error}") from error


def _refusal(url: str, error: urllib.error.HTTPError) -> Error:
    """Makes the exception for the refusal of a service."""
    try:
        said = json.load(error)["error"]
        code, message = str(said["code"]), f"{url}: {said['message']}"
    except (ValueError, KeyError, TypeError):
        said, code, message = {}, "refused", f"{url}: status {error.code}"
    if code == "conflict":
        made: Error = ConflictError(message)
    elif code == "invalid_argument":
        made = InvalidArgumentError(message)
        made.argument = said.get("argument")
    else:
        made = Error(message)
    made.reason = code
    return made


@dataclass(frozen=True)
class ShardedAnswer:
    """The answer of shards to a search."""

    answer: Answer
    """The answer, which is that of one index with the documents of the shards that answered.
    Passages are places in bytes."""

    missing: tuple[str, ...]
    """The shards that did not answer: their part of the archive was not searched."""

    documents: int
    """The number of documents that were searched."""

    commits: tuple[str, ...]
    """The commits that the answer is of."""


class _Replicas:
    """The copies of a shard: one answer is enough."""

    def __init__(self, copies: Sequence[Shard], tries: int) -> None:
        self.name = " or ".join(
            os.fspath(copy.path) if isinstance(copy, Index) else repr(copy) for copy in copies
        )
        self._copies = list(copies)
        self._tries = tries
        self._samples: dict[str, Any] = {}

    def ask(self, call: Callable[[Shard], _T]) -> _T:
        """Asks the copies one after the other, and again after a pause.

        Raises:
            ShardDownError: None of them answers.
        """
        last: OSError | None = None
        for number in range(self._tries):
            if number > 0:
                time.sleep(_PAUSE * 2 ** (number - 1))
            for copy in list(self._copies):
                try:
                    answer = call(copy)
                except ShardDownError:
                    raise
                except OSError as error:
                    if isinstance(error, Error):
                        raise
                    last = error
                    # The next request begins with a copy that has not just failed.
                    self._copies.remove(copy)
                    self._copies.append(copy)
                else:
                    return answer
        down = ShardDownError(f"{self.name} does not answer: {last}")
        down.shards = (self.name,)
        raise down

    def frequencies(self, search: Mapping[str, Any], needs_sample: bool) -> dict[str, Any]:
        """Returns the frequencies, with the sample if it is needed: once for each commit."""
        known = self._samples
        is_first = needs_sample and not known
        found = self.ask(lambda copy: copy.frequencies(search, sample=is_first))
        commit = found["commits"][0]
        if needs_sample and not is_first and commit not in known:
            found = self.ask(lambda copy: copy.frequencies(search, sample=True))
            commit = found["commits"][0]
        if "sample" in found:
            self._samples = {commit: found["sample"]}
        elif needs_sample and commit in known:
            found["sample"] = known[commit]
        return found


class Shards:
    """Shards that are searched as one index.

    Args:
        shards: The shards, each an index, a service, the URL of a service, or a list of copies of
            one: the first copy that answers is enough.
        partial: Whether to answer without shards that are down, and name them; otherwise a search
            raises.
        tries: How often a shard is asked that does not answer.

    Any number of threads may share it.
    """

    def __init__(
        self,
        shards: Sequence[Shard | str | Sequence[Shard | str]],
        *,
        partial: bool = False,
        tries: int = 3,
    ) -> None:
        if not shards:
            raise InvalidArgumentError("there is no shard; name at least one")
        self._shards = [_Replicas(_copies_of(shard), max(1, tries)) for shard in shards]
        self._partial = partial
        self._tries = max(1, tries)
        self._sample: tuple[tuple[str, ...], dict[str, Any] | None] | None = None
        self._threads = ThreadPoolExecutor(len(self._shards), "cento-shards")

    def search(
        self,
        text: str | None = None,
        *,
        parts: Sequence[Mapping[str, str]] | None = None,
        **options: Unpack[SearchOptions],
    ) -> ShardedAnswer:
        """Finds the documents of all shards that share text with a query.

        Args:
            text: The text to look for; or
            parts: the parts of the text, each with ``name`` and ``text``.
            **options: As for :meth:`cento.Index.search`, but for the goal ``"passage"``, ``budget``
                and ``min_weighted_resemblance``.

        Raises:
            InvalidArgumentError: The arguments contradict each other, or shards cannot answer them
                as one index.
            ShardDownError: A shard does not answer.
            ConflictError: The shards were changed again and again during the search.
        """
        started = time.monotonic()
        asked: dict[str, Any] = {"text": text, "parts": parts, **options}
        search = {name: value for name, value in asked.items() if value is not None}
        if isinstance(search.get("max_df"), (int, float)):
            search["max_df"] = str(search["max_df"])
        if "exclude_id" in search:
            search["exclude_id"] = [str(id) for id in search["exclude_id"]]
        shards, missing = self._shards, list[str]()
        conflicts = 0
        while True:
            try:
                found = self._search(shards, search)
            except ShardDownError as error:
                # The others begin again: their sums differ without it.
                missing += error.shards
                shards = [shard for shard in shards if shard.name not in error.shards]
                if not self._partial or not shards:
                    raise
            except ConflictError:
                conflicts += 1
                if conflicts >= self._tries:
                    raise
            else:
                answer, frequencies = found
                answer["took_us"] = int(1e6 * (time.monotonic() - started))
                native = _native.answer_of((json.dumps(answer), None), True)
                return ShardedAnswer(
                    Answer(native),
                    tuple(missing),
                    frequencies["documents"],
                    tuple(frequencies["commits"]),
                )

    def _search(
        self, shards: list[_Replicas], search: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Searches these shards; returns the answer and the frequencies."""
        needs_sample = (
            bool(search.get("passages"))
            or "min_passage" in search
            or search.get("rank") == "passages"
            or search.get("goal") == "trace"
        )
        frequencies, sample = self._frequencies(shards, search, needs_sample)
        answers: dict[str, Any] = {"frequencies": frequencies, "candidates": [], "hits": []}
        written = json.dumps(search)
        while True:
            step = json.loads(_native.shard_step(written, json.dumps(answers)))
            [(name, value)] = step.items()
            if name == "answer":
                return value, frequencies
            if name == "weights":
                answers["weights"], _ = self._frequencies(shards, {"signature": value}, False)
            elif name == "candidates":
                find = _Retrieval(search, frequencies, value)
                answers["candidates"] = self._each(shards, find.candidates_of)
            else:
                compare = _Comparison(search, answers, value, sample)
                for hits in self._each(shards, compare.hits_of):
                    answers["hits"] += hits

    def _frequencies(
        self, shards: list[_Replicas], search: dict[str, Any], needs_sample: bool
    ) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Returns the frequencies of all shards, and the sample of all, if it is needed."""
        each = self._each(shards, lambda shard, _: shard.frequencies(search, needs_sample))
        commits = tuple(sorted(one["commits"][0] for one in each))
        known = self._sample
        is_known = known is not None and known[0] == commits
        if is_known:
            # Adding megabytes up again would take longer than the search.
            for one in each:
                one.pop("sample", None)
        total: dict[str, Any] = json.loads(_native.add_up([json.dumps(one) for one in each]))
        sample = total.pop("sample", None)
        if known is not None and is_known:
            sample = known[1]
        elif needs_sample:
            self._sample = (commits, sample)
        return total, sample

    def _each(self, shards: list[_Replicas], ask: Callable[[_Replicas, int], _T]) -> list[_T]:
        """Asks all shards at a time.

        Raises:
            ShardDownError: Some do not answer; it names all of them.
        """
        asked = [self._threads.submit(ask, shard, at) for at, shard in enumerate(shards)]
        answers, down = list[_T](), list[ShardDownError]()
        failed: BaseException | None = None
        for future in asked:
            try:
                answers.append(future.result())
            except ShardDownError as error:
                down.append(error)
            except Exception as error:
                failed = failed or error
        if down:
            all_down = ShardDownError("; ".join(str(one) for one in down))
            all_down.shards = tuple(name for one in down for name in one.shards)
            raise all_down
        if failed is not None:
            raise failed
        return answers


@dataclass(frozen=True)
class _Retrieval:
    """A search for candidates, by the frequencies of all shards."""

    search: dict[str, Any]
    frequencies: dict[str, Any]
    most: int

    def candidates_of(self, shard: _Replicas, _: int) -> dict[str, Any]:
        """Returns the candidates of a shard."""
        return shard.ask(lambda copy: copy.candidates(self.search, self.frequencies, self.most))


@dataclass(frozen=True)
class _Comparison:
    """The winners of shards, to be compared with the query."""

    search: dict[str, Any]
    answers: dict[str, Any]
    winners: list[list[dict[str, Any]]]
    sample: dict[str, Any] | None

    def hits_of(self, shard: _Replicas, at: int) -> list[dict[str, Any]]:
        """Returns the hits of a shard."""
        if not self.winners[at]:
            return []
        frequencies = self.answers["frequencies"]
        winners: dict[str, Any] = {
            "commit": self.answers["candidates"][at]["commit"],
            "documents": frequencies["documents"],
            "winners": self.winners[at],
        }
        if "preset" in frequencies:
            winners["preset"] = frequencies["preset"]
        if self.sample is not None:
            winners["sample_digest"] = self.sample["digest"]

        def compared(copy: Shard) -> list[dict[str, Any]]:
            spans = copy.spans(self.search, winners)
            if spans.get("needs_sample"):
                spans = copy.spans(self.search, {**winners, "sample": self.sample})
            hits: list[dict[str, Any]] = spans["hits"]
            return hits

        return shard.ask(compared)


def _copies_of(shard: Shard | str | Sequence[Shard | str]) -> list[Shard]:
    """Returns the copies of a shard."""
    if isinstance(shard, str):
        return [Service(shard)]
    if isinstance(shard, Sequence):
        return [Service(copy) if isinstance(copy, str) else copy for copy in shard]
    return [shard]
