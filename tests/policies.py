"""Policies for tests that need no training."""

import itertools

import numpy as np

from actors.policy import Policy, observation_scaling


def drawn_policy(seed: int, leaning: int = 4, strength: float = 0.5) -> Policy:
    """A network with random weights that leans towards one action, so that it reacts to traffic and gets on."""
    factor, offset = observation_scaling(True)
    rng = np.random.default_rng(seed)
    sizes = (25, 64, 64, 5)
    bias = np.zeros(5, np.float32)
    bias[leaning] = strength
    return Policy(
        factor=factor,
        offset=offset,
        weights=tuple((rng.normal(size=shape) / 8).astype(np.float32) for shape in itertools.pairwise(sizes)),
        biases=(np.zeros(64, np.float32), np.zeros(64, np.float32), bias),
    )
