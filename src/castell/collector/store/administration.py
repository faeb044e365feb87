"""What the owner of a study changes while a collector runs: whether it is paused, and who may read.

Both are rows of the table that says what the store is: a name and a value each. So a store that
was made before they were thought of needs no change.
"""

from __future__ import annotations

import abc
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

from castell.collector.store.store import Rules, StoreError
from castell.collector.store.tokens import Token, is_token_name

Link = TypeVar("Link")

INVITATIONS, PAUSED = "invitations", "paused"
_TOKEN = "token "  # and the name of a person  # noqa: S105


class Administered(abc.ABC, Generic[Link]):
    """The part of a store that its owner changes; what is abstract is what a database must do."""

    def needs_invitation(self) -> bool:
        return self.rules().invited

    def rules(self) -> Rules:
        with self._reading() as link:
            return self._rules(link)

    def pause(self, paused: bool) -> None:
        with self._changing() as link:
            self._write_note(link, PAUSED, "true" if paused else "false")

    def tokens(self) -> list[Token]:
        with self._reading() as link:
            notes = self._notes(link, _TOKEN)
        found = (Token.read(name.removeprefix(_TOKEN), text) for name, text in notes.items())
        return sorted(found, key=lambda token: token.name)

    def add_token(self, token: Token) -> None:
        if not is_token_name(token.name):
            raise StoreError(
                f"{token.name!r} is no name for a token",
                "take small letters, digits, dots and dashes, 64 at most",
            )
        with self._changing() as link:
            if self._notes(link, _TOKEN + token.name).get(_TOKEN + token.name) is not None:
                raise StoreError(
                    f"there is a token of {token.name} already",
                    "take another name, or revoke it first",
                )
            self._write_note(link, _TOKEN + token.name, token.text())

    def revoke_token(self, name: str) -> None:
        with self._changing() as link:
            if _TOKEN + name not in self._notes(link, _TOKEN + name):
                raise StoreError(f"there is no token of {name}", "castell token list shows all")
            self._write_note(link, _TOKEN + name, None)

    # -- what a database does ------------------------------------------------------------------

    @abc.abstractmethod
    def _reading(self) -> AbstractContextManager[Link]:
        """A view of one moment, which writing does not wait for."""

    @abc.abstractmethod
    def _changing(self) -> AbstractContextManager[Link]:
        """A transaction that has nothing to do with reports."""

    @abc.abstractmethod
    def _rules(self, link: Link) -> Rules: ...

    @abc.abstractmethod
    def _notes(self, link: Link, prefix: str) -> dict[str, str]:
        """The rows about the store whose names begin so."""

    @abc.abstractmethod
    def _write_note(self, link: Link, name: str, value: str | None) -> None:
        """Write a row about the store, or delete it."""


def rules_of(notes: dict[str, str]) -> Rules:
    """
    >>> rules_of({"invitations": "true"})
    Rules(invited=True, paused=False)
    """
    return Rules(notes.get(INVITATIONS) == "true", notes.get(PAUSED) == "true")
