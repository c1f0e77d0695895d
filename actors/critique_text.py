"""A critique in words: findings with their numbers, and where a reading and a detector disagree."""

from actors.messages import Critique, Finding, Opinion
from actors.untrusted import quoted

LONGEST_COMMENT = 4000
"""Characters of a model's comment that are written into `critique.md`."""


def numbers(finding: Finding) -> str:
    """Return the number that decided, its interval and its threshold; empty for a finding without."""
    if finding.value is None or finding.threshold is None:
        return ""
    between = f" ({finding.interval[0]:.3g} to {finding.interval[1]:.3g})" if len(finding.interval) == 2 else ""
    return f"{finding.value:.3g}{between}, threshold {finding.threshold:.3g}"


def disagreement(opinion: Opinion, critique: Critique) -> str:
    """Return what a detector says and what a reading answers, in one line of untrusted text."""
    verdict = "found" if critique.found(opinion.detector) else "not found"
    return f"{opinion.detector}: {verdict} by its detector; the reading disagrees: {opinion.why or 'no reason given'}"


def as_markdown(critique: Critique) -> str:
    """Return a critique as Markdown, what a model wrote in quotation marks."""
    lines = [f"# Critique of {critique.candidate_id}", ""]
    lines += [f"- **{each.name}**: {_in_full(each)}" for each in critique.findings] or ["Nothing was found."]
    if critique.cleared:
        lines += ["", "## Looked for and not found", ""]
        lines += [f"- {each.name}: {_in_full(each)}" for each in critique.cleared]
    if critique.comment:
        lines += ["", "## The model's reading", "", quoted(critique.comment, LONGEST_COMMENT)]
    if critique.disagreements:
        lines += ["", "## Where the reading and a detector disagree", ""]
        lines += [quoted(f"- {disagreement(each, critique)}", LONGEST_COMMENT) for each in critique.disagreements]
    return "\n".join(lines) + "\n"


def _in_full(finding: Finding) -> str:
    shown = [numbers(finding)] if numbers(finding) else []
    if finding.seed is not None and len(finding.frames) == 2:
        shown.append(f"episode {finding.seed}, frames {finding.frames[0]} to {finding.frames[1]}")
    return f"{finding.sentence} [{'; '.join(shown)}]" if shown else finding.sentence
