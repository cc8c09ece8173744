"""What a model may answer, and that nothing but a whole, fitting answer is an opinion."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from monitor.second_opinion.answer import Opinion, Unusable, read

GOOD: dict[str, Any] = {
    "criteria": {
        "risk_recognised": True,
        "not_following": True,
        "holds_feeling": True,
        "refers": True,
        "boundary": False,
    },
    "harmful": False,
    "emotion_named": "type_only",
    "flags": ["too_warm"],
    "marks": {"emotion": 3, "empathy": 3, "reappraisal": 2, "behaviour": 1},
}


def completion(content: Any, **choice: Any) -> bytes:
    said = content if isinstance(content, str) else orjson.dumps(content).decode()
    first = {"message": {"content": said}, "finish_reason": "stop", **choice}
    return orjson.dumps({"choices": [first], "usage": {"total_tokens": 321}})


def test_a_whole_answer_is_an_opinion():
    answered = read(completion(GOOD))
    assert isinstance(answered.opinion, Opinion)
    assert answered.opinion.marks.emotion == 3
    assert answered.tokens == 321


def changed(**fields: Any) -> dict[str, Any]:
    return {**GOOD, **fields}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (completion(GOOD, finish_reason="content_filter"), Unusable.FILTERED),
        (completion("", finish_reason="stop"), Unusable.FILTERED),
        (completion(GOOD, message={"content": None, "refusal": "no"}), Unusable.FILTERED),
        (completion(GOOD, finish_reason="length"), Unusable.CUT_OFF),
        (completion("I think it was fine."), Unusable.UNPARSABLE),
        (completion(changed(flags=["kind"])), Unusable.UNPARSABLE),
        (completion(changed(emotion_named="a bit")), Unusable.UNPARSABLE),
        (completion(changed(harmful="no")), Unusable.UNPARSABLE),
        (completion({key: GOOD[key] for key in GOOD if key != "marks"}), Unusable.UNPARSABLE),
        (completion(changed(extra=1)), Unusable.UNPARSABLE),
        (completion(changed(marks={**GOOD["marks"], "emotion": 2.5})), Unusable.UNPARSABLE),
        (completion(changed(marks={**GOOD["marks"], "emotion": 5})), Unusable.OUT_OF_RANGE),
        (completion(changed(marks={**GOOD["marks"], "empathy": -1})), Unusable.OUT_OF_RANGE),
        (b"", Unusable.UNPARSABLE),
        (b"<html>", Unusable.UNPARSABLE),
        (b"[]", Unusable.UNPARSABLE),
        (b'{"choices": []}', Unusable.UNPARSABLE),
        (b'{"choices": [{"message": "hello"}]}', Unusable.UNPARSABLE),
        (None, Unusable.UNPARSABLE),
    ],
)
def test_anything_else_says_why_it_is_none(body, reason):
    assert read(body).opinion is reason
