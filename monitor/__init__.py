"""The daemon: sources, decoding, store, metrics, web, command line. The only place that knows frameworks."""

__version__ = "0.1.0"
