"""Checks of arguments: many texts, or one that was passed by mistake."""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, SupportsIndex, TypeVar, cast

from . import _native
from ._errors import InputError, InvalidArgumentError, LockedError

_T = TypeVar("_T")
_Whole = TypeVar("_Whole", bound="int | None")

_LOCK_INTERVAL = 0.02
"""The time between two looks for a lock, in seconds."""

_ONE = (str, bytes, bytearray, memoryview)
_ARROW = ("__arrow_c_stream__", "__arrow_c_array__")


def is_arrow(value: object) -> bool:
    """Whether a value gives Arrow data by itself."""
    return any(hasattr(value, name) for name in _ARROW)


def is_table(value: object) -> bool:
    """Whether a value is a table, a stream or a data set of rows, rather than a list or a column.

    A data set of Hugging Face is a list of its rows, too.
    """
    if is_arrow(value):
        return any(hasattr(value, name) for name in ("column_names", "columns", "schema"))
    return _reader(value) is not None


def _reader(value: object) -> Callable[[], object] | None:
    """What opens a data set, a scanner or a Parquet file of pyarrow."""
    scanner = getattr(value, "scanner", None)
    if callable(scanner):
        return lambda: cast(Any, scanner)().to_reader()
    for name in ("to_reader", "iter_batches"):
        opens = getattr(value, name, None)
        if callable(opens):
            return cast(Callable[[], object], opens)
    return None


def _is_index(value: object) -> bool:
    return hasattr(value, "documents") and hasattr(value, "to_arrow")


def no_table(value: object, name: str, function: str) -> None:
    """Refuses a table where a list is meant, and names the function that takes one.

    Raises:
        InvalidArgumentError: It is a table.
    """
    if is_table(value):
        kind = type(value).__name__
        raise InvalidArgumentError(
            f"`{name}` is Arrow data, a {kind}; `cento.{function}` takes that"
        )


def many(value: object, name: str, advice: str) -> Iterable[Any]:
    """The values of an argument that are meant to be many; a column of Arrow as values of Python.

    Raises:
        InputError: It is one text, or columns by their names.
        InvalidArgumentError: It is a table, or cannot be iterated over.
    """
    if isinstance(value, _ONE):
        raise _refusal(name, f"it is one text where a list of texts is meant; {advice}")
    if isinstance(value, Mapping):
        what = "it is a dict, one record or columns by their names, where a list is meant"
        raise _refusal(name, f"{what}; {advice}")
    if _is_index(value):
        # Its items are ids, which would be taken for texts.
        raise InvalidArgumentError(f"`{name}` is an index; pass its `documents()`")
    if hasattr(value, "to_pylist") and not hasattr(value, "column_names"):
        # A column of pyarrow, whose own items are no values of Python.
        return cast(Iterable[Any], value.to_pylist())
    if is_table(value):
        raise InvalidArgumentError(f"`{name}` is a table of Arrow, not a list; {advice}")
    try:
        iter(cast(Iterable[Any], value))
    except TypeError:
        kind = type(value).__name__
        raise InvalidArgumentError(f"`{name}` is a {kind}, not a list; {advice}") from None
    return cast(Iterable[Any], value)


def tables(value: object) -> object:
    """Returns the source of Arrow data of an argument; a data set as its batches.

    Raises:
        InputError: It is one text.
        InvalidArgumentError: It is none of what gives Arrow data.
    """
    if is_arrow(value):
        return value
    opens = _reader(value)
    if opens is not None:
        return opens()
    if _is_index(value):
        raise InvalidArgumentError("the data is an index; pass its `to_arrow()`")
    kind = type(value).__name__
    if isinstance(value, (*_ONE, os.PathLike)):
        advice = "read the file first, such as with `pyarrow.dataset.dataset(path)`"
        raise _refusal("data", f"it is a {kind} where a table is meant; {advice}")
    if hasattr(value, "iloc"):
        # Of pandas before 2.2.
        what = f"a {kind} of this version of pandas gives no Arrow data"
        raise InvalidArgumentError(f"{what}; pass `pyarrow.Table.from_pandas(frame)`")
    if isinstance(value, Mapping):
        # A DatasetDict is one, too.
        names = ", ".join(repr(name) for name in list(value)[:5])
        what = f"a {kind} is no Arrow table; pass one of its values ({names}) if they are tables"
        raise InvalidArgumentError(f"{what}, or `pyarrow.table(...)` of it if they are columns")
    if hasattr(value, "with_format"):
        # By itself it gives one for each row.
        return cast(Any, value).with_format("arrow").iter(batch_size=1000)
    if hasattr(value, "collect"):
        what = f"a {kind} has not been read yet"
        raise InvalidArgumentError(
            f"{what}; pass `frame.collect()` (polars) or `frame.toArrow()` (Spark)"
        )
    return value


