"""RR-Clusters: castell inside clusters of dependent attributes, independence across them.

Clusters are given, or are the design's own blocks, or are found in the reports: pairs of
attributes in the order of their de-biased Cramer's V are put together where the joint table is
expected to err less than the product. Paper: Sec. RR-Clusters (Domingo-Ferrer and Soria-Comas).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from math import prod
from statistics import NormalDist

import numpy as np

from castell.counting import Counts
from castell.evaluation.metrics import cramers_v
from castell.inference.inversion import Groups, observe
from castell.inference.joint_or_product import joint_is_better
from castell.inference.method import Fitted, Reads
from castell.inference.products import product_model, product_variance
from castell.inference.reasons import Code, Reason, reason
from castell.study.build_design import build_design
from castell.study.design import Design
from castell.study.schema import MAX_CELLS
from castell.study.study import Study

READS = Reads(sets=True, whole=True)


def fit(
    counts: Counts,
    *,
    clusters: Sequence[Sequence[str]] | None = None,
    target: str = "population",
) -> Fitted:
    """`clusters` lists the groups by name; attributes in none stand alone."""
    study = counts.study
    if clusters is not None:
        groups = [block.names for block in _as_design(study, clusters).blocks]
        how = "as given"
    elif any(len(block.names) > 1 for block in study.design.blocks):
        groups = [block.names for block in study.design.blocks]
        how = "the blocks of the design"
    else:
        groups = list(find_clusters(counts))
        how = "found in the reports"
    return product_model(counts, groups, target, partial(_reasons, groups, how))


def _reasons(groups: Groups, how: str, names: Sequence[str]) -> tuple[Reason, ...]:
    own = [group for group in groups if set(group) & set(names)]
    listed = ", ".join("{" + ", ".join(group) + "}" for group in own)
    made = reason(Code.CLUSTERS, *names, text=f"clusters {how}: {listed}")
    if len(own) == 1:
        return (made,)
    return made, reason(Code.INDEPENDENCE_ASSUMED, text="clusters")


def _as_design(study: Study, clusters: Sequence[Sequence[str]]) -> Design:
    # A design has the same rules: known names, each once. Its budget plays no part here.
    return build_design(study.schema, 1.0, clusters)


def find_clusters(counts: Counts) -> Groups:
    """Clusters from the reports alone."""
    study = counts.study
    # Pairs are looked at in the order of Cramer's V, so the strongest of many by chance comes
    # first: the more pairs, the more it must stand out.
    pairs = len(study.names) * (len(study.names) - 1) // 2
    doubt = max(2.0, NormalDist().inv_cdf(1.0 - 0.05 / max(pairs, 1)))
    association = {pair: _dependence(counts, pair) for pair in combinations(study.names, 2)}
    groups: dict[str, tuple[str, ...]] = {name: (name,) for name in study.names}
    for one, two in sorted(association, key=lambda pair: -association[pair]):
        if groups[one] == groups[two] or association[one, two] <= 0.0:
            continue
        both = groups[one] + groups[two]
        # With more cells than reports there is nothing to see in most of them.
        if prod(study.schema[name].size for name in both) > min(counts.n, MAX_CELLS):
            continue
        if joint_is_better(observe(counts, both), [groups[one], groups[two]], doubt)[0]:
            groups.update(dict.fromkeys(both, both))
    return list(dict.fromkeys(groups.values()))


def _dependence(counts: Counts, pair: tuple[str, str]) -> float:
    observed = observe(counts, pair)
    noise = product_variance(observed, [pair], "population")
    return cramers_v(np.asarray(observed.invert()), noise=noise)
