"""A Prometheus beside the recorded demonstration, for looking: ``python -m tests.grafana.support.show_recording SECONDS``.

Prints its address, and ends after so many seconds.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from pathlib import Path

from tests.grafana.support import made_up, recording
from tests.support.prometheus import running


def main(seconds: float) -> None:
    with (
        recording.serving(lambda: 'alertmanager_silences{state="active"} 0\n') as alertmanager,
        recording.playing(1.0, made_up.text()) as workers,
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), *workers, apart={"alertmanager": alertmanager}, every=1) as prometheus,
    ):
        print(prometheus.client.base_url, flush=True)
        threading.Event().wait(seconds)


if __name__ == "__main__":
    main(float(sys.argv[1]))
