"""The LLM designer over the real client, against a scripted server."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from actors.archive import Archive
from actors.chat import ChatReply
from actors.designer import LLMDesigner
from actors.exchanges import Exchanges
from actors.keys import Credentials, Secret
from actors.messages import Proposal
from actors.plan import LLMSettings, SearchPlan
from actors.protocols import DesignBrief
from actors.providers import open_provider
from actors.replies import extract_program
from search_spaces.errors import ProviderError
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram, Violation
from tests import groq_server as say
from tests.entries import archive_of, faulted, trained
from tests.groq_server import GOOD, GroqServer, Received, Response, SearchScript
from tests.memory_log import MemoryLog
from tests.virtual_clock import VirtualClock

PLAN = SearchPlan(search_id="s", population=2, llm=LLMSettings(spec="groq:m", timeout_s=5.0))
PROGRAM = GOOD.format(scale=30, weight=1)
FENCED = f"```python\n{PROGRAM}```"
MISSPELT = FENCED.replace('"collided"', '"colided"')
ELITES = (trained("g00-c00"), trained("g00-c01", "comfort", crash_rate=0.3))


def examine(reply: str) -> RewardProgram | Violation:
    source = extract_program(reply)
    return source if isinstance(source, Violation) else compile_program(source)


def brief(count: int = 1, generation: int = 0, archive: Archive | None = None, attempt: int = 0) -> DesignBrief:
    return DesignBrief(
        archive=archive or Archive(), generation=generation, attempt=attempt, count=count, seed=1, examine=examine
    )


class Desk:
    """A designer with the log and server behind it."""

    def __init__(self, script: say.Script, plan: SearchPlan = PLAN, log: MemoryLog | None = None) -> None:
        self.server = GroqServer(script)
        self.log = log or MemoryLog()
        credentials = Credentials((Secret("gsk_designer00000000"),), self.server.url)
        self.provider = open_provider(plan.llm, credentials, VirtualClock())
        self.exchanges = Exchanges(self.provider, self.log, plan.llm.token_budget, plan.llm.max_tokens)
        self.designer = LLMDesigner(plan, self.exchanges.ask)

    def close(self) -> None:
        self.provider.close()
        self.server.close()


@pytest.fixture
def desk() -> Iterator[Callable[..., Desk]]:
    opened: list[Desk] = []

    def make(script: say.Script, plan: SearchPlan = PLAN, log: MemoryLog | None = None) -> Desk:
        opened.append(Desk(script, plan, log))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def test_a_good_reply_is_proposed_as_it_came(desk: Callable[..., Desk]) -> None:
    made = desk([say.answer(f"An idea.\n{FENCED}")])
    assert made.designer.propose(brief()) == [
        Proposal(source=f"An idea.\n{FENCED}", origin="llm", move="write", exchange="g00-a0-p00")
    ]


def test_a_refused_reply_goes_back_with_code_line_and_hint(desk: Callable[..., Desk]) -> None:
    made = desk([say.answer(f"An idea.\n{MISSPELT}"), say.answer(FENCED)])
    (proposal,) = made.designer.propose(brief())
    assert (proposal.source, proposal.move, proposal.exchange) == (FENCED, "repair", "g00-a0-p00-r1")
    system, user, assistant, repair = made.server.received[1].messages
    assert system == made.server.received[0].messages[0]
    assert user["role"] == "user"
    assert '"colided"' in assistant["content"]
    assert "An idea." not in assistant["content"]
    assert "E_KEY" in repair["content"]
    assert "Line 4: crash = " in repair["content"]
    assert "collided" in repair["content"]
    assert made.log.exchanges["g00-a0-p00-r1"].purpose == "repair"


def test_repairs_are_bounded_and_the_last_reply_is_handed_over(desk: Callable[..., Desk]) -> None:
    made = desk([say.answer(MISSPELT)] * 3)
    (proposal,) = made.designer.propose(brief())
    assert (proposal.source, proposal.exchange) == (MISSPELT, "g00-a0-p00-r2")
    assert len(made.server.received) == 3


def test_a_reply_without_program_is_asked_for_one(desk: Callable[..., Desk]) -> None:
    made = desk([say.answer("I would rather not."), say.answer(FENCED)])
    (proposal,) = made.designer.propose(brief())
    assert proposal.source == FENCED
    assert "I would rather not." in made.server.received[1].messages[2]["content"]


def test_a_failed_repair_leaves_the_reply_before(desk: Callable[..., Desk]) -> None:
    made = desk([say.answer(MISSPELT), say.error(400, "content policy")])
    (proposal,) = made.designer.propose(brief())
    assert (proposal.source, proposal.move, proposal.exchange) == (MISSPELT, "write", "g00-a0-p00")


def test_a_reply_that_was_cut_off_is_told_so(desk: Callable[..., Desk]) -> None:
    made = desk([say.answer(MISSPELT[:150], finish="length"), say.answer(FENCED)])
    made.designer.propose(brief())
    assert "cut off" in made.server.received[1].messages[3]["content"]


def test_failed_exchanges_are_fewer_proposals(desk: Callable[..., Desk]) -> None:
    def script(received: Received) -> Response:
        fails = "free lane" in received.messages[-1]["content"] or "lane choice" in received.messages[-1]["content"]
        return say.error(400, "no") if fails else say.answer(FENCED)

    made = desk(script)
    proposals = made.designer.propose(brief(count=4))
    assert [proposal.exchange for proposal in proposals] == ["g00-a0-p00", "g00-a0-p02", "g00-a0-p03"]


def test_each_request_goes_in_its_own_direction_and_names_its_parents(desk: Callable[..., Desk]) -> None:
    made = desk(lambda received: say.answer(FENCED))
    archive = archive_of(*ELITES, faulted("g01-c06"))
    proposals = made.designer.propose(brief(count=8, generation=2, archive=archive))
    asked = [received.messages[-1]["content"] for received in made.server.received]
    assert len(set(asked)) == 8
    assert len({received.messages[0]["content"] for received in made.server.received}) == 1
    assert all("fitness" in text and ELITES[0].candidate.id in text for text in asked)
    assert {proposal.parents for proposal in proposals} >= {("g00-c00",), ("g00-c00", "g00-c01")}
    for proposal in proposals:
        user = made.log.exchanges[proposal.exchange or ""].messages[1].content
        assert all(parent in user for parent in proposal.parents)


def test_the_same_brief_asks_the_same_and_journalled_replies_are_not_bought_again(desk: Callable[..., Desk]) -> None:
    archive = archive_of(*ELITES)
    first = desk(SearchScript())
    proposals = first.designer.propose(brief(count=6, generation=1, archive=archive))
    half = MemoryLog()
    for identity in sorted(first.log.results)[:4]:
        result = first.log.results[identity]
        assert isinstance(result, ChatReply)
        half.replied(result)
    replies = {identity: result for identity, result in first.log.results.items() if isinstance(result, ChatReply)}

    def again(received: Received) -> Response:
        identity = next(
            key
            for key, exchange in first.log.exchanges.items()
            if [message.to_json() for message in exchange.messages] == received.messages
        )
        return say.answer(replies[identity].text)

    second = desk(again, log=half)
    assert second.designer.propose(brief(count=6, generation=1, archive=archive)) == proposals
    assert len(second.server.received) == len(replies) - 4


def test_a_whole_search_script_ends_in_legal_programs(desk: Callable[..., Desk]) -> None:
    made = desk(SearchScript())
    proposals = made.designer.propose(brief(count=8))
    programs = [examine(proposal.source) for proposal in proposals]
    assert len(proposals) == 8
    legal = [program for program in programs if isinstance(program, RewardProgram)]
    assert len(legal) == 8
    assert len({program.digest for program in legal}) == 8
    assert sum(proposal.move == "repair" for proposal in proposals) == 2


@pytest.mark.parametrize("limit", [True, False])
def test_a_prompt_that_is_too_large_is_made_smaller(desk: Callable[..., Desk], limit: bool) -> None:
    refusal = say.too_large(5000, 9000) if limit else say.error(413, "Payload too large")
    made = desk([refusal, say.answer(FENCED)])
    archive = archive_of(*ELITES, *(trained(f"g01-c{number:02d}", comment="x" * 1400) for number in range(4)))
    (proposal,) = made.designer.propose(brief(archive=archive, generation=2))
    assert proposal.exchange == "g02-a0-p00-s1"
    before, after = (received.body for received in made.server.received)
    assert len(after["messages"][1]["content"]) < 0.7 * len(before["messages"][1]["content"])
    assert after["max_tokens"] < before["max_tokens"]


def test_a_provider_that_takes_no_prompt_ends_it(desk: Callable[..., Desk]) -> None:
    made = desk(lambda received: say.too_large(1000, 2000))
    with pytest.raises(ProviderError, match="takes no design prompt"):
        made.designer.propose(brief())
    assert len(made.server.received) == 4


def test_keys_that_die_half_way_leave_what_was_paid_for(desk: Callable[..., Desk]) -> None:
    plan = replace(PLAN, llm=replace(PLAN.llm, repairs=0))

    def script(received: Received) -> Response:
        return say.answer(FENCED) if len(made.server.received) <= 4 else say.error(401, "revoked")

    made = desk(script, plan)
    assert len(made.designer.propose(brief(count=8))) == 4
    with pytest.raises(ProviderError):
        made.designer.propose(brief(attempt=1))
