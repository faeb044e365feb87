"""The results page's side of the collector: what its questions are answered with.

Imports the collector's store, wire and settings, and castell's results and what they import.
"""

from castell.collector.results.routes import routes

__all__ = ["routes"]
