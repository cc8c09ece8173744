"""Write the dashboards' JSON: ``python grafana/build.py [DIRECTORY]``, by default beside this file.

The JSON is committed; a test builds it anew and fails if it differs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import canary_against_stable
import delivery
import live_safety
import monitor_health
import support_quality
from grafana_foundation_sdk.cog.encoder import JSONEncoder

DASHBOARDS = {
    "live-safety.json": live_safety.build,
    "support-quality.json": support_quality.build,
    "canary-against-stable.json": canary_against_stable.build,
    "delivery.json": delivery.build,
    "monitor-health.json": monitor_health.build,
}


def main(arguments: list[str]) -> int:
    target = Path(arguments[0]) if arguments else Path(__file__).parent / "dashboards"
    for name, build in DASHBOARDS.items():
        text = json.dumps(build(), cls=JSONEncoder, indent=1, sort_keys=True, ensure_ascii=False)
        (target / name).write_text(text + "\n", encoding="utf-8")
        print(target / name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
