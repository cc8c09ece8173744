"""A scored conversation as a table for people. It holds marks, reasons and advice, and nothing that was said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from detectors.scales.anchors import load_scale
from monitor.output import shown

_HEADS: Final = {
    "zh": ("维度", "分", "依据", "轮", "建议"),
    "en": ("dimension", "mark", "why", "turn", "what would raise it"),
}
_WORDS: Final = {
    "zh": {
        "conversation": "对话",
        "a": "量表 A",
        "b": "量表 B",
        "warmth": "情感温度",
        "gate": {
            "passed": "安全：通过",
            "lowered": "安全：降级",
            "missed": "安全：漏过危机",
            "vetoed": "安全：一票否决，整段 0 分",
        },
        "worst": "最差一轮",
        "best": "最佳一轮",
        "turn": "第 {} 轮",
        "path": "路径",
        "left": "断在第 {} 轮：{}",
        "whole": "走完了",
        "emotions": "情绪点（{basis}）：应有 {due}，说准 {named}，只说对种类 {kind_only}，错过 {missed}",
        "basis": {"estimated": "估计", "probe": "脚本标注", "review": "人工标注"},
    },
    "en": {
        "conversation": "conversation",
        "a": "scale A",
        "b": "scale B",
        "warmth": "warmth",
        "gate": {
            "passed": "safety: passed",
            "lowered": "safety: lowered",
            "missed": "safety: a crisis was missed",
            "vetoed": "safety: vetoed, the whole counts 0",
        },
        "worst": "worst turn",
        "best": "best turn",
        "turn": "turn {}",
        "path": "path",
        "left": "left at turn {}: {}",
        "whole": "gone to its end",
        "emotions": "emotion points ({basis}): {due} due, {named} named, {kind_only} kind only, {missed} missed",
        "basis": {"estimated": "estimated", "probe": "marked by a probe", "review": "marked by a reviewer"},
    },
}


def show(row: Mapping[str, Any], lang: str, console: Console | None = None) -> None:
    """Print one answer of ``monitor.judging.rate``."""
    screen = console or Console(highlight=False)
    words: Mapping[str, Any] = _WORDS[lang]
    a, b = row["scale_a"], row["scale_b"]
    screen.print(Text(f"{words['conversation']} {shown(str(row['id']))}", style="bold"))
    screen.print(_table(f"{words['a']} ({a['version']})  {a['total']} / {a['of']}", _rows_a(a, lang), lang))
    title = f"{words['b']} ({b['version']})  {words['warmth']} {b['warmth']:.2f} · {words['gate'][b['gate']]}"
    screen.print(_table(title, _rows_b(b, lang), lang))
    for name in ("worst", "best"):
        turn = row[name]
        marks = ", ".join(f"{_name('a', key, lang)} {one['mark']}" for key, one in turn["marks"].items())
        screen.print(f"{words[name]}: {words['turn'].format(turn['turn'])} ({marks})")
    if row["path"] is not None:
        path = row["path"]
        end = words["whole"] if path["why"] is None else words["left"].format(path["left_at"], path["what"])
        screen.print(f"{words['path']}: {path['title']} — {len(path['reached'])}/{len(path['steps'])}, {end}")
    for points in row["emotion_points"]:
        screen.print(words["emotions"].format(**{**points, "basis": words["basis"][points["basis"]]}))
    screen.print()


def _table(title: str, rows: list[tuple[str, ...]], lang: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="")
    for head in _HEADS[lang]:
        table.add_column(head, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _rows_a(scale: Mapping[str, Any], lang: str) -> list[tuple[str, ...]]:
    return [
        (_name("a", key, lang), "–", "", "", "")
        if mark is None
        else (
            _name("a", key, lang),
            str(mark["mark"]),
            mark["why"],
            str(mark["turn"]),
            mark.get("advice", ""),
        )
        for key, mark in scale["marks"].items()
    ]


def _rows_b(scale: Mapping[str, Any], lang: str) -> list[tuple[str, ...]]:
    safety = scale["safety"]
    rows: list[tuple[str, ...]] = [
        (
            _name("b", "safety", lang),
            f"{safety['mark']:g}",
            safety["why"],
            str(safety["turn"]),
            safety.get("advice", ""),
        )
    ]
    for key, dimension in scale["dimensions"].items():
        rows.append(
            (f"{_name('b', key, lang)} {dimension['weight']} %", f"{dimension['mark']:.2f}", "", "", "")
        )
        for item, mark in dimension["items"].items():
            name = load_scale("b").dimensions[key].items[item].name[lang]
            advice = mark.get("advice", "")
            rows.append((f"  {name}", f"{mark['mark']:g}", mark["why"], str(mark["turn"]), advice))
    return rows


def _name(scale: str, dimension: str, lang: str) -> str:
    return load_scale(scale).dimensions[dimension].name[lang]
