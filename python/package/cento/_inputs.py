"""Checks of arguments: many texts, or one that was passed by mistake."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, cast

from ._errors import InputError, InvalidArgumentError

_ONE = (str, bytes, bytearray, memoryview)
_ARROW = ("__arrow_c_stream__", "__arrow_c_array__")


def is_arrow(value: object) -> bool:
    """Whether a value gives Arrow data by itself."""
    return any(hasattr(value, name) for name in _ARROW)


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
    if hasattr(value, "to_pylist") and not hasattr(value, "column_names"):
        # A column of pyarrow, whose own items are no values of Python.
        return cast(Iterable[Any], value.to_pylist())
    if is_arrow(value) and (hasattr(value, "column_names") or hasattr(value, "columns")):
        raise InvalidArgumentError(f"`{name}` is a table of Arrow, not a list; {advice}")
    try:
        iter(cast(Iterable[Any], value))
    except TypeError:
        kind = type(value).__name__
        raise InvalidArgumentError(f"`{name}` is a {kind}, not a list; {advice}") from None
    return cast(Iterable[Any], value)


def tables(value: object) -> object:
    """Returns the source of Arrow data of an argument; a data set of Hugging Face as its batches.

    Raises:
        InputError: It is one text.
        InvalidArgumentError: It is none of what gives Arrow data.
    """
    if is_arrow(value):
        return value
    kind = type(value).__name__
    if isinstance(value, _ONE):
        raise _refusal("data", f"it is a {kind} where a table is meant")
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


def _refusal(place: str, what: str) -> InputError:
    error = InputError(f"{place}: {what}")
    error.place = place
    return error
