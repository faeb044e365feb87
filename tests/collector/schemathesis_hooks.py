"""What schemathesis is told that a description cannot say.

JSON Schema takes 1.0 for an integer. The collector does not: its types are strict, so bodies with
such numbers are no valid ones.
"""

from typing import Any

import schemathesis


@schemathesis.hook
def filter_body(context: Any, body: Any) -> bool:
    """Leave out valid bodies that hold a number with a point."""
    del context
    return not _has_float(body)


def _has_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_float(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return any(_has_float(inner) for inner in value)
    return isinstance(value, float)
