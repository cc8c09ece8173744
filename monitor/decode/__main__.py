"""``python -m monitor.decode`` writes the published JSON Schema anew."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from monitor.decode.event import published_schema

SCHEMA = Path(str(files("monitor.decode") / "schema_v1.json"))


def render_schema() -> str:
    return json.dumps(published_schema(), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(render_schema(), encoding="utf-8")
