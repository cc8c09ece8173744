"""Where a link leads: a panel of a dashboard, by the dashboard's uid and the panel's id."""

from __future__ import annotations

from dataclasses import dataclass

from grafana_foundation_sdk.builders.dashboard import DashboardLink
from grafana_foundation_sdk.models.dashboard import DashboardLinkType


@dataclass(frozen=True, slots=True)
class Place:
    """One panel."""

    uid: str
    panel: int

    @property
    def path(self) -> str:
        """Below the address of Grafana: the panel alone, as large as the window."""
        return f"/d/{self.uid}?viewPanel={self.panel}"


LIVE_SAFETY = "jiezhu-live-safety"
SUPPORT_QUALITY = "jiezhu-support-quality"
CANARY_AGAINST_STABLE = "jiezhu-canary-against-stable"
DELIVERY = "jiezhu-delivery"
MONITOR_HEALTH = "jiezhu-monitor-health"

INCIDENTS = Place(LIVE_SAFETY, 47)
"""Incidents open by signed links alone, which pages carry; a dashboard has no key to sign one. This panel says how."""


def way_to(place: Place, title: str) -> DashboardLink:
    return (
        DashboardLink(title)
        .type(DashboardLinkType.LINK)
        .url(place.path)
        .include_vars(True)
        .keep_time(True)
        .target_blank(True)
    )
