"""What the finals say: who stands where after a stage, what of it was confirmed, what each component is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from actors.difference import Difference
from actors.message import Message
from actors.messages import Fitness

Stage = Literal["qualifying", "deciding", "confirming", "ablation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRow(Message):
    """One finalist, or what it is compared with, after a stage.

    Attributes:
        of: Candidate id or baseline.
        fitness: Fitness over the training seeds that were measured, with its interval; None when none was: it is out.
        bounds: Lower and upper end of an interval of that fitness whose spread over training seeds is the one of all
            rows of the stage together, which a few seeds of one's own tell badly: what ranks and what overlaps. Empty
            for who is out.
        replicates: How many training seeds were measured.
        failed: How many broke instead.
        reason: Why the last of those broke; empty when none did.
    """

    of: str
    fitness: Fitness | None
    bounds: tuple[float, ...] = ()
    replicates: int
    failed: int = 0
    reason: str = ""

    @property
    def seeds(self) -> int:
        """Training seeds in all."""
        return self.replicates + self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Message):
    """Who stands where after a stage.

    Attributes:
        stage: The stage.
        rows: Best first, by the lower end of `bounds`; those with a broken training after those without.
    """

    stage: Stage
    rows: tuple[StandingRow, ...]

    def row(self, of: str) -> StandingRow | None:
        """Return the row of a finalist; None where it has none."""
        return next((each for each in self.rows if each.of == of), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation(Message):
    """What is claimed of the champion: measured on episodes that selected nobody, over training seeds of their own.

    Attributes:
        champion: Candidate id.
        episodes: Report episodes of each training seed.
        replicates: Training seeds of the champion that were measured.
        steps: Environment steps of each of these trainings.
        selection: Its fitness when it was selected; None when it had none.
        finals: Its fitness in the stage that made it champion.
        fitness: Its fitness on the report episodes, with its interval; None when all its trainings broke.
        shrinkage_of_selection: `selection` less `fitness`: what selecting the best of many had added by luck.
        shrinkage_of_finals: `finals` less `fitness`.
        differences: Its fitness less that of each it is compared with, by name, paired over episodes.
        native_returns: The same for highway-env's own return.
        seeds_digest: `scenarios.seed_sets_digest()`: figures under another digest met other traffic.
    """

    champion: str
    episodes: int
    replicates: int
    steps: int
    selection: float | None
    finals: float | None
    fitness: Fitness | None
    shrinkage_of_selection: float | None
    shrinkage_of_finals: float | None
    differences: Mapping[str, Difference] = field(default_factory=dict)
    native_returns: Mapping[str, Difference] = field(default_factory=dict)
    seeds_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationRow(Message):
    """What the champion is without one of its components.

    Attributes:
        component: The component.
        fitness: Fitness without it; None when that was not trained or not measured.
        difference: That less the fitness of the whole program after the same training, paired over episodes.
        reason: Why there is no figure; empty otherwise.
    """

    component: str
    fitness: Fitness | None = None
    difference: Difference | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation(Message):
    """The champion without each of its components, one training of the same seed each.

    Attributes:
        champion: Candidate id.
        steps: Environment steps of each training.
        rows: In the order of the program.
    """

    champion: str
    steps: int
    rows: tuple[AblationRow, ...]


Result = Standing | Confirmation | Ablation
"""What the finals write down."""
