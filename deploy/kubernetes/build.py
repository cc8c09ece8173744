"""Write the PrometheusRule of the rules that every Prometheus reads: ``python deploy/kubernetes/build.py [FILE]``.

The result is committed; a test builds it anew and fails if it differs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
RULES = HERE.parent / "prometheus" / "rules"
RESULT = HERE / "monitoring" / "prometheus-rule.yaml"
HEADER = "# Written by build.py from deploy/prometheus/rules: change those.\n"


class _Dumper(yaml.SafeDumper):
    """Text of several lines stands as such."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def build() -> dict[str, Any]:
    """All groups of all files, in the order of the files' names."""
    files = sorted(RULES.glob("*.yml"))
    groups = [group for file in files for group in yaml.safe_load(file.read_text(encoding="utf-8"))["groups"]]
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {
            "name": "jiezhu",
            "namespace": "jiezhu",
            "labels": {"app.kubernetes.io/name": "jiezhu"},
        },
        "spec": {"groups": groups},
    }


def main(arguments: list[str]) -> int:
    target = Path(arguments[0]) if arguments else RESULT
    text = yaml.dump(build(), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    target.write_text(HEADER + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
