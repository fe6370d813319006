"""What can go wrong. Every message says what is wrong, where, and what to do about it."""

from __future__ import annotations


class Error(Exception):
    """The base of all exceptions of cento."""


class InputError(Error, ValueError):
    """Something that should be a document, or a text, is none.

    ``place`` says which: ``item 17``, counted from 0, ``row 17`` of a table, or the id.
    """

    place: str = ""


class SpecError(Error, ValueError):
    """A specification of a scheme, an analyzer or a measure, ``spec``, cannot be used."""

    spec: str = ""


class QueryError(Error, ValueError):
    """An argument, or a combination of arguments, cannot be answered."""


class NotFoundError(Error, LookupError):
    """No document has the id ``id``."""

    id: str = ""


class OpenError(Error):
    """The index at ``path`` cannot be opened or created as asked.

    It is not there, is something else, or was made with other settings or by another version.
    """

    path: str = ""


class LockedError(Error):
    """Another writer, in this process or another, has the index at ``path``."""

    path: str = ""


class CorruptError(Error):
    """A file of the index does not contain what was written: ``file``, ``section``, ``offset``."""

    file: str = ""
    section: str = ""
    offset: int = 0


class StorageError(Error, OSError):
    """The operating system refused to read or write ``path``."""

    path: str = ""


class MemoryLimitError(Error, MemoryError):
    """The operation needs more memory than it may use."""


class ConflictError(Error):
    """Another change came first; try again."""


class CancelledError(Error):
    """The operation was stopped; the index is in the state of its last commit."""


class InternalError(Error, RuntimeError):
    """A defect in cento. Please report it."""
