"""``python -m monitor`` is ``jiezhu``."""

from monitor.cli import main

main()
