"""The words of a page in English and in Chinese."""

from __future__ import annotations

from dataclasses import dataclass

from alerts.page import Kind, Trouble
from detectors.finding import Criterion, Level, Outcome
from detectors.turn import Track


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """``title`` takes kind, level, outcome, release, track and since; ``title_alike`` and ``alike`` take count.

    ``title_group`` takes kind, count, level, release, track and since; ``group`` takes count.
    """

    title: str
    title_alike: str
    title_step: str
    title_group: str
    several_releases: str
    comma: str
    kinds: dict[Kind, str]
    levels: dict[str, str]
    outcomes: dict[str, str]
    criteria: dict[str, str]
    tracks: dict[str, str]
    labels: dict[str, str]
    alike: str
    group: str
    unknown: str
    acknowledge: str
    open: str
    runbook: str
    test_note: str
    degraded_note: str
    by_phrases_note: str
    first: str
    first_imminent: str
    first_harm_to_others: str
    first_other_at_risk: str
    first_ticket: str
    first_group: str
    first_ticket_group: str
    open_group: str
    acknowledge_group: str
    troubles: dict[Trouble, str]
    first_troubles: dict[Trouble, str]


ENGLISH = Vocabulary(
    title="{kind}: possible {level}, {outcome}; release {release}, {track}; since {since}",
    title_alike="; {count} alike in the last hour",
    title_step="; call no. {step}, nobody has acknowledged",
    title_group="{kind}: {count} incidents, up to {level}; release {release}, {track}; since {since}",
    several_releases="several releases",
    comma=", ",
    kinds={
        Kind.PAGE: "Crisis not caught",
        Kind.TICKET: "To be read",
        Kind.ACKNOWLEDGE: "Acknowledged",
        Kind.RESOLVE: "Resolved",
    },
    levels={
        Level.NONE: "no crisis",
        Level.PASSIVE_IDEATION: "wish to be dead",
        Level.ACTIVE_IDEATION: "thoughts of suicide",
        Level.SELF_HARM: "self-harm",
        Level.PLAN_INTENT: "suicide plan or intent",
        Level.PREPARATION: "preparation or farewell",
        Level.IN_PROGRESS: "suicide or self-harm in progress",
        Level.HARM_TO_OTHERS: "intent to harm others",
        Level.OTHER_AT_RISK: "danger to another person",
        Level.UNSCORED: "crisis (it could not be judged)",
    },
    outcomes={
        Outcome.HANDLED: "the assistant caught it",
        Outcome.SAFE_NOT_SUPPORTIVE: "the assistant's reply was safe but did not hold the person",
        Outcome.INCOMPLETE: "the assistant's reply left something out",
        Outcome.UNHANDLED: "the assistant missed it",
        Outcome.HARMFUL: "the assistant's reply may do harm",
        Outcome.NO_REPLY: "the assistant has not replied",
        Outcome.OVER_TRIGGERED: "the assistant treated an ordinary turn as a crisis",
        Outcome.NOT_APPLICABLE: "no reply was due",
    },
    criteria={
        Criterion.RISK_RECOGNISED: "naming the risk",
        Criterion.NOT_FOLLOWING: "not going along with it",
        Criterion.HOLDS_FEELING: "holding the feeling",
        Criterion.REFERS: "pointing to professional help or a trusted person",
        Criterion.BOUNDARY: "saying that it cannot replace a professional",
    },
    tracks={Track.STAGING: "staging", Track.CANARY: "canary", Track.PRODUCTION: "production"},
    labels={
        "test": "Test",
        "degraded": "Database away",
        "by_phrases": "Encoder failing",
        "level": "What may be happening",
        "confidence": "Confidence",
        "since": "Since",
        "deadline": "A reply was due by",
        "assistant": "What the assistant did",
        "missing": "What the reply lacks",
        "first_step": "First thing to do",
        "release": "Release",
        "track": "Track",
        "language": "Language",
        "region": "Region",
        "alike": "Alike",
        "escalates": "Escalates at",
        "incident": "Incident",
        "group": "Grouped",
        "gravest": "The gravest of them",
    },
    group="{count} incidents in one page; each keeps its own state, link and escalation",
    alike="{count} of this release in the last hour",
    unknown="not known",
    acknowledge="Acknowledge",
    open="Open the incident",
    runbook="Runbook",
    test_note="This is a test. No user is in danger.",
    degraded_note="Sent while the database was away: an acknowledgement may take a while to be recorded.",
    by_phrases_note=(
        "The detector had failed and explicit words alone decided: both what was found and what the reply lacks are "
        "rough. Read the whole conversation; quieter signs in it were not seen."
    ),
    first="Acknowledge, open the conversation and let a trained person take it over.",
    first_imminent=(
        "Acknowledge and take the conversation over now. If the danger is immediate and the place is known, "
        "call the emergency services of that place."
    ),
    first_harm_to_others=(
        "Acknowledge and take the conversation over now. If somebody is in immediate danger, call the "
        "emergency services of that place and follow your duty-to-warn procedure."
    ),
    first_other_at_risk=(
        "Acknowledge and take the conversation over: help the user to bring help to the person in danger."
    ),
    first_group=(
        "Acknowledge, open the list, share the conversations out among trained people, the gravest first, and "
        "roll the release back."
    ),
    first_ticket_group="Read the list in working hours and record verdicts.",
    open_group="Open the list",
    acknowledge_group="Acknowledge all",
    first_ticket="Read the exchange in working hours and record a verdict.",
    troubles={
        Trouble.LINE_STOPPED: (
            "The monitor has stopped reading: too many events cannot be read. No crisis is seen until it goes on"
        ),
        Trouble.READING_STALLED: (
            "The monitor's reading stands still. No crisis is seen on this worker's part of the topic until it goes on"
        ),
        Trouble.RECORDS_MISSING: (
            "Records of incidents are missing or do not fit together: somebody may not have been rung. "
            "What could be put back was put back"
        ),
        Trouble.OTHER: (
            "Something is wrong with the monitor that this worker's release has no words for. Crises may not be seen"
        ),
    },
    first_troubles={
        Trouble.LINE_STOPPED: (
            "Acknowledge, look at the newest dead letters' reasons, mend the producer, and restart the workers."
        ),
        Trouble.READING_STALLED: (
            "Acknowledge, see whether the broker and the database answer, and restart the worker if they do."
        ),
        Trouble.RECORDS_MISSING: (
            "Acknowledge, go through every open incident now, and find out who or what changed the database."
        ),
        Trouble.OTHER: "Acknowledge, open the runbook, and bring every worker to the newest release in use.",
    },
)

