"""A Ray Serve application over shards: a deployment for each shard, and a head that asks them.

The head conducts a search with :class:`cento.shards.Shards`, which knows how. This module only
carries its three calls to replicas, asks a second replica if the first is slow, and replaces the
index of a shard while others search.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, TypeVar

from ._errors import ConflictError, Error, InvalidArgumentError
from ._index import Index
from .shards import ShardedAnswer, Shards

_T = TypeVar("_T")
_Path = str | os.PathLike[str]

_CONFLICTS = 5
"""Maximum number of replicas with a different commit before the search begins again."""

_REQUESTS = 64
"""How many searches a head conducts at a time, and how many calls a replica answers."""


class ShardReplica:
    """A replica of a shard. It shows the last commit of its index, and looks for a later one with
    each health check.

    The commit before stays open: a search that began with it ends with it, so that an answer is of
    one commit while a shard is replaced.

    Args:
        index: The directory of the index.
        key_file: The file with its key, if it has one.
    """

    def __init__(self, index: str, key_file: str | None) -> None:
        self._path = index
        self._key_file = key_file
        self._turn = threading.Lock()
        self._state = _state_of(index)
        self._shown: tuple[Index, ...] = (Index(index, key_file=key_file),)

    def check_health(self) -> None:
        """Shows a later commit, if there is one."""
        with self._turn:
            state = _state_of(self._path)
            if state != self._state:
                later = Index(self._path, key_file=self._key_file)
                self._shown = (later, self._shown[0])
                self._state = state

    async def ask(self, call: str, *args: Any, **options: Any) -> Any:
        """Answers one of the three calls of a shard."""
        return await asyncio.to_thread(self._answer, call, args, options)

    def _answer(self, call: str, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        for index in self._shown:
            with contextlib.suppress(ConflictError):
                return getattr(index, call)(*args, **options)
        # Another replica has counted with a commit that this one does not show yet.
        self.check_health()
        return getattr(self._shown[0], call)(*args, **options)


def _state_of(index: str) -> tuple[int, int]:
    """What changes with each commit of an index, and with the directory that a link leads to."""
    found = os.stat(os.path.join(index, "meta.json"))
    return found.st_ino, found.st_mtime_ns


class RayShard:
    """A shard whose replicas Ray Serve runs: what :class:`cento.shards.Shards` asks.

    Args:
        name: Its name, by which answers say that it is missing.
        handle: The handle of its deployment.
        timeout: The time for an answer, in seconds.
        hedge_after: The time after which a second replica is asked, too, in seconds.
    """

    def __init__(
        self, name: str, handle: Any, *, timeout: float, hedge_after: float | None
    ) -> None:
        self.name = name
        self._handle = handle
        self._timeout = timeout
        self._hedge_after = hedge_after
        self._threads = ThreadPoolExecutor(2 * _REQUESTS, f"cento-{name}")

    def __repr__(self) -> str:
        return self.name

    def frequencies(self, search: Mapping[str, Any], *, sample: bool = False) -> dict[str, Any]:
        """Counts the documents with each fingerprint of a search."""
        return self._ask("frequencies", search, sample=sample)

    def candidates(
        self, search: Mapping[str, Any], frequencies: Mapping[str, Any], most: int
    ) -> dict[str, Any]:
        """Finds the documents that may be hits, by the frequencies of all shards."""
        return self._ask("candidates", search, frequencies, most)

    def spans(self, search: Mapping[str, Any], winners: Mapping[str, Any]) -> dict[str, Any]:
        """Compares documents with the query."""
        return self._ask("spans", search, winners)

    def _ask(self, *args: Any, **options: Any) -> dict[str, Any]:
        ask = partial(self._answer_of_replica, args, options)
        for _ in range(_CONFLICTS - 1):
            try:
                return self._hedged(ask)
            except ConflictError:
                # Another replica may show the commit already, or still.
                continue
        return self._hedged(ask)

    def _hedged(self, ask: Callable[[], _T]) -> _T:
        """Returns the first answer of one call, or of two if the first takes long."""
        if self._hedge_after is None:
            return ask()
        waiting: set[Future[_T]] = {self._threads.submit(ask)}
        done, waiting = wait(waiting, self._hedge_after, FIRST_COMPLETED)
        if not done:
            waiting.add(self._threads.submit(ask))
        while True:
            if not done:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            one = done.pop()
            # A failure counts only if no other call can still answer.
            if one.exception() is None or not (done or waiting):
                for other in waiting:
                    other.cancel()
                return one.result()

    def _answer_of_replica(self, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        errors: Any = importlib.import_module("ray.exceptions")
        try:
            return self._handle.ask.remote(*args, **options).result(timeout_s=self._timeout)
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, Error):
                raise cause from None
            raise
        except TimeoutError:
            what = f"{self.name} gave no answer within {self._timeout} seconds"
            raise ConnectionError(what) from None
        except errors.RayError as error:
            raise ConnectionError(f"{self.name}: {error}") from error


class ShardHead:
    """Conducts the searches of shards.

    Args:
        handles: The handles of the deployments of the shards, by their names.
        calls: The other arguments of :class:`RayShard`.
        options: Arguments of :class:`cento.shards.Shards`.
    """

    def __init__(
        self, handles: Mapping[str, Any], calls: Mapping[str, Any], options: Mapping[str, Any]
    ) -> None:
        shards = [RayShard(name, handle, **calls) for name, handle in handles.items()]
        self._shards = Shards(shards, **options)
        self._threads = ThreadPoolExecutor(_REQUESTS, "cento-head")

    async def search(self, text: str | None = None, **options: Any) -> ShardedAnswer:
        """Searches all shards: see :meth:`cento.shards.Shards.search`."""
        # Ray Serve waits for its own calls on this thread.
        search = partial(self._shards.search, text, **options)
        return await asyncio.get_running_loop().run_in_executor(self._threads, search)


def serve_shards(
    shards: Mapping[str, _Path] | Sequence[_Path],
    *,
    name: str = "cento",
    replicas: int | Mapping[str, Any] = 1,
    heads: int | Mapping[str, Any] = 1,
    partial: bool = False,
    tries: int = 3,
    timeout: float = 30.0,
    hedge_after: float | None = None,
    key_file: _Path | None = None,
    **deployment: Any,
) -> Any:
    """Runs shards as an application of Ray Serve.

    A shard is replaced while searches go on: bring a later commit into its directory, as
    ``cento store pull`` does, or let a link in its place lead to another directory. Each replica
    shows it from its next health check on (``health_check_period_s``), and each answer is of one
    commit of each shard. An index that a link no longer leads to must stay until all replicas have
    changed and their searches have ended.

    Args:
        shards: The directories of the indexes, which all machines see, by the names of the shards;
            in a list, they are called ``shard-0``, ``shard-1`` and so on.
        name: The name of the application.
        replicas: The number of replicas of each shard, or the ``autoscaling_config`` of Ray Serve,
            such as ``{"min_replicas": 1, "max_replicas": 8}``.
        heads: The number of heads, likewise.
        partial: Whether to answer without shards that are down, and name them; otherwise a search
            raises :class:`cento.shards.ShardDownError`.
        tries: How often a shard is asked that does not answer.
        timeout: The time for an answer of a shard, in seconds.
        hedge_after: Ask a second replica if the first has not answered after this time, in seconds.
        key_file: The file with the key of keyed indexes.
        deployment: Other options of deployments, such as ``ray_actor_options={"num_cpus": 0.5}``.

    Returns:
        The handle of the head, for this and other programs (``ray.serve.get_app_handle("cento")``).
        ``handle.search.remote(text, limit=5).result()`` gives a
        :class:`cento.shards.ShardedAnswer`.
    """
    if not isinstance(shards, Mapping):
        shards = {f"shard-{at}": path for at, path in enumerate(shards)}
    if not shards:
        raise InvalidArgumentError("there is no shard; name at least one")
    serve: Any = importlib.import_module("ray.serve")
    key = None if key_file is None else os.path.abspath(key_file)
    common = {"max_ongoing_requests": _REQUESTS, **deployment}
    of_shard = serve.deployment(ShardReplica).options(**common, **_scale(replicas))
    handles = {
        shard: of_shard.options(name=shard).bind(os.path.abspath(path), key)
        for shard, path in shards.items()
    }
    calls = {"timeout": timeout, "hedge_after": hedge_after}
    rules = {"partial": partial, "tries": tries}
    of_head = serve.deployment(ShardHead).options(name="head", **common, **_scale(heads))
    return serve.run(of_head.bind(handles, calls, rules), name=name, route_prefix=None)


def _scale(replicas: int | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(replicas, int):
        return {"num_replicas": replicas}
    return {"autoscaling_config": dict(replicas)}