def column(batch: object, name: str) -> Iterable[Any]:
    """A column of a batch, which `map` or `filter` of a data set gives.

    Raises:
        InputError: The batch is a record, or no mapping of columns.
    """
    advice = "pass batched=True to `map` or `filter`, so that each call gets a batch of columns"
    is_columns = isinstance(batch, Mapping) or hasattr(batch, "columns")
    if not is_columns or isinstance(batch, _ONE):
        kind = type(batch).__name__
        what = f"a {kind} where a batch of columns is meant, such as {{{name!r}: [...]}}"
        raise _refusal("the batch", f"{what}; {advice}")
    try:
        values = cast(Any, batch)[name]
    except (KeyError, IndexError):
        raise _refusal("the batch", f"there is no column {name!r}") from None
    if values is None or isinstance(values, (bool, int, float)):
        kind = type(values).__name__
        raise _refusal(
            "the batch", f"{name!r} is one {kind} where a list of values is meant; {advice}"
        )
    return many(values, f"the batch, {name!r}", advice)


def column_names(batch: object) -> list[str]:
    """The names of the columns of a batch."""
    for name in ("column_names", "columns"):
        if hasattr(batch, name):
            return [str(each) for each in getattr(batch, name)]
    return [str(each) for each in cast(Mapping[Any, Any], batch)]


def paths(value: object, name: str) -> list[str | os.PathLike[str]]:
    """Paths that are meant to be many.

    Raises:
        InvalidArgumentError: It is one path.
    """
    if isinstance(value, (*_ONE, os.PathLike)):
        raise InvalidArgumentError(
            f"`{name}` is one path where a list of paths is meant; pass [path]"
        )
    return list(cast(Iterable[Any], value))


def names(value: object, name: str) -> list[str]:
    """Names that are meant to be many.

    Raises:
        InvalidArgumentError: It is one name.
    """
    if isinstance(value, _ONE):
        raise InvalidArgumentError(
            f"`{name}` is one name where a list of names is meant; pass [name]"
        )
    return list(cast(Iterable[str], value))


def meta_names(meta: str | Sequence[str] | None) -> str | list[str] | None:
    """The fields that make meta objects: one that is it, some by their names, or all of them.

    Raises:
        InvalidArgumentError: It is none of these.
    """
    if meta is None or isinstance(meta, str):
        return meta
    given = [] if isinstance(meta, Mapping) else list(cast(Iterable[Any], meta))
    if isinstance(meta, Mapping) or not all(isinstance(name, str) for name in given):
        raise InvalidArgumentError(
            f"`meta` is {meta!r}; give the name of a field, a list of names, or [] to keep none"
        )
    return given


def skips(on_error: str) -> bool:
    """Whether what is no document is left out.

    Raises:
        InvalidArgumentError: There is no such choice.
    """
    if on_error not in ("raise", "skip"):
        raise InvalidArgumentError(f'`on_error` is {on_error!r}; it is "raise" or "skip"')
    return on_error == "skip"


def place(index: _native.Index) -> tuple[str, str | None]:
    """Where an index is, and its key, for another process: the place of the key, never the key."""
    key = index.key_file
    return (os.path.abspath(index.path), None if key is None else os.path.abspath(key))


def seconds(wait: float | None) -> float:
    """The time to wait for a lock; 0 if it is not given.

    Raises:
        InvalidArgumentError: It is no such time.
    """
    if wait is None:
        return 0.0
    if isinstance(wait, bool) or not isinstance(wait, (int, float)) or not wait >= 0:
        raise InvalidArgumentError(f"`wait` is {wait!r}; give a number of seconds, such as 30")
    return wait


def whole(name: str, value: _Whole) -> _Whole:
    """A number of threads, bytes or results, or ``None``.

    Raises:
        InvalidArgumentError: It is no such number.
    """
    if value is None or (
        isinstance(value, SupportsIndex)
        and not isinstance(value, bool)
        and 0 <= operator.index(value) < 1 << 63
    ):
        return value
    refused = InvalidArgumentError(f"`{name}` is {value!r}; it is a whole number from 0 on")
    refused.argument = name
    raise refused


def waiting(call: Callable[[], _T], wait: float | None) -> _T:
    """Calls, again and again until ``wait`` seconds are over, while a lock is taken.

    Raises:
        LockedError: It was taken all the time.
    """
    end = time.monotonic() + seconds(wait)
    while True:
        try:
            return call()
        except LockedError:
            left = end - time.monotonic()
            if left <= 0:
                raise
            time.sleep(min(left, _LOCK_INTERVAL))


def _refusal(place: str, what: str) -> InputError:
    error = InputError(f"{place}: {what}")
    error.place = place
    return error
