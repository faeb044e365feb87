"""RR-Ind-Joint: the joint table by taking the Kronecker product of the channels back out.

Unbiased, for any set of attributes; the price is noise that grows with every attribute. On a
design with one joint block this is RR-Joint. Paper: Algorithm 3.
"""

from __future__ import annotations

from dataclasses import replace

from castell.counting import Counts, studies_of
from castell.inference.hadamard_coefficients import coefficient_model
from castell.inference.method import EVERYBODY, PARITY, SETS, WHOLE, Fitted, Reads, kinds_of
from castell.inference.products import product_model
from castell.inference.sampling_design import SampleDesign
from castell.inference.weighted_products import weighted_model

READS = Reads(
    drawn=True, sets=True, whole=True, parity=True, options={"target": (EVERYBODY, SETS, WHOLE)}
)


def fit(counts: Counts, *, target: str = "population") -> Fitted:
    """`target` says whom the intervals speak of: the population the respondents were sampled from,
    or the 'respondents' themselves, in which case only the randomisation is uncertain. Who drew a
    block is a sample of them, so where blocks are drawn there is no such choice."""
    if PARITY in kinds_of(*studies_of(counts)):
        return replace(coefficient_model(counts), unbiased=True)
    return replace(product_model(counts, [counts.study.names], target), unbiased=True)


def weighted(counts: Counts, design: SampleDesign) -> Fitted:
    """The same with weights, and errors by the design of the sample."""
    return replace(weighted_model(counts, [counts.study.names], design), unbiased=True)
