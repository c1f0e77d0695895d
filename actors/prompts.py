"""Prompts, as pure functions of what is known: the same search always asks the same questions.

The texts are `prompts/*.md`; what is filled in comes from `prompt_parts.py`. A design prompt has a bound in tokens:
refusals, bad examples and lesser elites are left out, in this order, until it fits.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from actors import prompt_parts as parts
from actors.archive import Archive, Baseline
from actors.chat import ChatMessage
from actors.exchanges import estimate_tokens
from actors.fitness import CONSTANTS
from actors.messages import ArchiveEntry, Refusal
from actors.plan import SearchPlan
from actors.untrusted import fenced, one_line, quoted
from search_spaces.limits import MAX_CHARACTERS
from search_spaces.program import Violation

_STEPS = (
    (4, 2, 2, 8),
    (3, 2, 1, 6),
    (3, 1, 1, 4),
    (2, 1, 0, 3),
    (2, 0, 0, 2),
    (1, 0, 0, 1),
    (0, 0, 0, 1),
    (0, 0, 0, 0),
)
"""How many elites, bad ones, failed ones and refusals are shown, from most to least."""
_TOP, _DIVERSE, _BAD = 3, 4, 2
"""How many of the best, of good ones that drive differently, and of bad ones are chosen from an archive."""
_RANKS = (0, 0, 1, 0, 2)
"""Ranks of the elites that are built on, in turn."""
_KINDS = {"(fresh)": 0, "(improve)": 1, "(combine)": 2}
"""Kind of a direction, and how many candidates it builds on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a designer is told about the search so far.

    Attributes:
        best: Trained candidates worth learning from, best first.
        worst: Trained candidates that did badly, worst first.
        failed: Candidates whose training did not come to its end, latest first.
        baselines: Drivers to compare with.
        refused: What the language or the gate turned down, latest last.
        trained: How many candidates have been trained.
    """

    best: tuple[ArchiveEntry, ...] = ()
    worst: tuple[ArchiveEntry, ...] = ()
    failed: tuple[ArchiveEntry, ...] = ()
    baselines: tuple[Baseline, ...] = ()
    refused: tuple[Refusal, ...] = ()
    trained: int = 0


def known(archive: Archive, refused: Sequence[Refusal] = ()) -> Known:
    """Choose from an archive what a designer is told.

    Args:
        archive: What the search has learned.
        refused: What was refused since.
    """
    ranked = archive.ranked()
    chosen = {entry.candidate.id for entry in (*archive.top(_TOP), *archive.diverse(_DIVERSE))}
    drivers = dict(archive.baselines)
    for name, candidate in archive.candidates.items():
        if candidate.role == "baseline" and name in archive.outcomes:
            drivers[name] = Baseline(
                name=name, metrics=archive.outcomes[name].metrics, fitness=archive.fitnesses.get(name)
            )
    turned_down = {refusal.id: refusal for refusal in (*archive.refusals.values(), *refused)}
    return Known(
        best=tuple(entry for entry in ranked if entry.candidate.id in chosen),
        worst=tuple(entry for entry in archive.worst(_BAD) if entry.candidate.id not in chosen),
        failed=archive.failed(_BAD),
        baselines=tuple(drivers.values()),
        refused=tuple(turned_down[name] for name in sorted(turned_down)),
        trained=len(ranked),
    )


@dataclass(frozen=True, slots=True)
class Direction:
    """A way to go that makes programs of one generation differ.

    Attributes:
        name: What it is called.
        parents: How many candidates it builds on: none, one to improve, or two to combine.
        text: What the model is told; `$first` and `$second` stand for candidates.
    """

    name: str
    parents: int
    text: str


@dataclass(frozen=True, slots=True)
class Assigned:
    """What makes one proposal differ from the others of its generation.

    Attributes:
        direction: Where to go.
        parents: Candidates to build on.
        emphasis: Term of the fitness to think of most; None for none.
    """

    direction: Direction
    parents: tuple[ArchiveEntry, ...] = ()
    emphasis: str | None = None


def directions() -> tuple[Direction, ...]:
    """Return the directions of `prompts/directions.md`, in its order.

    Raises:
        ValueError: The text does not consist of sections `## NAME (fresh|improve|combine)`.
    """
    found: list[Direction] = []
    for section in re.split(r"^## ", parts.template("directions"), flags=re.MULTILINE)[1:]:
        head, _, text = section.partition("\n")
        name, _, kind = head.rpartition(" ")
        if kind not in _KINDS:
            raise ValueError(f"prompts/directions.md: expected '## NAME {' or '.join(_KINDS)}', found {head!r}")
        found.append(Direction(name, _KINDS[kind], text.strip()))
    return tuple(found)


def assigned(best: Sequence[ArchiveEntry], place: int) -> Assigned:
    """Choose the direction of one proposal.

    Without elites the fresh ones take turns. With elites, three of four proposals build on them, most often on the
    best. When all directions had their turn they come again, with a term of the fitness to think of most.

    Args:
        best: Elites, best first.
        place: Which proposal of the search it is, from 0.
    """
    fresh = [each for each in directions() if each.parents == 0]
    built = [each for each in directions() if 0 < each.parents <= len(best)]
    if not best:
        fresh = fresh[:-1]  # The last one departs from programs that are there.
        return Assigned(fresh[place % len(fresh)], (), _emphasis(place // len(fresh)))
    turn, rest = divmod(place, 4)
    if rest == 3:
        return Assigned(fresh[-1 - turn % len(fresh)], (), _emphasis(turn // len(fresh)))
    number = turn * 3 + rest
    lap, step = divmod(number, len(built))
    direction = built[step]
    first = _RANKS[(step + lap) % len(_RANKS)] % len(best)
    others = [entry for rank, entry in enumerate(best) if rank != first]
    parents = (best[first], others[lap % len(others)]) if direction.parents == 2 else (best[first],)
    return Assigned(direction, parents, _emphasis(lap))


def reflected(best: Sequence[ArchiveEntry], place: int) -> Assigned:
    """Choose the direction of one proposal of a greedy search: to reflect upon the best; afresh while there is none.

    Args:
        best: Elites, best first.
        place: Which proposal of the search it is, from 0.
    """
    if not best:
        return assigned((), place)
    return Assigned(Direction("reflect", 1, parts.template("reflect")), (best[0],))


def design(plan: SearchPlan, known: Known, task: Assigned, max_tokens: int) -> tuple[ChatMessage, ...]:
    """Ask for one program.

    Args:
        plan: The search.
        known: What is known.
        task: In which direction to go.
        max_tokens: Tokens of the prompt at most, as estimated; the part without history may exceed it.
    """
    system = _design_system(plan)
    room = max_tokens - estimate_tokens(system)
    for shown in _STEPS:
        user = _design_user(plan, task, _history(known, task.parents, shown))
        if estimate_tokens(user) <= room:
            break
    return (ChatMessage(role="system", content=system), ChatMessage(role="user", content=user))


def repair(plan: SearchPlan, task: Assigned, answered: str, violation: Violation) -> tuple[ChatMessage, ...]:
    """Ask for a refused program again, with the reason and its place.

    Args:
        plan: The search.
        task: The direction that it was written in.
        answered: The refused program, or as much of the reply as holds none.
        violation: Why it was refused.
    """
    program = answered[:MAX_CHARACTERS]
    lines = [f"{violation.code}: {one_line(violation.message, 600)}"]
    text = program.split("\n")
    if violation.line is not None and 1 <= violation.line <= len(text):
        lines.append(f"Line {violation.line}: {one_line(text[violation.line - 1])}")
    if violation.hint:
        lines.append(f"Hint: {one_line(violation.hint, 600)}")
    return (
        ChatMessage(role="system", content=_design_system(plan)),
        ChatMessage(role="user", content=_design_user(plan, task, "")),
        ChatMessage(role="assistant", content=fenced(program)),
        ChatMessage(role="user", content=parts.filled("repair", {"refusal": quoted("\n".join(lines), 2000)})),
    )


def _emphasis(lap: int) -> str | None:
    terms = (None, *CONSTANTS.weights)
    return terms[lap % len(terms)]


def _design_system(plan: SearchPlan) -> str:
    return parts.filled(
        "design_system",
        {
            "road": parts.road(plan),
            "training": parts.training(plan),
            "judgement": parts.judgement(plan),
            "language": parts.language(),
            "state": parts.state_table(),
        },
    )


def _design_user(plan: SearchPlan, task: Assigned, history: str) -> str:
    names = [entry.candidate.id for entry in task.parents]
    direction = task.direction.text
    for mark, name in zip(("$first", "$second"), names, strict=False):
        direction = direction.replace(mark, name)
    if task.emphasis is not None:
        direction = f"{direction} {parts.filled('emphasis', {'term': task.emphasis})}"
    return parts.filled(
        "design", {"goal": quoted(plan.goal, parts.LONGEST_GOAL), "history": history, "direction": direction}
    )


def _history(known: Known, parents: Sequence[ArchiveEntry], shown: tuple[int, int, int, int]) -> str:
    best, worst, failed, refused = shown
    full = list(parents) + [entry for entry in known.best[:best] if entry not in parents]
    bad = [entry for entry in known.worst[:worst] if entry not in full]
    sections = [
        ("Baselines", parts.baselines(known.baselines)),
        ("The best so far", "\n\n".join(parts.in_full(entry) for entry in full)),
        ("What did badly", "\n\n".join(parts.in_short(entry) for entry in [*bad, *known.failed[:failed]])),
        ("Refused lately; do not repeat this", parts.refusals(known.refused, refused)),
    ]
    text = "".join(f"# {title}\n\n{body}\n\n" for title, body in sections if body)
    return f"{known.trained} programs have been trained so far.\n\n{text}" if known.trained > 1 else text
