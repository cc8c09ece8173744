"""Errors of the daemon, drawn as a tree. Each says in one line what is wrong and what to do; none holds user text.

JiezhuError
├── ConfigurationError        a setting is wrong: exit status 2
├── StoreError
│   ├── StoreUnavailable      the database does not answer: pages go out without it
│   │   └── StoreUnwritable   it answers and takes no writes: its disk is full, or it may only be read
│   ├── RowDamaged            what was stored cannot be read
│   ├── PositionConflict      another worker has read these partitions on: our batch is void
│   ├── CaseConflict          somebody else wrote these cases first: read them again
│   └── GroupConflict         somebody else wrote a group first: read it again
├── KeyMissing                text was sealed with a key that is not in the keyring
└── LineStopped               too many dead letters: reading stops until a person has looked
"""

from __future__ import annotations


class JiezhuError(Exception):
    """Base of all errors that jiezhu raises on purpose."""


class ConfigurationError(JiezhuError):
    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key


class StoreError(JiezhuError):
    pass


class StoreUnavailable(StoreError):  # noqa: N818 - a state, named as the field names it
    pass


class StoreUnwritable(StoreUnavailable):
    pass


class RowDamaged(StoreError):  # noqa: N818 - a state, named as the field names it
    pass


class PositionConflict(StoreError):  # noqa: N818 - a state, named as the field names it
    def __init__(self, partitions: frozenset[tuple[str, int]]) -> None:
        super().__init__(f"{len(partitions)} partition(s) were read on by another worker")
        self.partitions = partitions


class CaseConflict(StoreError):  # noqa: N818 - a state, named as the field names it
    def __init__(self, conversations: frozenset[str]) -> None:
        super().__init__(f"{len(conversations)} case(s) were written by somebody else")
        self.conversations = conversations


class GroupConflict(StoreError):  # noqa: N818 - a state, named as the field names it
    def __init__(self) -> None:
        super().__init__("a group was written by somebody else")


class KeyMissing(JiezhuError):  # noqa: N818 - a state, named as the field names it
    pass


class LineStopped(JiezhuError):  # noqa: N818 - a state, named as the field names it
    pass
