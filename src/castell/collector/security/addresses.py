"""Names for addresses that do not tell the address: hashes under a key of this process."""

from __future__ import annotations

import hashlib
import ipaddress
import secrets


class AddressNames:
    """One name for each address, the same as long as the process lives.

    The address itself is not kept, not even in memory. Neighbours in one IPv6 /64 share a name,
    since one machine owns all of it.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def name(self, host: str) -> bytes:
        try:
            address = ipaddress.ip_address(host)
            # An IPv4 address, as a socket that takes both kinds writes it, is no neighbour of all.
            address = getattr(address, "ipv4_mapped", None) or address
            raw = address.packed[:8] if address.version == 6 else address.packed
        except ValueError:
            raw = host.encode()
        return hashlib.blake2b(raw, key=self._key, digest_size=16).digest()
