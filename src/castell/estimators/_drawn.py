"""`auto` where each respondent reports one block: the model, and the blocks' own unbiased table."""

from __future__ import annotations

import numpy as np

from castell.estimators._held import Blend, Held
from castell.inference.drawn_products import expected_variance
from castell.inference.model_averaging import share_of
from castell.inference.postprocess import simplex
from castell.inference.reasons import Code, reason


def drawn(held: Held, names: tuple[str, ...]) -> Blend:
    """The model's table, averaged with the blocks' unbiased one as far as they differ."""
    latent, intervals = held.latent, held.latent.intervals
    model = latent.table(names)
    if not intervals.support(names).together:
        return Blend(model, latent.reasons(names))
    whole = intervals.direct.joint(names, None)
    # With few reports a table's own variance is as uncertain as the table; what is expected is not.
    variance = np.maximum(whole.spread(names).variance, expected_variance(held.blocks, names)).sum()
    share = share_of(whole.probabilities, model, float(variance))
    if share == 0.0:
        agrees = (reason(Code.MODEL_AGREES),) if len(names) > 1 else ()
        return Blend(model, (*agrees, *latent.reasons(names)))
    table = share * simplex(whole.probabilities) + (1.0 - share) * model
    return Blend(table, (reason(Code.BLOCKS_SHRUNK, unbiased=share), *intervals.reasons(names)))
