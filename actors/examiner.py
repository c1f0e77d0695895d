"""Whether a proposal may become a candidate: extraction, language, gate, duplicates."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from actors.gate import Gate
from actors.messages import Proposal
from search_spaces.program import RewardProgram, Violation

Check = Callable[[str], RewardProgram | Violation]
"""Turn a program text, or a reply that holds one, into a program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A program that may be trained.

    Attributes:
        program: The program.
        warnings: What the gate warned about.
    """

    program: RewardProgram
    warnings: tuple[str, ...]


class Examiner:
    """Examines proposals; the same text is judged once. Safe to use from several threads.

    Args:
        gate: What programs must survive.
        check_untrusted: Checks text from a model or a user, in a process of its own.
        check_own: Checks the project's own programs.
    """

    def __init__(self, gate: Gate, check_untrusted: Check, check_own: Check) -> None:
        self._gate = gate
        self._check_untrusted = check_untrusted
        self._check_own = check_own
        self._checking = threading.Lock()
        self._verdicts: dict[tuple[bool, str], Passed | Violation] = {}

    def examine(self, proposal: Proposal, known: Mapping[str, str]) -> Passed | Violation:
        """Say whether a proposal may be trained.

        Args:
            proposal: The proposal.
            known: Candidate id of each program digest that there is already.
        """
        trusted = proposal.origin in ("evolver", "seed")
        key = trusted, proposal.source
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = self._judge(proposal.source, trusted=trusted)
        if isinstance(verdict, Passed) and verdict.program.digest in known:
            earlier = known[verdict.program.digest]
            return Violation(
                code="GATE_DUPLICATE",
                message=f"this is the program of {earlier}, up to layout and the order of operands",
                line=None,
                hint="change what is computed, not how it is written",
            )
        return verdict

    def _judge(self, source: str, *, trusted: bool) -> Passed | Violation:
        if trusted:
            program = self._check_own(source)
        else:
            with self._checking:
                program = self._check_untrusted(source)
        if isinstance(program, Violation):
            return program
        verdict = self._gate.judge(program)
        return verdict.refusal or Passed(program=program, warnings=verdict.warnings)
