from hypothesis import given
from hypothesis import strategies as st

from actors.untrusted import clean, fenced, one_line, paragraphs, quoted

ANY = st.text(st.characters(codec=None))


@given(ANY, st.integers(1, 400))
def test_one_line_is_visible_and_bounded(text: str, longest: int) -> None:
    line = one_line(text, longest)
    assert len(line) <= longest
    assert line.isprintable()
    line.encode("utf-8")


@given(ANY, st.integers(1, 400))
def test_a_quotation_cannot_be_left(text: str, longest: int) -> None:
    shown = quoted(text, longest)
    assert all(line.startswith(">") for line in shown.splitlines())
    assert len(paragraphs(text, longest)) <= longest
    shown.encode("utf-8")


@given(st.text("`a\n "))
def test_a_fence_is_longer_than_any_inside(code: str) -> None:
    first, *_, last = fenced(code).split("\n")
    assert first == f"{last}python"
    assert last not in code


@given(ANY)
def test_clean_text_fits_a_file(text: str) -> None:
    clean(text).encode("utf-8")


def test_what_steers_a_terminal_shows_as_an_escape() -> None:
    assert one_line("a\x1b[31mb\u202ec\x00d\u200b") == "a\\x1b[31mb\\u202ec\\x00d\\u200b"
    assert paragraphs("a\x1b\r\n\tb\u2028c", 99) == "a\\x1b\n b\\u2028c"
