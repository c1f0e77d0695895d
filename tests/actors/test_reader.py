"""The LLM's reading over the real client, against a scripted server, and what becomes of its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.chat import ChatMessage
from actors.critique_text import as_markdown
from actors.detector_table import DETECTORS
from actors.exchanges import Exchanges
from actors.keys import Credentials, Secret
from actors.messages import Critique, Finding, Opinion
from actors.plan import LLMSettings, SearchPlan
from actors.providers import open_provider
from actors.reader import LLMReader, read_reply
from actors.untrusted import visible
from tests import groq_server as say
from tests.entries import trained
from tests.groq_server import GroqServer
from tests.memory_log import MemoryLog
from tests.virtual_clock import VirtualClock

PLAN = SearchPlan(search_id="s", population=2, llm=LLMSettings(spec="groq:m", timeout_s=5.0))
WEAVING = Finding(
    name="weaving",
    sentence="changes lanes 4.1 times per km for 0.2 net overtakes per km",
    value=3.9,
    threshold=2.0,
    interval=(3.1, 4.8),
    seed=7,
    frames=(20, 44),
)
WEAK = Finding(name="weakest_term", sentence="loses most on speed")
PARKING = Finding(name="parking", sentence="drives slowly for 44% of the time", value=0.44, threshold=0.9)
SAID = Critique(candidate_id="g00-c01", findings=(WEAVING, WEAK), cleared=(PARKING,))
ASKED = ("weaving", "parking")


def read(*responses: say.Response) -> tuple[Critique, list[ChatMessage]]:
    """Have a candidate read, and return the critique with what was asked."""
    with GroqServer(list(responses)) as server:
        provider = open_provider(PLAN.llm, Credentials((Secret("gsk_reader0000000000"),), server.url), VirtualClock())
        try:
            ask = Exchanges(provider, MemoryLog(), PLAN.llm.token_budget, PLAN.llm.max_tokens).ask
            parents = (trained("g00-c00"),)
            critique = LLMReader(PLAN, ask).read(trained("g00-c01", "comfort", crash_rate=0.3), SAID, parents)
        finally:
            provider.close()
        asked = [ChatMessage(role=each["role"], content=each["content"]) for each in server.received[0].messages]
    return critique, asked


def test_a_reading_adds_its_words_and_where_it_disagrees() -> None:
    reply = (
        "<think>hm\nDISAGREE weaving: only thought</think>\nIt brakes late.\x1b[2J\n\n"
        "AGREE parking\n- **DISAGREE weaving**: it overtakes by most of them\u202e.\n"
    )
    critique, asked = read(say.answer(reply))
    assert (critique.candidate_id, critique.findings, critique.cleared) == ("g00-c01", SAID.findings, SAID.cleared)
    assert critique.comment == "It brakes late.\\x1b[2J"
    assert critique.exchange == "g00-c01-critique"
    assert critique.opinions == (
        Opinion(detector="weaving", agrees=False, why="it overtakes by most of them\\u202e"),
        Opinion(detector="parking", agrees=True),
    )
    assert critique.disagreements == critique.opinions[:1]
    user = asked[1].content
    assert "- weaving (changes lanes without overtaking by it): changes lanes 4.1 times per km" in user
    assert "3.9 (3.1 to 4.8), threshold 2" in user
    assert "- parking: drives slowly for 44% of the time [0.44, threshold 0.9]" in user
    assert "weakest_term" in user
    assert "## g00-c00" in user


def test_a_model_that_fails_leaves_the_critique_as_it_is() -> None:
    assert read(say.error(400, "no"))[0] == SAID


def test_a_critique_survives_the_journal() -> None:
    critique, _ = read(say.answer("Slow.\nDISAGREE parking: it does park"))
    assert Critique.from_json(critique.to_json()) == critique


def test_both_sides_of_a_disagreement_are_shown() -> None:
    critique, _ = read(say.answer("Fine.\nDISAGREE parking: it does park\nDISAGREE weaving"))
    text = as_markdown(critique)
    assert "- **weaving**: changes lanes 4.1 times per km for 0.2 net overtakes per km [3.9 (3.1 to 4.8), " in text
    assert "episode 7, frames 20 to 44]" in text
    assert "- parking: drives slowly for 44% of the time [0.44, threshold 0.9]" in text
    assert "> - weaving: found by its detector; the reading disagrees: no reason given" in text
    assert "> - parking: not found by its detector; the reading disagrees: it does park" in text
    assert "disagree" not in as_markdown(SAID)


@pytest.mark.parametrize(
    ("line", "opinion"),
    [
        ("AGREE weaving", (True, "")),
        ("agree weaving", None),
        ("  * AGREE `weaving`.", (True, "")),
        ("3. **DISAGREE** weaving - it overtakes", (False, "it overtakes")),
        ("DISAGREE: weaving: it overtakes: often", (False, "it overtakes: often")),
        ("`DISAGREE weaving: it overtakes`", (False, "it overtakes")),
        ("DISAGREE weaving \u2014 no", (False, "no")),
        ("I AGREE weaving is bad", None),
        ("AGREEMENT weaving", None),
        ("DISAGREE", None),
        ("DISAGREE weaving_too: x", None),
        ("DISAGREE crawling: was not asked", None),
        ("DISAGREE weakest_term: no detector", None),
        ("DISAGREE weaving and parking", (False, "and parking")),
        ("AGREEweaving", None),
    ],
)
def test_only_answers_to_what_was_asked_are_opinions(line: str, opinion: tuple[bool, str] | None) -> None:
    comment, opinions = read_reply(f"It weaves.\n{line}\nEnd.", ASKED)
    if opinion is None:
        assert opinions == ()
        assert line.strip() in comment
    else:
        assert opinions == (Opinion(detector="weaving", agrees=opinion[0], why=opinion[1]),)
        assert comment == "It weaves.\nEnd."


def test_a_reply_that_contradicts_itself_disagrees() -> None:
    for lines in ("AGREE weaving\nDISAGREE weaving: no", "DISAGREE weaving: no\nAGREE weaving"):
        assert read_reply(lines, ASKED)[1] == (Opinion(detector="weaving", agrees=False, why="no"),)


def test_replies_are_bounded() -> None:
    assert len(read_reply("x" * 10**6, ASKED)[0]) == 1500
    assert len(read_reply("\x00" * 10**6, ASKED)[0]) <= 1500
    assert read_reply("a\n\n\u202eb", ASKED)[0] == "a\n\n\\u202eb"
    (opinion,) = read_reply("DISAGREE weaving: " + "\x1b" * 10**6, ASKED)[1]
    assert len(opinion.why) <= 300
    assert "\x1b" not in opinion.why
    assert read_reply("*" * 10**6 + " AGREE weaving", ASKED)[1] == ()


@given(st.text(alphabet=st.sampled_from("ADGIREES weaving_:*-`#1.\n\x1b"), max_size=400), st.text(max_size=200))
def test_any_reply_can_be_read(reply: str, more: str) -> None:
    comment, opinions = read_reply(reply + more, tuple(DETECTORS))
    assert {each.detector for each in opinions} <= set(DETECTORS)
    assert len({each.detector for each in opinions}) == len(opinions)
    for text in (comment, *(each.why for each in opinions)):
        assert visible(text, "\n") == text
