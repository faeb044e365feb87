"""The results page's side of the collector: what its questions are answered with."""

from castell.collector.results.routes import routes

__all__ = ["routes"]
