"""Watches: standing queries of an index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._errors import InvalidArgumentError
from ._inputs import place, whole
from ._options import WatchOptions, known, names_options
from ._types import Hit, Parts, Signature, _Shown, hit_of, signed

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Watched = tuple[object, object, object, object, object]


@dataclass(frozen=True, slots=True)
class Watch(_Shown):
    """A standing query: a text, a stored document or a signature, and its conditions."""

    name: str
    """Its name, which no other watch has."""
    kind: Literal["text", "document", "signature"]
    """The kind of its subject."""
    tokens: int
    """The tokens of its subject."""
    fingerprints: int
    """The distinct fingerprints of its subject."""
    commit: int
    """The last commit before its creation: documents of later commits are matched."""
    created: int
    """When it was created, in seconds since 1970."""
    id: str | None = None
    """The id of the watched document, if it is one; while that is removed nothing matches."""
    webhook: str | None = None
    """The address that a service posts its events to, if there is one."""
    problem: str | None = None
    """Why it matches nothing at present, if there is a reason."""
    options: Mapping[str, Any] = field(default_factory=lambda: dict[str, Any](), hash=False)
    """The conditions that a document must meet: :class:`WatchOptions`."""


@dataclass(frozen=True, slots=True)
class WatchEvent(_Shown):
    """A document of a commit matched a watch."""

    cursor: int
    """The number of the event, ascending over all watches and never reused."""
    watch: str
    """The name of the watch."""
    commit: int
    """The number of the commit that added the document, or this version of it."""
    time: int
    """When it was found, in seconds since 1970."""
    hit: Hit
    """The document, as a hit of a search with the watch. The places of its passages are in bytes of
    UTF-8, of the texts at that time."""


@dataclass(frozen=True, slots=True)
class WatchEvents(_Shown):
    """Events, in order. It iterates over them."""

    events: tuple[WatchEvent, ...]
    next: int
    """The cursor to ask for the following events with."""
    more: bool
    """Whether there are more events already."""
    missed: bool
    """Whether events after the requested cursor were there and are no longer kept."""

    def __iter__(self) -> Iterator[WatchEvent]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)


class Watches:
    """The watches of an index: which documents of later commits match a standing query?

    They are stored beside the index, durably. Documents are matched when :meth:`events` is called;
    a service that has the index matches each commit as it is made.

    Each call opens the watches for itself. While another process has them open, such as a service,
    calls that change or list them raise a :class:`LockedError`.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Index) -> None:
        self._native = native

    def __reduce__(self) -> tuple[object, tuple[str, str | None]]:
        return (_opened, place(self._native))

    @names_options(WatchOptions)
    def add(
        self,
        text: str | None = None,
        *,
        parts: Parts | None = None,
        id: str | float | None = None,
        signature: Signature | None = None,
        name: str | None = None,
        webhook: str | None = None,
        webhook_secret: str | None = None,
        **options: Unpack[WatchOptions],
    ) -> Watch:
        """Adds a watch, durably. One with the same name and content changes nothing.

        The first one takes the lock of the writer for a moment: from then on the index logs which
        documents each commit adds.

        Args:
            text: The text to watch for; or
            parts: the parts of the text: passages of events name the part that they are in; or
            id: the stored document to watch for, in its present version; or
            signature: what :func:`cento.sign` or :meth:`Index.sign` made of a text.
            name: The name; made of the content if not given.
            webhook: The address that a service posts events to, with
            webhook_secret: the key of the signatures of these posts, at least 16 bytes. To change
                it, remove the watch, and add it again.
            **options: What matches: see :class:`WatchOptions`. Without a condition, a passage of at
                least 12 tokens does.

        Raises:
            InvalidArgumentError: There is nothing to watch for, or more than one thing, or the
                conditions cannot be met.
            InputError: Another watch has the name, or one for the same has another secret.
            UnknownIdError: There is no document ``id``.
            LockedError: Another process has the watches, or there is a writer.
        """
        made = None if signature is None else signed(signature)
        named = known({**options}, WatchOptions, "add")
        watched = (name, text, parts, id, made)
        return self._add([watched], webhook, webhook_secret, named)[0]

    @names_options(WatchOptions)
    def add_many(
        self,
        texts: Iterable[tuple[str | None, str | Parts]],
        *,
        webhook: str | None = None,
        webhook_secret: str | None = None,
        **options: Unpack[WatchOptions],
    ) -> list[Watch]:
        """Adds watches for texts: all of them, or none. See :meth:`add`.

        Args:
            texts: Each ``(name, text)``, where the text is a ``str`` or a list of parts.
            webhook: As that of :meth:`add`.
            webhook_secret: As that of :meth:`add`.
            **options: As those of :meth:`add`.
        """
        named = known({**options}, WatchOptions, "add_many")
        watched: list[_Watched] = []
        for name, text in texts:
            is_parts = isinstance(text, (list, tuple))
            content = (None, text) if is_parts else (text, None)
            watched.append((name, *content, None, None))
        return self._add(watched, webhook, webhook_secret, named)

    def _add(
        self,
        watched: list[_Watched],
        webhook: str | None,
        secret: str | None,
        options: dict[str, Any],
    ) -> list[Watch]:
        if webhook is None or secret is None:
            if webhook is not secret:
                raise InvalidArgumentError("`webhook` and `webhook_secret` are given together")
            receiver = None
        else:
            receiver = (webhook, secret)
        return [_watch(line) for line in self._native.add_watches(watched, receiver, options)]

    def list(self) -> list[Watch]:
        """Returns the watches, in the order of their names."""
        return [_watch(line) for line in self._native.watches()]

    def remove(self, name: str) -> bool:
        """Removes a watch; its events stay. Returns whether there was one."""
        return self._native.remove_watch(name)

    def events(self, after: int = 0, *, watch: str | None = None, limit: int = 1000) -> WatchEvents:
        """Matches the documents that were added since, and returns the events after a cursor.

        While a service has the watches, it returns the events that the service found.

        Args:
            after: The cursor: :attr:`WatchEvents.next` of the last answer.
            watch: Only events of the watch of this name.
            limit: The greatest number of events.

        Raises:
            UnknownIdError: There is no such watch.
        """
        found: dict[str, Any] = json.loads(
            self._native.watch_events(whole("after", after), watch, whole("limit", limit))
        )
        events = tuple(
            WatchEvent(**{**each, "hit": hit_of(each["hit"])}) for each in found["events"]
        )
        return WatchEvents(events, found["next"], found["more"], found.get("missed", False))


def _opened(path: str, key_file: str | None) -> Watches:
    # That module imports this one.
    from ._index import Index

    return Index(path, key_file=key_file).watches


_OWN = ("name", "kind", "tokens", "fingerprints", "commit", "created", "id", "webhook", "problem")


def _watch(line: str) -> Watch:
    found: dict[str, Any] = json.loads(line)
    own = {name: found.pop(name) for name in _OWN if name in found}
    return Watch(**own, options=found)
