"""The prompt of a critique, as a pure function of what is known of a trained candidate."""

from collections.abc import Sequence

from actors import prompt_parts as parts
from actors.chat import ChatMessage
from actors.critique_text import numbers
from actors.detector_table import DETECTORS
from actors.messages import ArchiveEntry, Critique, Finding
from actors.plan import SearchPlan
from actors.untrusted import one_line, quoted


def asked_about(critique: Critique) -> tuple[str, ...]:
    """Return the detectors that a reading has to answer for, those that found something first."""
    measured = (*critique.findings, *critique.cleared)
    return tuple(each.name for each in measured if each.name in DETECTORS)


def critique_prompt(
    plan: SearchPlan, entry: ArchiveEntry, critique: Critique, parents: Sequence[ArchiveEntry]
) -> tuple[ChatMessage, ...]:
    """Ask what a trained candidate really does.

    Args:
        plan: The search.
        entry: The candidate, with its outcome.
        critique: What detectors and rules say of it.
        parents: Those it was written from.
    """
    before = "\n\n".join(parts.in_short(parent, parts.SHOWN_METRICS) for parent in parents)
    values = {
        "goal": quoted(plan.goal, parts.LONGEST_GOAL),
        "candidate": parts.in_full(entry),
        "before_training": _before_training(entry.candidate.lint),
        "detectors": _detectors(critique),
        "rules": _rules(critique),
        "parents": f"# What it was written from\n\n{before}\n\n" if before else "",
    }
    system = {"road": parts.road(plan), "training": parts.training(plan), "judgement": parts.judgement(plan)}
    return (
        ChatMessage(role="system", content=parts.filled("critique_system", system)),
        ChatMessage(role="user", content=parts.filled("critique", values)),
    )


def _before_training(lint: Sequence[Finding]) -> str:
    if not lint:
        return ""
    lines = [f"- {each.name}: {one_line(each.sentence)}" for each in lint]
    return "# What the linter said of the program before training\n\n" + "\n".join(lines) + "\n\n"


def _detectors(critique: Critique) -> str:
    found = [_in_full(each) for each in critique.findings if each.name in DETECTORS]
    cleared = [f"- {each.name}: {one_line(each.sentence)} [{numbers(each)}]" for each in critique.cleared]
    sections = [("Found", found), ("Looked for and not found [measured, threshold]", cleared)]
    texts = [f"{title}:\n" + "\n".join(lines) for title, lines in sections if lines]
    return "# What the detectors say\n\n" + "\n\n".join(texts) + "\n\n" if texts else ""


def _in_full(finding: Finding) -> str:
    detector = DETECTORS[finding.name]
    return (
        f"- {finding.name} ({detector.looks_for}): {one_line(finding.sentence)}. Measured {detector.measure}: "
        f"{numbers(finding)}."
    )


def _rules(critique: Critique) -> str:
    lines = [f"- {each.name}: {one_line(each.sentence)}" for each in critique.findings if each.name not in DETECTORS]
    return "# What fixed rules say\n\n" + "\n".join(lines) + "\n\n" if lines else ""
