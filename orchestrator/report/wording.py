"""How numbers and names are put into words, the same everywhere in a report."""

from collections.abc import Mapping, Sequence

from actors.difference import Difference
from actors.finals import NATIVE, TUNED
from actors.messages import Candidate, Fitness, Origin

NAMES = {
    "slower": "SLOWER",
    "faster": "FASTER",
    "idle": "IDLE",
    "left": "LEFT",
    "right": "RIGHT",
    "random": "random actions",
    "idm": "IDM",
    "mobil": "IDM + MOBIL",
    NATIVE: "native-reward PPO",
    TUNED: "hand-tuned PPO",
}
"""What baselines are called; candidates are called by their id."""


_AUTHORS: Mapping[Origin, str] = {
    "seed": "the project, as a starting program",
    "user": "the user",
    "evolver": "evolution",
    "llm": "a language model",
    "imported": "another search, as a starting program",
    "baseline": "the project, as a baseline",
}


def named(name: str) -> str:
    """Return what a candidate or baseline is called."""
    return NAMES.get(name, name)


def rival(name: str) -> str:
    """Return what someone is called whom the champion was compared with: a candidate is the best starting program."""
    return NAMES.get(name, f"the starting program {name}")


def author(candidate: Candidate) -> str:
    """Return who wrote a program."""
    how = f" ({candidate.move})" if candidate.origin == "evolver" and candidate.move else ""
    return _AUTHORS[candidate.origin] + how


def fitness_text(fitness: Fitness | None) -> str:
    """Return a fitness with its interval, such as `0.512 (0.480 to 0.551)`."""
    if fitness is None:
        return "not judged"
    between = interval_text(fitness.low, fitness.high)
    return f"{fitness.value:.3f}" + (f" ({between})" if between else "")


def interval_text(low: float | None, high: float | None, form: str = ".3f") -> str:
    """Return an interval such as `0.480 to 0.551`; empty where there is none."""
    return "" if low is None or high is None else f"{low:{form}} to {high:{form}}"


def difference_text(difference: Difference, form: str = "+.3f") -> str:
    """Return a difference with its interval, such as `+0.210 (+0.150 to +0.270)`."""
    return f"{difference.value:{form}} ({interval_text(difference.low, difference.high, form)})"


def listed(names: Sequence[str]) -> str:
    """Return names as an enumeration: `a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: `1 episode`, `3 episodes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def steps_text(steps: int) -> str:
    """Return environment steps such as `300 000`, with narrow spaces."""
    return f"{steps:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