CHINESE = Vocabulary(
    title="{kind}：疑似{level}，{outcome}；版本 {release}，{track}；始于 {since}",
    title_alike="；近一小时同类 {count} 起",
    title_step="；第 {step} 次呼叫，尚无人确认",
    title_group="{kind}：共 {count} 起，最重为{level}；版本 {release}，{track}；始于 {since}",
    several_releases="多个版本",
    comma="、",
    kinds={
        Kind.PAGE: "危机未被接住",
        Kind.TICKET: "待阅",
        Kind.ACKNOWLEDGE: "已有人确认",
        Kind.RESOLVE: "已结束",
    },
    levels={
        Level.NONE: "无危机",
        Level.PASSIVE_IDEATION: "消极求死念头",
        Level.ACTIVE_IDEATION: "自杀念头",
        Level.SELF_HARM: "自伤",
        Level.PLAN_INTENT: "自杀计划或意图",
        Level.PREPARATION: "准备或告别",
        Level.IN_PROGRESS: "自杀或自伤正在发生",
        Level.HARM_TO_OTHERS: "伤害他人的意图",
        Level.OTHER_AT_RISK: "他人处于危险",
        Level.UNSCORED: "危机（未能判定）",
    },
    outcomes={
        Outcome.HANDLED: "助手接住了",
        Outcome.SAFE_NOT_SUPPORTIVE: "助手的回复安全但没有承接情绪",
        Outcome.INCOMPLETE: "助手的回复有缺项",
        Outcome.UNHANDLED: "助手没有接住",
        Outcome.HARMFUL: "助手的回复可能造成伤害",
        Outcome.NO_REPLY: "助手一直没有回复",
        Outcome.OVER_TRIGGERED: "助手把普通内容当作危机",
        Outcome.NOT_APPLICABLE: "无需回复",
    },
    criteria={
        Criterion.RISK_RECOGNISED: "识别风险",
        Criterion.NOT_FOLLOWING: "不顺着危险说",
        Criterion.HOLDS_FEELING: "承接情绪",
        Criterion.REFERS: "指向专业帮助或可信任的人",
        Criterion.BOUNDARY: "说明不能替代专业人员",
    },
    tracks={Track.STAGING: "预发布", Track.CANARY: "灰度", Track.PRODUCTION: "正式"},
    labels={
        "test": "测试",
        "degraded": "数据库不可用",
        "by_phrases": "检测模型故障",
        "level": "可能发生的情况",
        "confidence": "把握",
        "since": "开始于",
        "deadline": "应回复时限",
        "assistant": "助手的表现",
        "missing": "回复缺少",
        "first_step": "先做什么",
        "release": "版本",
        "track": "轨道",
        "language": "语言",
        "region": "地区",
        "alike": "同类",
        "escalates": "升级时间",
        "incident": "事件",
        "group": "合并",
        "gravest": "其中最重",
    },
    group="一次呼叫合并 {count} 起事件；每起各有状态、链接和升级",
    alike="该版本近一小时 {count} 起",
    unknown="未知",
    acknowledge="确认",
    open="打开事件",
    runbook="处置手册",
    test_note="这是测试，没有用户处于危险。",
    degraded_note="发送时数据库不可用：确认可能稍后才会记录。",
    by_phrases_note="检测模型当时不可用，仅凭明确的词句判断：所见与所缺都较粗略。请通读整段对话，较隐晦的迹象当时看不到。",
    first="先确认，打开对话，由受过训练的人接手。",
    first_imminent="先确认，立即接手对话。若危险迫在眉睫且知道所在地，请联系当地急救或警方。",
    first_harm_to_others="先确认，立即接手对话。若有人处于紧急危险，请联系当地警方，并按预警义务流程处理。",
    first_other_at_risk="先确认，接手对话，协助用户为处于危险的人求助。",
    first_group="先确认，打开列表，由受过训练的人分头接手对话，最重的优先，并回退该版本。",
    first_ticket_group="在工作时间内阅读列表并记录结论。",
    open_group="打开列表",
    acknowledge_group="全部确认",
    first_ticket="在工作时间内阅读这段对话并记录结论。",
    troubles={
        Trouble.LINE_STOPPED: "监测已停止读取：无法解析的事件过多。恢复之前，任何危机都不会被发现",
        Trouble.READING_STALLED: "监测的读取已停滞。恢复之前，该进程负责的部分中任何危机都不会被发现",
        Trouble.RECORDS_MISSING: "事件记录缺失或互不相符：可能有人本应被呼叫而没有。能补回的已经补回",
        Trouble.OTHER: "监测自身出现故障，该进程的版本无法说明是何故障。危机可能未被发现",
    },
    first_troubles={
        Trouble.LINE_STOPPED: "先确认，查看最近死信的原因，修复生产端，然后重启各工作进程。",
        Trouble.READING_STALLED: "先确认，检查消息代理和数据库是否有响应；若有，重启该工作进程。",
        Trouble.RECORDS_MISSING: "先确认，立即逐一查看所有未结束的事件，并查明是谁或什么改动了数据库。",
        Trouble.OTHER: "先确认，打开处置手册，并将所有工作进程升级到正在使用的最新版本。",
    },
)

VOCABULARIES: dict[str, Vocabulary] = {"en": ENGLISH, "zh": CHINESE}
