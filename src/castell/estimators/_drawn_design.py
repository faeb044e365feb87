"""`auto` from several samples of respondents: the model, and the samples' own unbiased table."""

from __future__ import annotations

import numpy as np

from castell.estimators._cross_fit import Combined, CrossFit
from castell.inference.model_averaging import james_stein_share
from castell.inference.pooled_products import expected_variance
from castell.inference.postprocess import simplex
from castell.inference.reasons import Code, reason


def drawn(cross_fit: CrossFit, names: tuple[str, ...]) -> Combined:
    """The model's table, averaged with the samples' unbiased one as far as they differ."""
    latent, intervals = cross_fit.latent, cross_fit.latent.intervals
    model = latent.table(names)
    if not intervals.support(names).together:
        return Combined(model, latent.reasons(names))
    whole = intervals.direct.joint(names, None)
    # With few reports a table's own variance is as uncertain as the table; what is expected is not.
    variance = np.maximum(
        whole.spread(names).variance, expected_variance(cross_fit.counts, names)
    ).sum()
    share = james_stein_share(whole.probabilities, model, float(variance))
    if share == 0.0:
        agrees = (reason(Code.MODEL_AGREES),) if len(names) > 1 else ()
        return Combined(model, (*agrees, *latent.reasons(names)))
    table = share * simplex(whole.probabilities) + (1.0 - share) * model
    return Combined(table, (reason(Code.BLOCKS_SHRUNK, unbiased=share), *intervals.reasons(names)))
