"""The designer that asks a language model: one conversation for each proposal, several at once.

A reply that would be refused goes back with code, line, message and hint, a bounded number of times. Every id of an
exchange follows from the brief, so that a search that was killed finds its replies in the journal and goes on.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from actors import prompts
from actors.chat import ChatFailure, ChatReply, Exchange
from actors.exchanges import estimate_prompt
from actors.messages import ArchiveEntry, Proposal
from actors.plan import SearchPlan
from actors.prompts import Assigned, Known
from actors.protocols import Ask, DesignBrief
from actors.replies import extract_program
from search_spaces.errors import ProviderError
from search_spaces.program import Violation

Assign = Callable[[Sequence[ArchiveEntry], int], Assigned]

AT_ONCE = 4
"""Conversations held at the same time; the rate limits of small accounts take no more."""
SHRINKS = 3
"""How often a prompt that is too large for the provider is made smaller."""
SHRINK = 0.6
"""Factor on a prompt that is too large, where the provider does not say how large it may be."""
_FEWEST_TOKENS = 1024
"""Tokens of a reply below which no program can be expected."""
_LONGEST_REST = 4000
"""Characters of a reply without program that it is shown again."""


class LLMDesigner:
    """Writes reward programs by asking a language model; see `protocols.Designer`.

    Args:
        plan: The search.
        ask: Asks the model; see `protocols.Ask`.
        assign: Chooses the direction of a proposal from the elites, best first, and its place in the search.
    """

    def __init__(self, plan: SearchPlan, ask: Ask, assign: Assign = prompts.assigned) -> None:
        self._plan = plan
        self._ask = ask
        self._assign = assign

    def propose(self, brief: DesignBrief) -> Sequence[Proposal]:
        """See `protocols.Designer`."""
        known = prompts.known(brief.archive, brief.refused)
        with ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="design") as pool:
            futures = [pool.submit(self._converse, brief, known, index) for index in range(brief.count)]
        return _proposals(futures)

    def _converse(self, brief: DesignBrief, known: Known, index: int) -> Proposal | None:
        llm = self._plan.llm
        place = brief.generation * self._plan.population * llm.proposals_per_slot + brief.attempt * brief.count + index
        task = self._assign(known.best, place)
        reply = self._write(brief, known, task, index)
        if isinstance(reply, ChatFailure):
            return None
        move = "write"
        for repair in range(1, llm.repairs + 1):
            verdict = brief.examine(reply.text)
            if not isinstance(verdict, Violation):
                break
            again = self._repair(brief, task, reply, verdict, brief.exchange_id(index, repair))
            if isinstance(again, ChatFailure):
                break
            reply, move = again, "repair"
        parents = tuple(entry.candidate.id for entry in task.parents)
        return Proposal(source=reply.text, origin="llm", parents=parents, move=move, exchange=reply.exchange)

    def _write(self, brief: DesignBrief, known: Known, task: Assigned, index: int) -> ChatReply | ChatFailure:
        llm = self._plan.llm
        room, reply_tokens, refusal = llm.prompt_tokens, llm.max_tokens, ""
        for shrinks in range(SHRINKS + 1):
            exchange = Exchange(
                id=brief.exchange_id(index) + (f"-s{shrinks}" if shrinks else ""),
                purpose="design",
                generation=brief.generation,
                messages=prompts.design(self._plan, known, task, room),
                max_tokens=reply_tokens,
            )
            result = self._ask(exchange)
            if isinstance(result, ChatReply) or result.code != "LLM_TOO_LARGE":
                return result
            refusal = f"about {estimate_prompt(exchange)} tokens, {reply_tokens} for the reply: {result.reason}"
            room, reply_tokens = _smaller(exchange, result, reply_tokens)
        raise ProviderError(
            f"the provider takes no design prompt, not even the smallest ({refusal}); "
            "choose a model or an account with a larger limit"
        )

    def _repair(
        self, brief: DesignBrief, task: Assigned, reply: ChatReply, violation: Violation, exchange_id: str
    ) -> ChatReply | ChatFailure:
        program = extract_program(reply.text)
        if reply.finish == "length":
            violation = replace(violation, hint=f"{violation.hint} The reply was cut off: be brief.".strip())
        answered = program if isinstance(program, str) else reply.text[:_LONGEST_REST]
        messages = prompts.repair(self._plan, task, answered, violation)
        return self._ask(Exchange(id=exchange_id, purpose="repair", generation=brief.generation, messages=messages))


def _smaller(exchange: Exchange, failure: ChatFailure, reply_tokens: int) -> tuple[int, int]:
    """Return how large prompt and reply may be after a request that was too large, in tokens."""
    sent = estimate_prompt(exchange)
    if failure.limit_tokens is None:
        return int(sent * SHRINK), max(_FEWEST_TOKENS, int(reply_tokens * SHRINK))
    reply = max(_FEWEST_TOKENS, min(reply_tokens, failure.limit_tokens // 2))
    return min(int(sent * 0.9), failure.limit_tokens - reply), reply


def _proposals(futures: Sequence[Future[Proposal | None]]) -> list[Proposal]:
    """Return what the conversations came to, in their order.

    Raises:
        ProviderError: There is nothing else to return.
    """
    errors = [error for future in futures if (error := future.exception()) is not None]
    for error in errors:
        if not isinstance(error, ProviderError):
            raise error
    done = [future.result() for future in futures if future.exception() is None]
    proposals = [proposal for proposal in done if proposal is not None]
    if errors and not proposals:
        raise errors[0]
    return proposals
