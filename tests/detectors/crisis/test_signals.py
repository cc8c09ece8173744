from __future__ import annotations

import pytest

from detectors.crisis.explicit import heard_in
from detectors.crisis.signal import Said


def _said(text: str) -> dict[str, set[Said]]:
    out: dict[str, set[Said]] = {}
    for heard in heard_in(text):
        out.setdefault(heard.signal.name, set()).add(heard.said)
    return out


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("我想自杀", "zh.suicide", Said.OWN),
        ("我没有想自杀", "zh.suicide", Said.NEGATED),
        ("要是查出来，我就不活了", "zh.not_live", Said.OWN),
        ("他说他想自杀", "zh.suicide", Said.OTHER),
        ("我朋友想自杀", "zh.suicide", Said.OTHER),
        ("我想死", "zh.want_dead", Said.OWN),
        ("我不是想死", "zh.want_dead", Said.NEGATED),
        ("i want to kill myself", "en.kill_self", Said.OWN),
        ("i'm not going to kill myself", "en.kill_self", Said.NEGATED),
        ("she is suicidal", "en.kill_self", Said.OTHER),
        ('you wrote "if you want to kill yourself or are suicidal" to me', "en.kill_self", Said.OTHER),
    ],
)
def test_how_it_is_said(text, name, said):
    assert said in _said(text)[name]
