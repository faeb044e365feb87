"""What castell asks of a channel besides its weights, and what most channels answer.

A channel that is special in some way says so in its own file; nothing outside this room asks which
class it is.
"""

from __future__ import annotations

from typing import ClassVar


class Traits:
    """The answers of a channel that is in no way special: every channel begins with them."""

    kind: ClassVar[str]

    @property
    def title(self) -> str:
        """Its name for people, as the literature has it."""
        return self.kind
