"""What the paper claims, from its abstract to its conclusion, each with a verdict and a number.

A claim holds if it does with real noise under some reading of the print; the reading is named. Else
it may hold in the paper's own model, where nobody is randomised. Numbers come from the experiments
below, so a claim whose experiment was not run has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from experiments import claims_accuracy as accuracy
from experiments import claims_figures as figures
from experiments import claims_guarantees as guarantees
from experiments.catalogue import link
from experiments.verdict import HOLDS, MODEL, NOT, Results, Verdict

UNKNOWN = "not computed"


@dataclass(frozen=True)
class Claim:
    """`judge` gets the results of all experiments by name and noise; KeyError: not computed.

    `experiment` is where its numbers are, and `said` what the paper says.
    """

    where: str
    said: str
    experiment: str
    judge: Callable[[Results], Verdict]

    def verdict(self, results: Results) -> Verdict:
        try:
            return self.judge(results)
        except (KeyError, IndexError, TypeError, StopIteration):
            return Verdict(UNKNOWN, "")


def section(results: Results) -> str:
    """The claims as a table, and below it, folded, what else each verdict rests on."""
    found = [(claim, claim.verdict(results)) for claim in CLAIMS]
    rows = [
        f"| {claim.where} | {claim.said} | **{made.verdict}** | {made.number} "
        f"| {link(claim.experiment)} |"
        for claim, made in found
    ]
    head = "| where | the paper says | verdict | number | from |\n| --- | --- | --- | --- | --- |\n"
    how = (__doc__ or "").split("\n", 2)[2].strip()
    more = [
        f"- {claim.where}, {claim.said}: {made.details}." for claim, made in found if made.details
    ]
    folded = (
        "<details><summary>More numbers behind these verdicts</summary>\n\n"
        + "\n".join(more)
        + "\n\n</details>"
    )
    parts = ["## The paper's claims, one by one", how, _count([m for _, m in found])]
    return "\n\n".join([*parts, head + "\n".join(rows), *([folded] if more else [])])


def _count(verdicts: list[Verdict]) -> str:
    """How many hold, by how their verdicts begin."""
    kinds = Counter(_kind(made.verdict) for made in verdicts)
    told = [f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind]]
    return f"Of {len(verdicts)} claims {', '.join(told)}."


KINDS = (
    "hold at some budget",
    "hold in part",
    "hold in the rounding model only",
    "do not hold",
    "are not computed",
)


def _kind(verdict: str) -> str:
    if verdict == UNKNOWN:
        return KINDS[4]
    if verdict.startswith(MODEL):
        return KINDS[2]
    if verdict.startswith(NOT):
        return KINDS[3]
    # What holds at the kindest budget holds; what the model says at others takes nothing away.
    first = verdict.partition("; at 1 each")[0]
    partly = not first.startswith(HOLDS) or NOT in first or MODEL in first
    return KINDS[1] if partly else KINDS[0]


CLAIMS = (
    Claim("abstract, introduction", "truncated and hybrid average .0099 and .0155 on Adult",
          "table_comp", accuracy.means),
    Claim("abstract, introduction", ".03 and .04 of LoPub's error", "table_comp",
          accuracy.beside_lopub),
    Claim("abstract, conclusion", "cost linear in the number of attributes, storage d^w",
          "table_invcost", guarantees.cost),
    Claim("introduction", "RR-Ind-Joint is as accurate as RR-Joint", "table_comp",
          accuracy.as_the_joint),
    Claim("introduction, Th. otimes", "the aggregated matrix has one inverse, the product of the "
          "small ones", "table_invcost", guarantees.unique_inverse),
    Claim("introduction", "smaller errors than LoCop and WAE", "table_comp",
          accuracy.beside_others),
    Claim("introduction", ".007 s for a 6-way table, 2e-5 s an attribute more", "fig_time",
          guarantees.seconds),
    Claim("introduction, conclusion", "the error is bounded", "table_crossover",
          guarantees.upper_bounds),
    Claim("introduction, Th. ldp", "epsilon-LDP for an attribute, m epsilon in all", "fig_adw",
          guarantees.privacy),
    Claim("Table rrs", "accuracy: RR-Joint and RR-Ind-Joint for few attributes, RR-Independent for "
          "many, hybrid and truncated for both", "table_comp", accuracy.low_and_high),
    Claim("Table rrs", "efficiency: all but RR-Joint", "table_datasets", guarantees.efficiency),
    Claim("Table crossover", "n* = 121,000, epsilon* = .473, w* = 1.374", "table_crossover",
          figures.thresholds),
    Claim("Table datasets", "the sizes of the four data sets", "table_datasets", figures.domains),
    Claim("Table adult", "RR-Ind-Joint errs by 7.07e-10, 2.26e-9 and 6.28e-7", "table_adult",
          figures.printed_pairs),
    Claim("Table comp, Fig. lopub", "the proposed schemes are more accurate than RR-Independent",
          "table_comp", accuracy.better_than_independent),
    Claim("Fig. lopub", "RR-Ind-Joint errs by 4e-4 to 1e-2 up to four attributes", "table_comp",
          accuracy.few_attributes),
    Claim("Fig. lopub", "RR-Joint of more than three attributes is not feasible", "table_comp",
          accuracy.joint_is_feasible),
    Claim("Sec. results", "hybrid and truncated err by .0155 and .0099 for six attributes, .03 of "
          "LoPub", "table_comp", accuracy.six_attributes),
    Claim("Sec. results", "LoCop errs as LoPub does, WAE half as much, by .05 to .09",
          "table_comp", accuracy.rivals_order),
    Claim("Fig. omega", "AVD is linear in the cells of the table, .5 at 100,365", "fig_omega",
          figures.linear_in_cells),
    Claim("Fig. adw", "AVD of RR-Ind-Joint grows exponentially with the attributes", "fig_adw",
          figures.grows_with_attributes),
    Claim("Fig. adw", "RR-Ind-Joint is better up to 4, 8, 3 and 4 attributes", "fig_adw",
          figures.crossovers),
    Claim("Fig. adn", "RR-Ind-Joint is the best for n > 500 in most cases", "fig_adn",
          figures.respondents),
    Claim("Fig. ade", "RR-Ind-Joint's AVD falls with epsilon, RR-Independent's is stable",
          "fig_ade", figures.stable_budgets),
    Claim("Fig. ade", "RR-Ind-Joint is better except at epsilon .5 on two data sets", "fig_ade",
          figures.budgets),
    Claim("Fig. time", "naive takes longest, then reduced, then castell", "fig_time",
          guarantees.order_of_ways),
    Claim("Fig. 3d", "RR-Ind-Joint estimates the joint more accurately", "fig_3d",
          figures.picture),
    Claim("Fig. v", "MAE of RR-Independent is proportional to V, of RR-Ind-Joint it does not "
          "depend on it", "fig_v", figures.association),
    Claim("Fig. eps", "MAE of RR-Ind-Joint falls with epsilon, of RR-Independent it is constant",
          "fig_eps", figures.synthetic_budgets),
    Claim("Fig. n", "MAE of RR-Ind-Joint falls as 1/n for n > 1000", "fig_n", figures.one_over_n),
    Claim("Fig. d", "MAE of RR-Ind-Joint grows with d; of RR-Independent it goes as 1/√d", "fig_d",
          figures.values_of_attributes),
    Claim("Fig. age", "RR-Ind-Joint is close to the histogram", "fig_age", figures.ages),
    Claim("conclusion", "practical levels of accuracy on a wide range of data", "table_comp",
          accuracy.practical),
    Claim("conclusion", "the bounds' crossover points are no practical thresholds",
          "table_crossover", figures.no_practical_thresholds),
)  # fmt: skip
