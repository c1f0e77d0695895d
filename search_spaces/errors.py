"""Every exception of the project, in one tree.

An expected failure (a program that is refused, a candidate that faults, a reply that cannot be used) is a value and is
not listed here. What is listed here is a fault: something the caller or the user has to change.

    OrchestratorError
    ├── UsageError             bad command line or configuration (exit code 2)
    │   └── ScenarioError      a scenario that highway-env could not simulate soundly
    ├── BundleError            a bundle that is refused, or cannot be written
    ├── RunError               a run folder that cannot be used
    │   ├── RunLockedError     another process writes this run
    │   └── JournalError       an event that cannot be read, or cannot be written
    ├── ProviderError          an LLM provider that will not answer, whatever is tried
    ├── MachineError           Ray, disk, renderer or encoder do not hold the plan
    ├── SearchInterruptedError Ctrl-C in the middle of a search (exit code 130)
    ├── SimulatorMismatchError the kernel and highway-env disagree where they must not
    ├── PolicyError            a policy file that is not what this project writes
    └── ProgramError           a reward graph that breaks a type rule, the budget or the constant range
"""


class OrchestratorError(Exception):
    """Base of every fault; its text says what was expected, what was found, where, and what to do next."""

    exit_code = 1


class UsageError(OrchestratorError):
    """Bad command line or configuration."""

    exit_code = 2


class ScenarioError(UsageError):
    """A scenario setting that is unknown, out of range, or inconsistent with another."""


class BundleError(OrchestratorError):
    """A bundle that is damaged, holds what no bundle holds, or would not fit into one."""


class RunError(OrchestratorError):
    """A run folder that is missing, foreign or damaged."""


class RunLockedError(RunError):
    """Another live process writes this run."""


class JournalError(RunError):
    """A journal event that cannot be parsed, is out of order, or cannot be written."""


class ProviderError(OrchestratorError):
    """An LLM provider that refuses for good: no usable key, model gone, request too large."""


class MachineError(OrchestratorError):
    """The machine or cluster cannot hold the plan."""


class SearchInterruptedError(OrchestratorError):
    """Ctrl-C in the middle of a search, which ended cleanly and can be resumed."""

    exit_code = 130


class SimulatorMismatchError(OrchestratorError):
    """An episode that differs between the kernel and highway-env, on a machine where none may."""


class PolicyError(OrchestratorError):
    """A policy file that is damaged, of another format, or for another observation."""


class ProgramError(OrchestratorError):
    """A reward program or graph that breaks a rule of the language.

    `compile_program` turns it into a `Violation`; code that builds graphs by hand meets it as an exception.

    Attributes:
        code: Stable code, `E_TYPE`, `E_BUDGET`, `E_CONST` ... (see `violations.py`).
        message: What was expected and what was found.
        line: Line of the source, from 1; None where there is no source.
        hint: What to do about it; empty when the message says it all.
    """

    def __init__(self, code: str, message: str, line: int | None = None, hint: str = "") -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.line, self.hint = code, message, line, hint
