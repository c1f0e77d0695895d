import io
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from orchestrator.console import plain, shown


@given(st.text(st.characters(codec=None)))
@example("\x1b[31m\x07\u202e\ud800\u2028")
def test_no_text_controls_the_terminal(text: str) -> None:
    harmless = plain(text)
    assert not {unicodedata.category(each) for each in harmless} & {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
    harmless.encode()


@given(st.text(st.characters(exclude_categories=("C", "Z"))))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


def test_lines_are_kept_only_when_asked_for() -> None:
    assert plain("a\n\tb\r") == "a\\n\\tb\\r"
    assert plain("a\n\tb\r", lines=True) == "a\n\tb\\r"


def test_markup_is_shown_and_not_interpreted() -> None:
    out = io.StringIO()
    Console(file=out, width=200).print(shown("[bold]x[/bold] :smile: [link=http://e]y[/link]"))
    assert out.getvalue() == "[bold]x[/bold] :smile: [link=http://e]y[/link]\n"
