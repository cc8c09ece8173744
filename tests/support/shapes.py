"""Hypothesis strategies for any dataclass of ours, field by field: every enum word, every optional both ways."""

from __future__ import annotations

import dataclasses
import types
import typing
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any

from hypothesis import strategies as st

_PLAIN: dict[Any, st.SearchStrategy] = {
    str: st.text(st.characters(), max_size=8),  # NUL and lone surrogates among them: producers send both
    int: st.integers(-(2**70), 2**70) | st.integers(0, 9),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    datetime: st.datetimes(datetime(1970, 1, 1), datetime(9990, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - the strategy adds the zone
    type(None): st.none(),
}


@cache
def values_of(shape: Any) -> st.SearchStrategy:
    if shape in _PLAIN:
        return _PLAIN[shape]
    if isinstance(shape, type) and issubclass(shape, Enum):
        return st.sampled_from(shape)
    if dataclasses.is_dataclass(shape):
        hints = typing.get_type_hints(shape)
        return st.builds(shape, **{f.name: values_of(hints[f.name]) for f in dataclasses.fields(shape)})
    origin, arguments = typing.get_origin(shape), typing.get_args(shape)
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(values_of(arguments[0]), values_of(arguments[1]), max_size=3)
    if origin in (types.UnionType, typing.Union):
        return st.one_of(*(values_of(argument) for argument in arguments))
    raise TypeError(shape)


def shapes_in(shape: Any) -> set[type]:
    """Every dataclass and enum that a shape is made of."""
    if isinstance(shape, type) and issubclass(shape, Enum):
        return {shape}
    if dataclasses.is_dataclass(shape):
        return {shape}.union(*(shapes_in(hint) for hint in typing.get_type_hints(shape).values()))
    return set().union(*(shapes_in(argument) for argument in typing.get_args(shape)))
