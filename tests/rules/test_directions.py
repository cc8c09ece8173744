"""Which rates are worse when they grow is said once; dashboards and rules, which cannot import it, say the same."""

from __future__ import annotations

import re
import sys

from monitor.tally.rates import BETTER_IF_MORE, RATES, WORSE_IF_MORE
from tests.grafana.support.boards import GRAFANA
from tests.rules.shipped import rules

sys.path.append(str(GRAFANA))  # its scripts find each other by their bare names

import verdicts

OF_A_CRISIS = ["harmful", "no_reply", "safety_miss", "unhandled"]  # JiezhuReleaseWorse pages for them


def test_dashboards_say_the_same() -> None:
    assert _names(verdicts.WORSE_IF_MORE) == sorted(WORSE_IF_MORE)
    assert _names(verdicts.BETTER_IF_MORE) == sorted(BETTER_IF_MORE)
    assert _names(verdicts.NEITHER) == sorted(RATES.keys() - {*WORSE_IF_MORE, *BETTER_IF_MORE})


def test_rules_say_the_same() -> None:
    [expr] = [rule["expr"] for rule in rules("alert") if rule["alert"] == "JiezhuReleaseQualityWorse"]
    worse_if_more, better_if_more = re.findall(r'rate=~"([a-z_|]+)"', expr)
    assert sorted([*_names(worse_if_more), *OF_A_CRISIS]) == sorted(WORSE_IF_MORE)
    assert _names(better_if_more) == sorted(BETTER_IF_MORE)


def _names(alternatives: str) -> list[str]:
    return sorted(alternatives.split("|"))
