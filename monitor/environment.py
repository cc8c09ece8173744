"""Settings from the environment: names to places in a tree of pydantic models, secrets also from files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr

from monitor.errors import ConfigurationError

PREFIX = "JIEZHU_"
LEVEL = "__"
_FILE = "_FILE"
# Kubernetes tells every container of every service by such names; a service that is called jiezhu gets ours.
_SERVICE = re.compile(rf"{PREFIX}(?:[A-Z0-9]+_)*SERVICE_(?:HOST|PORT(?:_[A-Z0-9]+)*)")
_PORT = re.compile(rf"{PREFIX}(?:[A-Z0-9]+_)*PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?")
_ADDRESS = re.compile(r"(?:tcp|udp|sctp)://")


def put_environment(tree: dict[str, Any], environ: Mapping[str, str], root: type[BaseModel]) -> None:
    """Put what the environment says into ``tree``. Raises ConfigurationError for a name that is not known."""
    for name, value in sorted(environ.items()):
        if name.startswith(PREFIX) and not _from_kubernetes(name, value):
            _put(tree, name, environ, root)


def names_of(root: type[BaseModel]) -> set[str]:
    names: set[str] = set()
    for path, annotation in _leaves(root, ()):
        name = PREFIX + LEVEL.join(part.upper() for part in path)
        names.add(name)
        if _is_secret(annotation):
            names.add(name + _FILE)
    return names


def key_of(location: tuple[int | str, ...], root: type[BaseModel]) -> tuple[str, str]:
    """Name of the setting at a place that pydantic complains of, and where within it, for lists and tables."""
    parts = [str(part) for part in location]
    leaf = next((len(path) for path, _ in _leaves(root, ()) if list(path) == parts[: len(path)]), len(parts))
    within = ".".join(parts[leaf:])
    return PREFIX + LEVEL.join(part.upper() for part in parts[:leaf]), f"{within}: " if within else ""


def _from_kubernetes(name: str, value: str) -> bool:
    return bool(
        _SERVICE.fullmatch(name)
        or _PORT.fullmatch(name)
        or (name.endswith("PORT") and LEVEL not in name and _ADDRESS.match(value))
    )


def _put(tree: dict[str, Any], name: str, environ: Mapping[str, str], root: type[BaseModel]) -> None:
    value = environ[name]
    path = name.removeprefix(PREFIX).lower().split(LEVEL)
    annotation = _annotation(path, root)
    if annotation is None and name.endswith(_FILE):
        plain = name.removesuffix(_FILE).removeprefix(PREFIX).lower().split(LEVEL)
        if _is_secret(_annotation(plain, root)):
            if name.removesuffix(_FILE) in environ:  # which of two is meant nobody can tell
                raise ConfigurationError(
                    name, f"and {name.removesuffix(_FILE)} are both set; keep one of them"
                )
            path, value = plain, _read_secret(name, value)
            annotation = _annotation(path, root)
    if annotation is None:
        raise ConfigurationError(name, "is not a known setting; see `jiezhu check-config --names`")
    node: Any = tree
    for part in path[:-1]:
        node = node.setdefault(part, {})
        if not isinstance(node, dict):
            raise ConfigurationError(name, f"does not fit the file: {part} is no table there; mend the file")
    node[path[-1]] = _parsed(name, value, annotation)


def _read_secret(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError(name, "the file cannot be read; check the path and its owner") from None


def _parsed(name: str, value: str, annotation: Any) -> Any:
    """Lists and tables come as JSON, times as numbers of seconds as in the file; everything else is pydantic's to read."""
    if annotation is timedelta:
        return _seconds(value)
    if get_origin(annotation) not in (list, tuple, frozenset, dict):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise ConfigurationError(name, "must be JSON, for instance [] or {}") from None


def _seconds(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value


def _leaves(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for field, info in model.model_fields.items():
        section = _section(info.annotation)
        if section is None:
            yield (*path, field), info.annotation
        else:
            yield from _leaves(section, (*path, field))


def _annotation(path: list[str], root: type[BaseModel]) -> Any:
    for leaf, annotation in _leaves(root, ()):
        if list(leaf) == path:
            return annotation
    return None


def _section(annotation: Any) -> type[BaseModel] | None:
    for candidate in _alternatives(annotation):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (UnionType, Union) else (annotation,)


def _is_secret(annotation: Any) -> bool:
    """A secret, one that is checked beside (``Annotated``), one that may be left out, or several."""
    if get_origin(annotation) is Annotated:
        return _is_secret(get_args(annotation)[0])
    parts = get_args(annotation) if get_origin(annotation) in (UnionType, Union, tuple) else ()
    return annotation is SecretStr or any(map(_is_secret, parts))
