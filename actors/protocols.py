"""What the coordinator asks of those who write, read and answer: designers, readers and chat providers.

Design of one generation, as `generation.py` runs it: `propose` -> examine (language, gate, duplicates) -> screen ->
accept. What is refused is recorded and asked for again in the next attempt, with the refusals in the brief.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from actors.archive import Archive
from actors.chat import ChatFailure, ChatReply, Exchange
from actors.messages import ArchiveEntry, Critique, Proposal, Refusal
from search_spaces.program import RewardProgram, Violation

Ask = Callable[[Exchange], ChatReply | ChatFailure]
"""Ask a model. The request is journalled before it is sent and the reply before it is returned; when the journal holds
a reply to this exchange id already, it is returned and nothing is sent. May be called from several threads at once.
Raises `ProviderError` when no exchange can ever succeed."""

Examine = Callable[[str], RewardProgram | Violation]
"""Say whether a program or a reply holding one would be accepted: extraction, language, gate, duplicates. Pure, safe to
call from several threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignBrief:
    """What a designer is told. A designer is a function of this value (and, with an LLM, of the replies) alone.

    Attributes:
        archive: All that is known, as it was when the design of this generation began; it does not change.
        generation: Generation to design, from 0.
        attempt: 0 at first; 1, 2, ... when refused proposals are replaced.
        count: How many proposals are wanted. Fewer are an answer too (a provider that failed).
        seed: Seed of all randomness, derived from search seed, generation and attempt.
        refused: What was refused in earlier attempts at this generation.
        examine: For a designer that repairs its proposal before it hands it over.
    """

    archive: Archive
    generation: int
    attempt: int
    count: int
    seed: int
    refused: tuple[Refusal, ...] = ()
    examine: Examine

    def exchange_id(self, index: int, repair: int = 0) -> str:
        """Return the id of the exchange for proposal `index` (from 0) of this brief after `repair` repairs."""
        suffix = f"-r{repair}" if repair else ""
        return f"g{self.generation:02d}-a{self.attempt}-p{index:02d}{suffix}"


class Designer(Protocol):
    """Writes reward programs. Constructed with its own settings (goal, `Ask`, ...); holds no state between calls."""

    def propose(self, brief: DesignBrief) -> Sequence[Proposal]:
        """Return up to `brief.count` proposals, in an order that does not depend on timing.

        A proposal need not be legal: it is examined again, and recorded as refused where it is not. One that was
        repaired in vain is handed over with the text of its last reply.

        Raises:
            ProviderError: The model can never answer.
        """
        ...


class Reader(Protocol):
    """Reads a trained candidate and says what it sees (the LLM's half of a critique)."""

    def read(self, entry: ArchiveEntry, critique: Critique, parents: Sequence[ArchiveEntry]) -> Critique:
        """Return `critique` with a comment and opinions on its detectors; as it is when the model failed.

        Its exchange id is `<candidate id>-critique`.

        Raises:
            ProviderError: The model can never answer.
        """
        ...


class ChatProvider(Protocol):
    """A model behind some interface; keeps its own retry policy and never raises for one failed exchange."""

    @property
    def model(self) -> str:
        """Name of the model that would be asked now.

        Raises:
            ProviderError: All that were named are gone.
        """
        ...

    def chat(self, exchange: Exchange) -> ChatReply | ChatFailure:
        """Send one request and wait for the reply. Called from several threads at once.

        Raises:
            ProviderError: No exchange can ever succeed: no usable key, model gone.
        """
        ...

    def close(self) -> None:
        """Give up what is in flight, which then ends as `LLM_STOPPED`, and release the connections."""
        ...
