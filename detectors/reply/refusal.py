"""A reply that declines to talk, or ends the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detectors.reply.phrases import Kind, Phrasebook
from detectors.reply.words import VOCABULARY

if TYPE_CHECKING:
    from detectors.reply.text import ReplyText

DECLINES = "declines"
ENDS_CHAT = "ends_chat"

_BOOK = Phrasebook(
    [
        Kind(
            DECLINES,
            zh=(
                r"(?:无法|不能|不便|没法|不可以|不方便|不予|拒绝)(?:继续)?(?:回答|讨论|回应|提供|处理|协助|谈论|聊|帮(?:助)?您|生成|参与|回复|继续|核实|满足|评估)",
                r"(?:这类|该|此类|这个|相关|涉及)[^,\n]{0,14}(?:问题|话题|内容|请求)[^\n]{0,8}(?:无法|不能|不便|违反|超出|不支持)",
                r"请?换(?:个|一个)话题|违反_(?:规范|规定|政策)",
            ),
            en=(
                r"(?:i (?:can't|cannot|can not|am not able to|am unable to|won't be able to)|i'm (?:not able|unable)(?: to)?|unable to|not able to) (?:help|assist|discuss|talk|chat|continue|respond|answer|engage|provide|support|comment|go into|offer)",
                r"(?:can't|cannot) (?:help|assist) (?:you )?with (?:that|this)|please (?:ask me something else|pick another|choose another)|(?:violates|against) (?:our|the|my) (?:usage |content )?(?:policy|policies|guidelines)|not something i can (?:help|discuss|talk)",
            ),
            negatable=False,
        ),
        Kind(
            ENDS_CHAT,
            zh=(
                r"(?:对话|会话|聊天|咨询)_(?:即将|已|将)?(?:结束|关闭|终止)|祝您?生活愉快|就聊到这|期待下次|不管你了|别来找我",
                r"我能说的都说了",
            ),
            en=(
                r"(?:conversation|session|chat) (?:will|has|is|must) (?:now )?(?:be )?(?:closed?|end(?:ed)?|terminated)|have to (?:end|stop|close) (?:this|here|the)|nothing (?:more|else) i can do|i (?:have to|must) stop here|goodbye then|no point in (?:us talking|continuing)|don't waste my time|bye for now",
            ),
            negatable=False,
        ),
    ],
    VOCABULARY,
)


def refusals(reply: ReplyText) -> frozenset[str]:
    return _BOOK.names(reply.said)
