"""DP-FED-WAE: a Wasserstein autoencoder trained by votes of respondents on its parameters.

X. Jiang, X. Zhou and J. Grossklags, "Privacy-Preserving High-dimensional Data Collection with
Federated Generative Autoencoder", PoPETs 2022, with their SignDS for the updates (`_signds`).

**Budget.** A respondent takes part in one round, dealt out before anything is known, and spends
epsilon in it: `MAGNITUDE` of it on one bit about the size of the update, the rest on which
parameters are sent. Both are counted exactly in `_signds`. Nobody takes part twice.

**What is followed.** One record for each client; an encoder and a decoder with one hidden layer;
the loss is the cross entropy of every attribute plus a penalty that keeps the codes near the normal
prior; a client trains for some epochs on its record, and the update goes through SignDS: dimension
selection and the magnitude step. Rows are sampled from the prior through the decoder.

**Where the source is silent, or another way was taken.** The penalty is the maximum mean
discrepancy, of which one record alone gives the part between its own code and the prior's. It grows
with the number of attributes as the cross entropy does: a penalty that does not is outweighed by 68
attributes, the codes leave the prior, and what is sampled from the prior is nobody's. The encoder
adds the prior's noise to a code, else codes leave gaps that the prior falls into, and the margins
are wrong. The decoder's last layer starts at zero, so at the uniform table. The share of top
parameters differs from round to round: with one share for all, values whose gradient is just too
small are never voted down. The server's step falls to a twentieth, and the parameters of the last
rounds are averaged. Sizes, steps and penalty are ours, one setting for all data sets, tried on the
four of the paper at epsilon 600; choosing them by looking at the truth flatters the system, if at
all. The network is small (some 2,000 parameters on Adult) so that it trains on a CPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.errors import MissingExtraError, OptionError
from castell.linear.operators import Floats
from experiments.datasets.population import Population
from experiments.systems import Answer
from experiments.systems._signds import Magnitude, magnitude_bits, plan, signed_votes

# It takes so long that no experiment repeats it more often.
REPEATS = 2

HIDDEN, CODE = 16, 4
# About how many rounds, and clients in one at least: of fewer no majority of bits is clear.
ROUNDS, FEWEST = 200, 20
EPOCHS, LOCAL = 2, 0.02  # on a client's own record; longer training made it worse
PENALTY, PRIOR = 2.5, 16  # for each attribute; codes of the prior that one is compared with
# The shares of the parameters that are a client's top ones; a round has one of them.
SHARES = (0.02, 0.035, 0.05, 0.07, 0.12)
# The server's step for one attribute, on votes and on means of updates, and what is left of it in
# the last round. It falls as the root of the attributes: the more of them share a layer, the
# steeper the loss.
STEP, PLAIN_STEP, LAST = 2.0, 0.8, 0.05
SCALE = 0.75  # how far a step makes up for parameters that the budget leaves unsent
AVERAGED = 0.3  # the share of the rounds whose parameters are averaged
MAGNITUDE = 0.1  # the share of the budget
ROWS, AT_ONCE = 200_000, 50_000


def answers(
    people: Population, epsilon: float, seed: int, *, private: bool = True, passes: int = 1
) -> Answer:
    """Train on people who spend epsilon each, and count in rows sampled from what was learned.

    Not `private`, everybody's update is sent as it is; and in several `passes`, so often: what the
    network can learn at best.
    """
    if private and passes != 1:
        raise OptionError(f"{passes} passes", "whoever spends the budget takes part once")
    rows = train(people, epsilon if private else None, np.random.default_rng(seed), passes)
    learned = Population(people.name, people.schema, rows, people.note)
    return learned.table


@dataclass(frozen=True, eq=False)
class Network:
    """Encoder and decoder for attributes of some sizes, as functions of one vector of parameters.

    `updates(parameters, records, prior, noise)` gives what each client's record asks for, `decode`
    the logits of codes.
    """

    sizes: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]
    updates: Any
    decode: Any

    def start(self, generator: np.random.Generator) -> NDArray[np.float32]:
        """Small weights, no offsets, and nothing in the last layer."""
        parts = [
            generator.normal(size=s) / np.sqrt(s[0]) if len(s) == 2 else np.zeros(s)
            for s in self.shapes
        ]
        parts[-2][:] = 0.0
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

    def loss(vector: Any, record: Any, prior: Any, noise: Any) -> Any:
        w1, b1, w2, b2, *_ = layers(vector)
        code = jnp.tanh(record @ w1 + b1) @ w2 + b2 + noise
        logits = jnp.split(decode(vector, code), cuts)
        told = [jax.nn.log_softmax(part) for part in logits]
        wrong = -(record * jnp.concatenate(told)).sum()
        # The inverse multiquadratic kernel that Wasserstein autoencoders use.
        kernel = 2.0 * CODE / (2.0 * CODE + ((code - prior) ** 2).sum(axis=1))
        return wrong - 2.0 * PENALTY * len(sizes) * kernel.mean()

    def update(vector: Any, record: Any, prior: Any, noise: Any) -> Any:
        now = vector
        for _ in range(EPOCHS):
            now = now - LOCAL * jax.grad(loss)(now, record, prior, noise)
        return now - vector

    updates = jax.jit(jax.vmap(update, (None, 0, None, 0)))
    return Network(sizes, shapes, lambda *a: np.asarray(updates(*a)), jax.jit(decode))


def train(
    people: Population, epsilon: float | None, generator: np.random.Generator, passes: int = 1
) -> dict[str, Any]:
    """The rounds of the protocol, and rows sampled at the end; without epsilon no privacy."""
    names = people.schema.names
    net = network(people.schema.sizes)
    codes = np.stack([people.codes[name] for name in names], axis=1).astype(np.intp)
    vector = net.start(generator)
    # Who joins which round is dealt out beforehand; nobody joins twice in a pass.
    turns = np.concatenate([generator.permutation(people.n) for _ in range(passes)])
    fewest = 1 if epsilon is None else FEWEST
    clients = min(max(fewest, people.n // ROUNDS), people.n)
    rounds = len(turns) // clients
    size, shares = len(vector), np.resize(SHARES, rounds)  # in turn: drawn, some seeds lack one
    average, averaged = np.zeros(size), max(1, round(AVERAGED * rounds))
    magnitude = Magnitude()
    for k in range(rounds):
        who = turns[k * clients : (k + 1) * clients]
        prior = generator.standard_normal((PRIOR, CODE)).astype(np.float32)
        noise = generator.standard_normal((clients, CODE)).astype(np.float32)
        wanted = net.updates(vector, net.one_hot(codes[who]), prior, noise)
        falling = 1.0 - (1.0 - LAST) * k / rounds
        if epsilon is None:
            move = PLAIN_STEP / np.sqrt(len(names)) * wanted.mean(axis=0)
        else:
            how = plan(size, max(1, round(shares[k] * size)), (1.0 - MAGNITUDE) * epsilon)
            votes, sizes = signed_votes(wanted, how, generator)
            told = magnitude_bits(sizes < magnitude.asked, MAGNITUDE * epsilon, generator)
            magnitude = magnitude.after(told, MAGNITUDE * epsilon)
            step = STEP / np.sqrt(len(names)) * (how.top / how.sent) ** SCALE
            move = step * 2.0 * magnitude.estimate * votes / clients
        vector = (vector + falling * move / (LOCAL * EPOCHS)).astype(np.float32)
        average += vector * (k >= rounds - averaged) / averaged
    return dict(zip(names, _rows(net, average, generator), strict=True))


def _rows(net: Network, vector: Floats, generator: np.random.Generator) -> list[NDArray[np.intp]]:
    drawn = [_some_rows(net, vector, generator) for _ in range(ROWS // AT_ONCE)]
    return [np.concatenate(columns) for columns in zip(*drawn, strict=True)]


def _some_rows(
    net: Network, vector: Floats, generator: np.random.Generator
) -> list[NDArray[np.intp]]:
    normal = generator.standard_normal((AT_ONCE, CODE)).astype(np.float32)
    logits = np.asarray(net.decode(vector.astype(np.float32), normal))
    parts = np.split(logits, np.cumsum(net.sizes)[:-1], axis=1)
    return [(part + generator.gumbel(size=part.shape)).argmax(axis=1) for part in parts]
