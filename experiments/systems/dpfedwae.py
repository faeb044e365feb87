"""DP-FED-WAE: a Wasserstein autoencoder trained by votes of respondents on its parameters.

X. Jiang, X. Zhou and J. Grossklags, "Privacy-Preserving High-dimensional Data Collection with
Federated Generative Autoencoder", PoPETs 2022, with SignDS for the updates.

**Budget.** A respondent takes part in `TIMES` rounds (1), and spends epsilon / TIMES in each, so
epsilon in all, by plain composition; rounds are dealt out before anything is known. In a round a
respondent sends a sign and `SENT` indices of parameters. The sign is a fair coin, tossed before the
data is looked at, and costs nothing. The indices are a set J drawn by the exponential mechanism:
Pr[J] is proportional to e^eps if at least `NEEDED` of J are among the respondent's top parameters,
and to 1 if not. How many of the top parameters J holds is drawn first, from counts of such sets,
then J uniformly among them. The normaliser depends on the number of top parameters, not on which
they are, so any J is at most e^eps times likelier for one record than for another: eps-LDP exactly.
No magnitude is sent (the original may spend some budget on one), so all of it goes to the indices.

**What is followed.** One record for each client; an encoder and a decoder with one hidden layer;
the loss is the cross entropy of every attribute plus a penalty that keeps the codes near the normal
prior; a client's update is ranked by sign and size, and SignDS picks dimensions to send; the server
adds up signs. Rows are sampled from the prior through the decoder, as many as respondents.

**Where the source is silent, or another way was taken.** The penalty is the maximum mean
discrepancy, of which one record alone gives the part between its own code and the prior's. The
sizes of the layers, the share of top parameters, the number of rounds and the steps are ours, tried
on Adult at totals of 4 and 8; choosing them by looking at the truth flatters the system, if at all.
The network is small (some 2,000 parameters on Adult) so that it trains in seconds on a CPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.errors import MissingExtraError
from castell.linear.operators import Floats
from experiments.datasets.population import Population
from experiments.systems import Answer

# It takes so long that no experiment repeats it more often.
REPEATS = 2

HIDDEN, CODE = 12, 4
ROUNDS, TIMES = 150, 1  # about how many rounds, and how many of them a respondent joins
FEWEST, MOST = 32, 512  # clients in a round: powers of two, so that little is compiled anew
TOP = 0.05  # the share of the parameters that are a client's top ones
SENT, NEEDED = 4, 2
STEP, PENALTY, PRIOR = 1.5, 1.0, 16


def answers(people: Population, epsilon: float, seed: int) -> Answer:
    """Train on people who spend epsilon each, and count in rows sampled from what was learned."""
    rows = train(people, epsilon, np.random.default_rng(seed))
    learned = Population(people.name, people.schema, rows, people.note)
    return learned.table


@dataclass(frozen=True, eq=False)
class Network:
    """Encoder and decoder for attributes of some sizes, as functions of one vector of parameters.

    `updates(parameters, records, prior)` gives what each client's record asks for, `decode` the
    logits of codes.
    """

    sizes: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]
    updates: Any
    decode: Any

    def start(self, generator: np.random.Generator) -> NDArray[np.float32]:
        """Small weights, no offsets."""
        parts = [
            generator.normal(size=s) / np.sqrt(s[0]) if len(s) == 2 else np.zeros(s)
            for s in self.shapes
        ]
        return np.concatenate([part.ravel() for part in parts]).astype(np.float32)

    def one_hot(self, codes: NDArray[np.intp]) -> NDArray[np.float32]:
        eyes = [np.eye(d, dtype=np.float32)[codes[:, j]] for j, d in enumerate(self.sizes)]
        return np.concatenate(eyes, axis=1)


@lru_cache(maxsize=8)
def network(sizes: tuple[int, ...]) -> Network:
    """The network for some attributes; compiled once."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        raise MissingExtraError("jax is not installed", "pip install 'castell[wae]'") from None
    wide = sum(sizes)
    there = ((wide, HIDDEN), (HIDDEN,), (HIDDEN, CODE), (CODE,))
    shapes = (*there, (CODE, HIDDEN), (HIDDEN,), (HIDDEN, wide), (wide,))
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    cuts = np.cumsum(sizes)[:-1]

    def layers(vector: Any) -> list[Any]:
        parts = jnp.split(vector, ends)
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def decode(vector: Any, code: Any) -> Any:
        *_, w1, b1, w2, b2 = layers(vector)
        return jnp.tanh(code @ w1 + b1) @ w2 + b2

    def loss(vector: Any, record: Any, prior: Any) -> Any:
        w1, b1, w2, b2, *_ = layers(vector)
        code = jnp.tanh(record @ w1 + b1) @ w2 + b2
        logits = jnp.split(decode(vector, code), cuts)
        told = [jax.nn.log_softmax(part) for part in logits]
        wrong = -(record * jnp.concatenate(told)).sum()
        # The inverse multiquadratic kernel that Wasserstein autoencoders use.
        kernel = 2.0 * CODE / (2.0 * CODE + ((code - prior) ** 2).sum(axis=1))
        return wrong - 2.0 * PENALTY * kernel.mean()

    gradients = jax.jit(jax.vmap(jax.grad(loss), (None, 0, None)))
    return Network(sizes, shapes, lambda *a: -np.asarray(gradients(*a)), jax.jit(decode))


