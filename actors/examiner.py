"""Whether a proposal may become a candidate: extraction, language, gate, linter, duplicates."""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from actors.epic import Embedding
from actors.gate import Gate
from actors.linter import Linter, compared, findings, refusing
from actors.messages import Candidate, Finding, Proposal
from search_spaces.program import RewardProgram, Violation

Check = Callable[[str], RewardProgram | Violation]
"""Turn a program text, or a reply that holds one, into a program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A program that may be trained.

    Attributes:
        program: The program.
        lint: What the linter found.
    """

    program: RewardProgram
    lint: tuple[Finding, ...] = ()


class Examiner:
    """Examines proposals; the same text is judged once. Safe to use from several threads.

    Args:
        gate: What programs must survive.
        check_untrusted: Checks text from a model or a user, in a process of its own.
        check_own: Checks the project's own programs.
        linter: Says what is odd about programs that survive; None: nothing is linted.
    """

    def __init__(self, gate: Gate, check_untrusted: Check, check_own: Check, linter: Linter | None = None) -> None:
        self._gate = gate
        self._linter = linter
        self._check_untrusted = check_untrusted
        self._check_own = check_own
        self._checking = threading.Lock()
        self._verdicts: dict[tuple[bool, str], Passed | Violation] = {}
        self._embeddings: dict[str, Embedding | None] = {}

    def learn(self, candidates: Iterable[Candidate]) -> None:
        """Make the programs of candidates known to `examine`, beyond their digests."""
        for candidate in candidates:
            if self._linter and candidate.source and candidate.digest not in self._embeddings:
                program = self._check_own(candidate.source)
                if isinstance(program, RewardProgram):
                    self._embeddings[candidate.digest] = self._linter.embedded(program)

    def embedding(self, digest: str) -> Embedding | None:
        """Return what a program that was examined or learned is compared by; None where there is nothing."""
        return self._embeddings.get(digest)

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
        return self._new(verdict, known) if isinstance(verdict, Passed) else verdict

    def _new(self, passed: Passed, known: Mapping[str, str]) -> Passed | Violation:
        """Return what passed with what it resembles, or why it is nothing new."""
        digest = passed.program.digest
        if digest in known:
            return _duplicate(f"this is the program of {known[digest]}, up to layout and the order of operands")
        embeddings = ((name, self._embeddings.get(each)) for each, name in known.items())
        others = [(name, each) for name, each in embeddings if each is not None]
        found = findings(compared(self._embeddings.get(digest), others))
        copy = refusing(found)
        if copy is not None:
            return _duplicate(f"this is {copy.sentence}: training would be the same")
        return replace(passed, lint=(*passed.lint, *found))

    def _judge(self, source: str, *, trusted: bool) -> Passed | Violation:
        if trusted:
            program = self._check_own(source)
        else:
            with self._checking:
                program = self._check_untrusted(source)
        if isinstance(program, Violation):
            return program
        refusal = self._gate.judge(program)
        if refusal is not None or self._linter is None:
            return refusal or Passed(program=program)
        lint = self._linter.lint(program)
        self._embeddings[program.digest] = lint.embedding
        return lint.refusal or Passed(program=program, lint=lint.findings)


def _duplicate(message: str) -> Violation:
    return Violation(
        code="GATE_DUPLICATE", message=message, line=None, hint="change what is computed, not how it is written"
    )
