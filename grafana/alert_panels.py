"""At which panel one looks when an alert fires: ``python grafana/alert_panels.py`` prints it as JSON.

Every alert has one; a test holds this table against the rules and the dashboards. ``dashboard_url`` is what an alert
says of it, below the address of Grafana; what the alert knows of track and release is chosen there.
"""

from __future__ import annotations

import json
import sys

from links import CANARY_AGAINST_STABLE, DELIVERY, LIVE_SAFETY, MONITOR_HEALTH, Place

_MISSES = Place(LIVE_SAFETY, 22)
_RATES = Place(CANARY_AGAINST_STABLE, 17)
_PAGERS = Place(DELIVERY, 22)
_TURNS_LATE = Place(DELIVERY, 51)
_PAGES_LATE = Place(DELIVERY, 52)
_CANARIES_LATE = Place(DELIVERY, 53)
_WORKERS = Place(MONITOR_HEALTH, 17)
_HELD_BACK = Place(MONITOR_HEALTH, 23)
_SIGNS = Place(MONITOR_HEALTH, 42)
_PUBLISHERS = Place(MONITOR_HEALTH, 61)

PANELS = {
    # people
    "JiezhuCrisisMissed": _MISSES,
    "JiezhuProbeMissed": _MISSES,
    # releases
    "JiezhuReleaseWorse": _RATES,
    "JiezhuReleaseQualityWorse": _RATES,
    "JiezhuReleaseMarksWorse": Place(CANARY_AGAINST_STABLE, 41),
    "JiezhuStyleDrift": Place(CANARY_AGAINST_STABLE, 31),
    # pages
    "JiezhuPageNotGettingOut": Place(DELIVERY, 17),
    "JiezhuPagerUnreachable": _PAGERS,
    "JiezhuNoPagerReachable": _PAGERS,
    "JiezhuRecordsMissing": Place(DELIVERY, 45),
    # promises
    "JiezhuTurnsLate": _TURNS_LATE,
    "JiezhuTurnsLateSlowly": _TURNS_LATE,
    "JiezhuPagesLate": _PAGES_LATE,
    "JiezhuPagesLateSlowly": _PAGES_LATE,
    "JiezhuCanariesLate": _CANARIES_LATE,
    "JiezhuCanariesLateSlowly": _CANARIES_LATE,
    # reading
    "JiezhuNoTurns": Place(MONITOR_HEALTH, 18),
    "JiezhuSourceLag": Place(MONITOR_HEALTH, 22),
    "JiezhuLineStopped": _HELD_BACK,
    "JiezhuSourcePaused": _HELD_BACK,
    "JiezhuTurnsLost": Place(MONITOR_HEALTH, 27),
    "JiezhuDeadLetters": Place(MONITOR_HEALTH, 25),
    # the monitor
    "JiezhuWorkerDown": _WORKERS,
    "JiezhuDatabaseAway": _WORKERS,
    "JiezhuDeadMansSwitch": Place(MONITOR_HEALTH, 11),
    "JiezhuAlertSilenced": Place(MONITOR_HEALTH, 14),
    "JiezhuEventLoopLag": Place(MONITOR_HEALTH, 33),
    "JiezhuScorerFailing": Place(MONITOR_HEALTH, 34),
    "JiezhuEncoderDown": Place(MONITOR_HEALTH, 35),
    "JiezhuPartStuck": Place(MONITOR_HEALTH, 41),
    "JiezhuReadingStalled": _SIGNS,
    "JiezhuDetectorIdle": _SIGNS,
    "JiezhuClockApart": Place(MONITOR_HEALTH, 43),
    "JiezhuErasureUndone": Place(MONITOR_HEALTH, 44),
    "JiezhuCanaryMissing": Place(MONITOR_HEALTH, 52),
    "JiezhuPublisherMissing": _PUBLISHERS,
    "JiezhuPublisherDoubled": _PUBLISHERS,
    "JiezhuTallyFailing": Place(MONITOR_HEALTH, 64),
}
# Labels of alerts that a dashboard's variables choose by.
_RELEASE = ("track", "release")
_CHOSEN_BY = {
    "JiezhuCrisisMissed": ("track",),
    "JiezhuProbeMissed": ("track",),
    "JiezhuReleaseWorse": _RELEASE,
    "JiezhuReleaseQualityWorse": (*_RELEASE, "basis"),
    "JiezhuReleaseMarksWorse": (*_RELEASE, "basis"),
    "JiezhuStyleDrift": _RELEASE,
    "JiezhuPagerUnreachable": ("pager",),
}


def dashboard_url(alert: str) -> str:
    """The annotation of an alert, in the words of Prometheus' templates. Raises KeyError for one that has no panel.

    An app names its releases as it likes, so what is chosen is quoted.
    """
    chosen = "".join(
        f"&var-{label}={{{{ $labels.{label} | urlquery }}}}" for label in _CHOSEN_BY.get(alert, ())
    )
    return f"{{{{ $externalLabels.dashboard_base }}}}{PANELS[alert].path}{chosen}"


def main() -> int:
    table = {
        alert: {"uid": place.uid, "panel": place.panel, "dashboard_url": dashboard_url(alert)}
        for alert, place in PANELS.items()
    }
    print(json.dumps(table, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
