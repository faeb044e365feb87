"""Tokens of people: each has a name, a role, and perhaps an end. The store holds a hash of each.

A token is 24 random bytes, so a plain hash of it cannot be turned back by guessing.
"""

from __future__ import annotations

import enum
import hashlib
import json
import re
import secrets
from typing import NamedTuple

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class Role(enum.Enum):
    """What a person may do: an analyst sees results, an owner also the reports and the machine."""

    ANALYST = "analyst"
    OWNER = "owner"


class Token(NamedTuple):
    """What a store keeps of a token. `expires` is in seconds since 1970."""

    name: str
    role: Role
    hash: bytes
    expires: int | None = None

    def text(self) -> str:
        """As it is written into the store, beside the name.

        >>> token = Token("anna", Role.ANALYST, token_hash("secret"))
        >>> Token.read("anna", token.text()) == token
        True
        """
        document = {"role": self.role.value, "hash": self.hash.hex(), "expires": self.expires}
        return json.dumps(document)

    @classmethod
    def read(cls, name: str, text: str) -> Token:
        told = json.loads(text)
        return cls(name, Role(told["role"]), bytes.fromhex(told["hash"]), told["expires"])


def is_token_name(name: str) -> bool:
    """
    >>> is_token_name("anna"), is_token_name("Anna K.")
    (True, False)
    """
    return _NAME.fullmatch(name) is not None


def new_token() -> str:
    return secrets.token_urlsafe(24)


def token_hash(token: str | bytes) -> bytes:
    return hashlib.sha256(token.encode() if isinstance(token, str) else token).digest()
