"""A study whose widest table is small: its results can be asked for in every combination."""

from __future__ import annotations

from castell import Attribute, Schema, Study

SMALL = Study(Schema([Attribute(n, ["a", "b", "c"]) for n in ("x", "y")]), epsilon=2.0)