def train(people: Population, epsilon: float, generator: np.random.Generator) -> dict[str, Any]:
    """The rounds of the protocol, and rows sampled at the end."""
    names = people.schema.names
    net = network(people.schema.sizes)
    codes = np.stack([people.codes[name] for name in names], axis=1).astype(np.intp)
    vector = net.start(generator)
    # Who joins which round is dealt out beforehand; nobody joins more often than `TIMES`.
    turns = np.concatenate([generator.permutation(people.n) for _ in range(TIMES)])
    clients = FEWEST
    while clients < min(MOST, len(turns) // ROUNDS):
        clients *= 2
    clients = min(clients, len(turns))
    rounds = len(turns) // clients
    for k in range(rounds):
        who = turns[k * clients : (k + 1) * clients]
        prior = generator.standard_normal((PRIOR, CODE)).astype(np.float32)
        wanted = net.updates(vector, net.one_hot(codes[who]), prior)
        votes = signed_votes(wanted, epsilon / TIMES, generator)
        step = STEP * (1.0 - k / rounds) / np.sqrt(clients)
        vector = (vector + step * votes).astype(np.float32)
    normal = generator.standard_normal((people.n, CODE)).astype(np.float32)
    logits = np.split(np.asarray(net.decode(vector, normal)), np.cumsum(net.sizes)[:-1], axis=1)
    rows = [(part + generator.gumbel(size=part.shape)).argmax(axis=1) for part in logits]
    return dict(zip(names, rows, strict=True))


def signed_votes(wanted: Any, epsilon: float, generator: np.random.Generator) -> Floats:
    """What the server adds up: for each parameter the signs of the clients that named it."""
    clients, size = wanted.shape
    top = max(SENT, round(TOP * size))
    signs = generator.choice([-1.0, 1.0], clients)
    order = np.argpartition(-wanted * signs[:, None], top, axis=1)
    inside = _some(order[:, :top], generator)
    outside = _some(order[:, top:], generator)
    held = generator.choice(SENT + 1, clients, p=chances(size, top, epsilon))[:, None]
    sent = np.where(np.arange(SENT) < held, inside, outside)
    return np.bincount(sent.ravel(), np.repeat(signs, SENT), minlength=size).astype(np.float64)


def chances(size: int, top: int, epsilon: float) -> Floats:
    """How likely a set of `SENT` parameters is to hold 0, 1, 2, ... of a client's top ones."""
    # So large an epsilon that its exponential is no float hides nothing anyway.
    much = exp(min(epsilon, 600.0))
    weights = [
        comb(top, held) * comb(size - top, SENT - held) * (much if held >= NEEDED else 1.0)
        for held in range(SENT + 1)
    ]
    return np.array(weights) / sum(weights)


def _some(indices: NDArray[np.intp], generator: np.random.Generator) -> NDArray[np.intp]:
    """`SENT` different ones of each row, uniformly: places drawn until none repeats."""
    rows, wide = indices.shape
    places = generator.integers(0, wide, (rows, SENT))
    while True:
        ordered = np.sort(places, axis=1)
        twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if not twice.any():
            return np.take_along_axis(indices, places, axis=1)
        places[twice] = generator.integers(0, wide, (int(twice.sum()), SENT))
