"""The language model's half of a critique: its reading of a trained candidate, and what it says of each detector."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from actors.chat import ChatFailure, Exchange
from actors.critique_prompt import asked_about, critique_prompt
from actors.messages import ArchiveEntry, Critique, Opinion
from actors.plan import SearchPlan
from actors.prompt_parts import LONGEST_COMMENT
from actors.protocols import Ask
from actors.untrusted import one_line, paragraphs

LONGEST_REPLY = 20_000
"""Characters of a reply that are read."""
LONGEST_WHY = 300
"""Characters of a reason that are kept."""
_OPINION = re.compile(
    r"\W{0,8}(?:\d{1,2}[.)]\s)?\W{0,8}(AGREE|DISAGREE)[*_`]{0,3}:?[ \t]{1,4}[*_`\"']{0,3}([a-z_]{1,60})(?![a-z_])(.*)"
)
"""A line such as `DISAGREE weaving: why`, with list marks and emphasis around its words as models put them."""


class LLMReader:
    """Asks a language model what a trained candidate really does; see `protocols.Reader`.

    Args:
        plan: The search.
        ask: Asks the model; see `protocols.Ask`.
    """

    def __init__(self, plan: SearchPlan, ask: Ask) -> None:
        self._plan = plan
        self._ask = ask

    def read(self, entry: ArchiveEntry, critique: Critique, parents: Sequence[ArchiveEntry]) -> Critique:
        """See `protocols.Reader`."""
        candidate = entry.candidate
        exchange = Exchange(
            id=f"{candidate.id}-critique",
            purpose="critique",
            generation=candidate.generation,
            messages=critique_prompt(self._plan, entry, critique, parents),
        )
        result = self._ask(exchange)
        if isinstance(result, ChatFailure):
            return critique
        comment, opinions = read_reply(result.text, asked_about(critique))
        return replace(critique, comment=comment or None, opinions=opinions, exchange=exchange.id)


def read_reply(reply: str, detectors: Collection[str]) -> tuple[str, tuple[Opinion, ...]]:
    """Part a reply into prose and what it says of the detectors.

    Only lines that begin with AGREE or DISAGREE and name one of the detectors are opinions; all else is prose. Where a
    reply contradicts itself, the disagreement counts: it makes both sides be shown.

    Args:
        reply: Untrusted text.
        detectors: The detectors that were asked about.

    Returns:
        comment: The prose without thoughts aloud, bounded, control characters escaped.
        opinions: In the order of `detectors`; those that the reply is silent about are absent.
    """
    prose, opinions = [], dict[str, Opinion]()
    for line in reply.rpartition("</think>")[2][:LONGEST_REPLY].split("\n"):
        match = _OPINION.fullmatch(line.rstrip())
        if match is None or match[2] not in detectors:
            prose.append(line)
            continue
        known = opinions.get(match[2])
        if known is None or known.agrees:
            why = one_line(match[3].strip("*_`\"' \t:.,;-\u2013\u2014"), LONGEST_WHY)
            opinions[match[2]] = Opinion(detector=match[2], agrees=match[1] == "AGREE", why=why)
    ordered = tuple(opinions[name] for name in detectors if name in opinions)
    return paragraphs("\n".join(prose), LONGEST_COMMENT), ordered
