"""Populations whose truth is exact: discrete Bayesian networks, and people drawn from them.

Eight networks of the bnlearn repository (Scutari; CC BY-SA 3.0), read out of the wheel of pgmpy
1.0.0, as later releases no longer ship them: asia (Lauritzen and Spiegelhalter 1988), cancer and
earthquake (Korb and Nicholson 2010), survey (Scutari and Denis 2014), sachs (Sachs et al. 2005),
child (Spiegelhalter and Cowell 1992), insurance (Binder et al. 1997), alarm (Beinlich et al. 1989).
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from castell import Attribute, Schema
from castell.linear.operators import Floats
from castell.study.schema import suggest
from experiments.datasets.bif import Node, read
from experiments.datasets.elimination import ancestors, joint
from experiments.datasets.population import DataError, Population
from experiments.datasets.source import File, Wheel, obtain


def _file(name: str, sha256: str) -> File:
    member = f"pgmpy/utils/example_models/{name}.bif.gz"
    return File(
        f"networks/{name}.bif", sha256, wheel=Wheel("pgmpy==1.0.0", member, gzip.decompress)
    )


FILES = {
    "asia": _file("asia", "9f770c96940dc4d860b581602120790ac538983b30b28d38631b8184dc7b5f89"),
    "cancer": _file("cancer", "05d4ea00a758450eed6fe68ea6de4da05ce0e3e919bd3e8ff7f0bc80a1db4b48"),
    "earthquake": _file(
        "earthquake", "74dd131e2c6437a39de17f2963d2d16fadd91e70450d1fc20501df05e8dc4f2e"
    ),
    "survey": _file("survey", "3698ccc0f1f74b9f935617d91989e4cdb39edb5360b558216af64047fc88b3b0"),
    "sachs": _file("sachs", "b7bd3931192f9e529f0f88bba15fca6cc61ba3c805d5c8ae57eba57ed3b332ec"),
    "child": _file("child", "432c22e661cd0e8235c8d95599ac22ccc261002459f5c4e6e7235b057908fe6e"),
    "insurance": _file(
        "insurance", "39f9e706e9208e720a55a98b6811188b33a7292335a53373a9343a0c7065dab4"
    ),
    "alarm": _file("alarm", "701e6c561f71b55669070c29614f0724b761289aa2c4a35bcc97b638ee881fa2"),
}

# What is asked of networks wider than a questionnaire: ten variables each, all joined by arcs
# among themselves, so that none is answered for nothing. The rest is there, but not asked.
ASKED = {
    # The disease, its cause, and what it does to heart and lungs.
    "child": (
        "BirthAsphyxia", "Disease", "Age", "Sick", "LVH", "CardiacMixing", "LungParench",
        "LungFlow", "HypoxiaInO2", "ChestXray",
    ),
    # The driver, the car, and the accident.
    "insurance": (
        "Age", "SocioEcon", "GoodStudent", "RiskAversion", "HomeBase", "MakeModel",
        "VehicleYear", "DrivingSkill", "DrivQuality", "Accident",
    ),
    # From the breathing tube to the blood pressure.
    "alarm": (
        "INTUBATION", "VENTTUBE", "VENTLUNG", "VENTALV", "ARTCO2", "TPR", "CATECHOL", "HR",
        "CO", "BP",
    ),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Network:
    """A Bayesian network, of which the attributes in `schema` are asked."""

    name: str
    schema: Schema
    nodes: tuple[Node, ...]
    note: str

    def table(self, names: Sequence[str]) -> Floats:
        """The exact joint distribution of some attributes."""
        return joint(self.nodes, [attribute.name for attribute in self.schema.select(names)])

    def select(self, names: Sequence[str]) -> Network:
        """The same people, some of the questions."""
        return replace(self, schema=Schema(self.schema.select(names)))

    def sample(self, n: int, generator: np.random.Generator) -> Population:
        """n people drawn independently, each variable after its parents."""
        codes: dict[str, NDArray[np.intp]] = {}
        for node in ancestors(self.nodes, self.schema.names):
            codes[node.name] = _sample_node(node, codes, generator.random(n))
        asked = {name: codes[name] for name in self.schema.names}
        return Population(self.name, self.schema, asked, f"{n:,} drawn from {self.note}")

    def respondents(self, n: int, generator: np.random.Generator) -> Population:
        """People as every `Truth` has them."""
        return self.sample(n, generator)


def _sample_node(
    node: Node, codes: dict[str, NDArray[np.intp]], uniform: Floats
) -> NDArray[np.intp]:
    """A value for everybody: how many steps of its distribution lie at or below their number."""
    steps = node.table.cumsum(axis=-1)
    # Divided, so that the last step is 1 and a value of probability 0 at the end is never drawn.
    steps = (steps / steps[..., -1:])[..., :-1]
    theirs = steps[tuple(codes[parent] for parent in node.parents)]
    return np.asarray((theirs <= uniform[:, None]).sum(axis=-1), dtype=np.intp)


def from_text(name: str, text: str) -> Network:
    """A network from its BIF, every variable asked, parents before their children."""
    nodes = read(text)
    schema = Schema([Attribute(node.name, node.values) for node in nodes])
    return Network(name, schema, nodes, f"the Bayesian network {name!r}")


@cache
def whole(name: str) -> Network:
    """A network of the repository, every variable asked."""
    if name not in FILES:
        raise DataError(f"there is no network {name!r}", suggest(name, FILES))
    return from_text(name, obtain(FILES[name]).decode())


def network(name: str) -> Network:
    """A network as a questionnaire: a wide one asks only the attributes listed for it."""
    found = whole(name)
    return found.select(ASKED[name]) if name in ASKED else found
