"""A fitted latent class model to keep: all that took long, and nothing that can be looked up."""

from __future__ import annotations

from typing import Any

from castell.inference.latent.model import Latent


def kept(latent: Latent) -> dict[str, Any]:
    """The model, and how far its answers may be off."""
    return {"latent": latent, "intervals": latent.intervals}


def restored(learned: dict[str, Any]) -> Latent:
    """The model again, with the errors that were worked out before."""
    latent: Latent = learned["latent"]
    # A cached property: worked out once, and not again.
    vars(latent)["intervals"] = learned["intervals"]
    return latent
