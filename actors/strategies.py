"""How programs are proposed: what each strategy sees of the search, who writes, and what is screened.

| strategy | sees | writes | screened by |
|---|---|---|---|
| `evolve` | all that was learned | edits of the best; an LLM told of them | baseline drivers, trained candidates |
| `best-of-n` | which programs there were, nothing else | as in the first generation | baseline drivers |
| `eureka` | the single best so far | edits of it; an LLM that reflects upon it | nothing |
| `random` | nothing | sums of random parts | nothing |

All pass the same language and the same gate, and cost the same trials. `eureka` is the greedy scheme of Ma et al. 2023
(Eureka: human-level reward design via coding large language models): K samples, then K rewritings of the best one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from actors.archive import Archive
from actors.designer import LLMDesigner
from actors.evolver import MIX, Evolver
from actors.messages import Proposal
from actors.plan import SearchPlan, Strategy
from actors.prompts import reflected
from actors.protocols import Ask, DesignBrief, Designer
from search_spaces.random_programs import random_program


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """How a strategy uses the screen.

    Attributes:
        used: Whether more programs are proposed than trained, and the screen chooses.
        taught: Whether the policies of trained candidates are shown to it: that is feedback.
    """

    used: bool
    taught: bool


SCREENING: Mapping[Strategy, Screening] = MappingProxyType(
    {
        "evolve": Screening(used=True, taught=True),
        "best-of-n": Screening(used=True, taught=False),
        "eureka": Screening(used=False, taught=False),
        "random": Screening(used=False, taught=False),
    }
)

_SINGLE = {move: share / (1.0 - MIX["crossover"]) for move, share in MIX.items() if move != "crossover"}


def designers(plan: SearchPlan, ask: Ask | None) -> tuple[Designer, Designer]:
    """Return who proposes, and who fills the slots that it leaves empty: the same without a model.

    Args:
        plan: The search.
        ask: Asks the model; None: there is none.
    """
    starts = (*plan.start_from, *(each.source for each in plan.imported))
    match plan.strategy:
        case "evolve":
            own: Designer = Evolver(starts)
            model: Designer | None = LLMDesigner(plan, ask) if ask else None
        case "best-of-n":
            own = Sighted(Evolver(starts), without_feedback)
            model = Sighted(LLMDesigner(plan, ask), without_feedback) if ask else None
        case "eureka":
            own = Sighted(Evolver(starts, mix=_SINGLE), best_alone)
            model = Sighted(LLMDesigner(plan, ask, reflected), best_alone) if ask else None
        case "random":
            own, model = RandomWriter(), None
    return model or own, own


class Sighted:
    """A designer that is shown a part of the archive.

    Args:
        designer: Who proposes.
        view: Takes an archive and returns what the designer is shown of it.
    """

    def __init__(self, designer: Designer, view: Callable[[Archive], Archive]) -> None:
        self._designer = designer
        self._view = view

    def propose(self, brief: DesignBrief) -> Sequence[Proposal]:
        """See `protocols.Designer`."""
        return self._designer.propose(replace(brief, archive=self._view(brief.archive)))


class RandomWriter:
    """Proposes random programs, whatever was learned; see `protocols.Designer`."""

    def propose(self, brief: DesignBrief) -> Sequence[Proposal]:
        """See `protocols.Designer`."""
        rng = np.random.default_rng(brief.seed)
        sources = [random_program(rng).source for _ in range(brief.count)]
        return [Proposal(source=source, origin="evolver", move="random") for source in sources]


def without_feedback(archive: Archive) -> Archive:
    """Return which programs there were, and nothing that came of them."""
    return Archive(candidates=archive.candidates)


def best_alone(archive: Archive) -> Archive:
    """Return which programs there were, and what came of the best candidate and of the baselines."""
    kept = {entry.candidate.id for entry in archive.top(1)}
    kept |= {name for name, candidate in archive.candidates.items() if candidate.role == "baseline"}
    return replace(
        archive,
        outcomes={key: each for key, each in archive.outcomes.items() if key in kept},
        fitnesses={key: each for key, each in archive.fitnesses.items() if key in kept},
        critiques={key: each for key, each in archive.critiques.items() if key in kept},
    )
