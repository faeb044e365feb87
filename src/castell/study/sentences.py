"""What a study costs its respondents, in plain words. No sentence but follows from the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

from castell.study.design import Block, Design
from castell.study.exposure import Exposure, Together
from castell.study.odds_text import factor, less_than_once_in, of_two, often, out_of, share, spread
from castell.study.promise import Promise
from castell.study.schema import Schema

# A guess that is wrong less than once in ten is called what it is.
WEAK = 0.9


def likeliest(exposures: Sequence[Exposure]) -> Exposure:
    """The attribute that is guessed right most often, if it is asked."""
    return max(exposures, key=lambda e: e.best_guess)


def most_exposed(exposures: Sequence[Exposure]) -> Exposure:
    """The attribute that the worst of all reports gives away most surely."""
    return max(exposures, key=lambda e: e.worst_guess)


def guesses(exposures: Sequence[Exposure], whole: Together, design: Design) -> list[str]:
    """How well one answer is guessed: of the person who is asked first."""
    one, worst = likeliest(exposures), most_exposed(exposures)
    coarse = any(design.blocks[i].is_coarse for i in design.holders(one.name))
    with_it = "what is asked with it" + " and how coarsely" * coarse
    right = share(one.best_guess)
    if not all(e.exact for e in exposures):
        head = f"Whoever sees the report guesses no answer right more than {right} of the time."
        lines = [head]
    else:
        lines = [_best_guess(one, len(exposures) > 1, whole.drawn, with_it)]
    if whole.drawn:
        asked = f"{out_of(one.asked, one.draws)} respondents. Over all of them, asked or not,"
        if one.chance_drawn == 1.0:
            asked = f"everybody. On average over {with_it},"
        right_over_all = share(one.best_guess_over_draw)
        lines.append(f"It is asked of {asked} it is guessed right {right_over_all} of the time.")
    if worst is not one or share(worst.worst_guess) != right:
        lines.append(
            f"At worst, after the report that gives most away, {worst.name!r} is guessed right "
            f"{share(worst.worst_guess)} of the time."
        )
    return lines


def _best_guess(one: Exposure, several: bool, drawn: bool, with_it: str) -> str:
    easiest = f"The answer most easily guessed is {one.name!r}: " if several else ""
    asked = "if a respondent is asked about it, " if drawn else ""
    it = "it" if several else repr(one.name)
    text = (
        f"{easiest}{asked}whoever sees the report guesses {it} right {share(one.best_guess)} of "
        f"the time, instead of {share(one.chance)} without the report."
    )
    ends = spread(one.least_guess, one.best_guess)
    if ends != share(one.best_guess):
        text += f" Depending on {with_it}, it is {ends}."
    return text[0].upper() + text[1:]


def guesses_at_all(exposures: Sequence[Exposure], whole: Together, design: Design) -> list[str]:
    """How well all answers at once are guessed."""
    lines = []
    if whole.drawn and len(whole.names) > 1:
        # The same questions may be asked in several ways, of which this is the worst.
        ways = [block for block in design.blocks if set(block.names) == set(whole.names)]
        most = "up to " if len(ways) > 1 else ""
        listed = ", ".join(map(repr, whole.names[:-1])) + f" and {whole.names[-1]!r}"
        lines.append(
            f"If {listed} are asked, {_every(len(whole.names))} answers at once are guessed right "
            f"{most}{often(whole.guess)}, instead of {often(whole.chance)} without the report. No "
            "other set of questions that may be drawn is guessed right more often."
        )
    if len(exposures) > 1:
        asked = ", asked or not," if whole.drawn else ""
        most = "" if all(e.exact for e in exposures) else "at most "
        lines.append(
            f"{_every(len(exposures)).capitalize()} answers at once{asked} are guessed right "
            f"{most}{often(whole.guess_over_draw)}, instead of {often(whole.chance_of_all)} "
            "without the report."
        )
    return lines


def groups(design: Design) -> list[str]:
    """What blocks that ask coarsely report."""
    counts = [
        len(coarse.leaves)
        for coarse in (block.channel.coarse for block in design.blocks)
        if coarse is not None
    ]
    if not counts:
        return []
    some, every = len(counts), len(design.hidden)
    which = "The questions are"
    if some < every:
        which = f"{some} of {every} sets of questions {'is' if some == 1 else 'are'}"
    many = " to ".join(dict.fromkeys([str(min(counts)), str(max(counts))]))
    return [
        f"{which} asked coarsely: the report says, through chance, which of {many} groups of "
        "answers a respondent's are in. It does not tell the answers of one group apart."
    ]


def skip_sentences(schema: Schema) -> list[str]:
    """That not answering shows, where it does."""
    skipped = [attribute.name for attribute in schema if attribute.may_skip]
    if not skipped:
        return []
    return [
        f"Whoever does not answer {', '.join(map(repr, skipped))} is seen not to, in the report: "
        "skipping costs no epsilon and is not hidden. All that is said of guesses is about those "
        "who answer. If people with something to hide skip more often, skipping tells of it."
    ]


def stages(promise: Promise | None) -> list[str]:
    """That earlier reports decide how later respondents are asked."""
    if promise is None:
        return []
    head = "How later respondents are asked will depend on the reports so far"
    if promise.stage > 1:
        head = f"This is stage {promise.stage}: how it asks depends on earlier reports"
    return [
        f"{head}, which are randomised. No stage costs a respondent more than epsilon = "
        f"{promise.epsilon:f}; every device checks that by the published weights, and reports once "
        "whatever the stage."
    ]


def _every(count: int) -> str:
    return "both" if count == 2 else f"all {count}"


def limits(exposures: Sequence[Exposure], epsilon: float) -> list[str]:
    """What holds for everybody, whatever they know, and where it holds little back."""
    counted = (
        "Guesses are counted as if all answers were equally likely beforehand. Whoever knows more "
        "beforehand can guess better."
    )
    if isinf(epsilon):
        open_ones = ", ".join(repr(e.name) for e in exposures if isinf(e.epsilon))
        return [
            counted,
            f"Some reports give the answer to {open_ones} away: epsilon is infinite. This study "
            "reads what was collected on paper; nobody can be asked by it.",
        ]
    lines = [
        counted,
        f"One respondent spends epsilon = {epsilon:.6g} in all: whatever is sent, it changes the "
        f"odds between any two possible sets of answers by a factor of at most {factor(epsilon)}. "
        f"Of two that are equally likely beforehand, the right one is guessed at worst "
        f"{share(of_two(epsilon))} of the time.",
    ]
    worst = most_exposed(exposures)
    if worst.worst_guess > WEAK:
        rare = less_than_once_in(1.0 - worst.worst_guess)
        lines.append(
            f"This is weak protection: at worst the guess at {worst.name!r} is wrong less than "
            f"once in {rare:,} times."
        )
    return lines


def forgery(exposures: Sequence[Exposure], whole: Together, design: Design) -> str:
    """What one forged report can do."""
    heavy = max(exposures, key=lambda e: e.influence)
    joint = "; in a joint table it can count for more" if len(exposures) > 1 else ""
    # Of a draw a joint table may rest on the reports of one block alone: more than the product.
    apart = len(design.hidden) > 1 and all(_alone(block) for block in design.hidden)
    if apart and not whole.drawn:
        joint = "; in a joint table these numbers multiply"
    # Of a block that asks coarsely only the groups are told apart.
    fine = [i for i in design.holders(heavy.name) if not design.blocks[i].is_coarse]
    table = repr(heavy.name) if fine else f"the groups that {heavy.name!r} is asked in"
    return (
        f"One forged report can count like {heavy.influence:.1f} honest ones in the table of "
        f"{table}{joint}."
    )


def _alone(block: Block) -> bool:
    """Whether a block is one attribute that a table is inverted for."""
    return len(block.names) == 1 and block.channel.has_matrix


def rows(exposures: Sequence[Exposure], drawn: bool) -> list[list[str]]:
    """The numbers of each attribute, under their titles."""
    guess = ["guess if asked", "over the draw"] if drawn else ["best guess"]
    varies = any(share(e.worst_guess) != share(e.best_guess) for e in exposures)
    shared = any(len(e.block) > 1 for e in exposures)
    titles = ["attribute", "values", "epsilon", *guess]
    titles += ["at worst"] * varies + ["by chance"] + ["asked"] * drawn + ["forged report"]
    lines = [titles + ["randomised with"] * shared]
    for e in exposures:
        most = "" if e.exact else "at most "
        line = [e.name, str(e.size), f"{e.epsilon:.4f}"]
        line += [most + spread(e.least_guess, e.best_guess)]
        line += [share(e.best_guess_over_draw)] * drawn + [share(e.worst_guess)] * varies
        line += [share(e.chance)] + [out_of(e.asked, e.draws)] * drawn
        line += [f"x {e.influence:.2f}"]
        line += [", ".join(name for name in e.block if name != e.name)] * shared
        lines.append(line)
    return lines


def align_columns(lines: Sequence[Sequence[str]]) -> list[str]:
    """Rows of words in columns, names to the left."""
    columns = []
    for column in zip(*lines, strict=True):
        width = max(map(len, column))
        names = column[0] in {"attribute", "randomised with"}
        columns.append([word.ljust(width) if names else word.rjust(width) for word in column])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
