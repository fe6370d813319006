"""The exceptions of cento. Every message names the fault, its place and a remedy."""

from __future__ import annotations


class Error(Exception):
    """The base of all exceptions of cento.

    ``reason`` says why, for programs: ``"not_found"``, ``"other_scheme"``, ``"unsupported"`` and so
    on. It does not change with the message, and is the code of the same error in a service.
    """

    reason: str = ""


class InputError(Error, ValueError):
    """A value that should be a document or a text is something else.

    ``place`` says which: ``item 17``, counted from 0, ``row 17`` of a table, or the id.
    """

    reason = "invalid_input"
    place: str = ""


class SpecError(Error, ValueError):
    """A specification of a scheme, an analyzer or a measure, ``spec``, cannot be used."""

    reason = "invalid_spec"
    spec: str = ""


class InvalidArgumentError(Error, ValueError):
    """An argument, or a combination of arguments, cannot be used.

    ``argument`` names it, if it is one alone.
    """

    reason = "invalid_argument"
    argument: str | None = None


class UnsupportedError(Error, NotImplementedError):
    """This build lacks the ``feature`` that is needed; the message names its package."""

    reason = "unsupported"
    feature: str = ""


class UnknownIdError(Error, KeyError):
    """No document has the id, or no watch the name, ``id``."""

    reason = "unknown_id"
    id: str = ""

    def __str__(self) -> str:
        # A KeyError would show the message in quotation marks.
        return Exception.__str__(self)


class OpenError(Error):
    """The index at ``path`` cannot be opened, or not created with these options.

    It is something else, was made with other settings or by another version, or cannot be used for
    this; ``reason`` says which.
    """

    path: str = ""


class IndexNotFoundError(OpenError, FileNotFoundError):
    """There is no index at ``path``."""


class IndexExistsError(OpenError, FileExistsError):
    """There is an index at ``path`` already."""


class LockedError(Error):
    """Another writer, in this process or another, has the index at ``path``.

    The message says which of both; ``wait=`` waits for it.
    """

    path: str = ""


class CorruptError(Error):
    """A file of the index is damaged: ``file``, ``section``, ``offset``."""

    file: str = ""
    section: str = ""
    offset: int = 0


class StorageError(Error, OSError):
    """The operating system refused to read or write ``path``."""

    path: str = ""


class MemoryLimitError(Error, MemoryError):
    """The operation needs more memory than its limit."""


class ConflictError(Error):
    """Another change came first; try again."""


class CancelledError(Error):
    """The operation was stopped; the index is in the state of its last commit."""


class InternalError(Error, RuntimeError):
    """A defect in cento. Please report it."""
