"""The language model's half of a critique: its reading of a trained candidate."""

from collections.abc import Sequence

from actors import prompts
from actors.chat import ChatFailure, Exchange
from actors.messages import ArchiveEntry, Critique, Finding
from actors.plan import SearchPlan
from actors.prompt_parts import LONGEST_COMMENT
from actors.protocols import Ask
from actors.untrusted import paragraphs


class LLMReader:
    """Asks a language model what a trained candidate really does; see `protocols.Reader`.

    Args:
        plan: The search.
        ask: Asks the model; see `protocols.Ask`.
    """

    def __init__(self, plan: SearchPlan, ask: Ask) -> None:
        self._plan = plan
        self._ask = ask

    def read(self, entry: ArchiveEntry, findings: Sequence[Finding], parents: Sequence[ArchiveEntry]) -> Critique:
        """See `protocols.Reader`."""
        candidate = entry.candidate
        exchange = Exchange(
            id=f"{candidate.id}-critique",
            purpose="critique",
            generation=candidate.generation,
            messages=prompts.critique(self._plan, entry, findings, parents),
        )
        result = self._ask(exchange)
        if isinstance(result, ChatFailure):
            return Critique(candidate_id=candidate.id, findings=tuple(findings))
        return Critique(
            candidate_id=candidate.id,
            findings=tuple(findings),
            comment=comment_of(result.text) or None,
            exchange=exchange.id,
        )


def comment_of(reply: str) -> str:
    """Return the comment that a reply holds: without thoughts aloud, bounded, control characters escaped."""
    return paragraphs(reply.rpartition("</think>")[2], LONGEST_COMMENT)
