"""Rules about whole episodes: whom the reward pays best."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from actors.lint_bank import Earnings
from actors.lint_table import Measure
from actors.screen import RESOLUTION

SOUND = ("idm", "mobil", "prudent", "overtaker")
"""Drivers without a bad habit."""
PARKED = "slower"
"""The driver who does nothing but brake, to highway-env's lowest target speed."""


def return_measures(earnings: Earnings, discount: float) -> Iterator[Measure]:
    """Yield the measures of this module.

    Args:
        earnings: The program on the bank; its totals are finite.
        discount: Discount of the training.
    """
    returns = earnings.returns()
    yield from _order(earnings, returns)
    yield from _recklessness(earnings, returns)
    yield from _suicide(earnings, discount)
    yield from _parking(earnings, returns)


def _order(earnings: Earnings, returns: NDArray[np.float64]) -> Iterator[Measure]:
    taus = []
    for earned, fitness in zip(returns.mean(axis=-1), earnings.bank.fitness, strict=True):
        known = ~np.isnan(fitness)
        taus.append(float(kendalltau(earned[known], np.round(fitness[known] / RESOLUTION)).statistic))
    if any(map(math.isnan, taus)):
        return
    tau = sum(taus) / len(taus)
    best = earnings.bank.drivers[int(returns.mean(axis=(0, 2)).argmax())]
    evidence = {f"tau_road_{road}": each for road, each in enumerate(taus)}
    yield Measure(
        rule="return_order",
        value=tau,
        sentence=f"its returns order {len(earnings.bank.drivers)} drivers unlike their fitness (tau {tau:+.2f}); "
        f"it pays {best} best",
        evidence=evidence,
    )
    yield Measure(
        rule="negated",
        value=tau,
        sentence=f"its opposite would order the drivers better than it does (tau {tau:+.2f}): look for a wrong sign",
    )


def _recklessness(earnings: Earnings, returns: NDArray[np.float64]) -> Iterator[Measure]:
    crashed = earnings.bank.crashed
    pairs = crashed[:, :, None, :] & ~crashed[:, None, :, :]
    preferred = (returns[:, :, None, :] > returns[:, None, :, :]) & pairs
    count = int(pairs.sum())
    if count == 0:
        return
    share = int(preferred.sum()) / count
    yield Measure(
        rule="recklessness",
        value=share,
        sentence=f"in {share:.0%} of {count} pairs from one start the driver who crashes earns more than the one who "
        "does not",
    )


def _suicide(earnings: Earnings, discount: float) -> Iterator[Measure]:
    bank = earnings.bank
    crashes = bank.last & bank.crashed.reshape(-1)[bank.episode]
    if not crashes.any():
        return
    # What lies ahead of a driver at any moment, as training weighs it, is about what lies ahead at the start.
    future = earnings.returns(discount).mean(axis=-1)
    best = future.max(axis=1)
    road = bank.episode[crashes] // (len(bank.drivers) * bank.crashed.shape[-1])
    share = float((earnings.totals[crashes] > best[road]).mean())
    crash, ahead = float(earnings.totals[crashes].mean()), float(best.mean())
    yield Measure(
        rule="suicide",
        value=share,
        sentence=f"{share:.0%} of the crashes earn more at once than driving on does (on average {crash:.3g} against "
        f"{ahead:.3g} to come, discounted by {discount:g}): ending the episode pays",
        evidence={"crash_reward": crash, "best_future": ahead},
    )


def _parking(earnings: Earnings, returns: NDArray[np.float64]) -> Iterator[Measure]:
    bank = earnings.bank
    [parked] = bank.named(PARKED)
    survived = ~bank.crashed[:, parked, :]
    if not survived.any():
        return
    # Only where braking ends well: otherwise a reward for being alive would seem to ask for driving.
    by_driver = {name: float(returns[:, place][survived].mean()) for place, name in enumerate(bank.drivers)}
    best = max(SOUND, key=lambda name: by_driver[name])
    share = _share(by_driver[PARKED], by_driver[best])
    yield Measure(
        rule="parking",
        value=share,
        sentence=f"always braking earns {by_driver[PARKED]:.3g} an episode and {best}, the best of the sound drivers, "
        f"{by_driver[best]:.3g}: {min(share, 1.0):.0%} of it needs no driving",
        evidence={"parked_return": by_driver[PARKED], "best_sound_return": by_driver[best]},
    )


def _share(part: float, whole: float) -> float:
    """Return part over whole; for losses, whole over part, so that above 1 the part is always the better one."""
    if whole > 0.0:
        return max(part / whole, 0.0)
    if part >= 0.0:
        return 2.0
    return min(whole / part, 2.0)
