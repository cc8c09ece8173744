"""The daemon: sources, decoding, store, metrics, web, command line. The only place that knows frameworks."""

import os

__version__ = "0.1.0"

# Before numpy is imported. Its products here are small: a second thread costs ten times what it saves, and
# spins on the core that the event loop needs.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
