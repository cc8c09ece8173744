from hypothesis import given
from hypothesis import strategies as st

from alerts.plain import clip, fit_key, one_line

anything = st.text(st.characters(), max_size=80) | st.text(
    st.sampled_from("a😀\u200d👩\u0301\ufe0f"), max_size=80
)


def units(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@given(anything)
def test_one_line_is_one_line_that_can_be_sent(text):
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    line.encode("utf-8")
    assert one_line(line) == line


def test_direction_marks_and_controls_go():
    assert one_line("a\u202eb\x00c\td\u2028e\ud800") == "ab c d e\ufffd"


@given(anything.map(one_line), st.integers(1, 60))
def test_a_clipped_text_fits_and_is_a_beginning(text, limit):
    short = clip(text, limit)
    assert units(short) <= limit
    assert short == text or text.startswith(short[:-1])
    short.encode("utf-8")


def test_an_emoji_at_the_cut_is_left_out_whole():
    assert clip("abc😀def", 5) == "abc…"
    assert clip("abc😀def", 6) == "abc😀…"
    assert clip("abc😀", 5) == "abc😀"


def test_what_belongs_together_is_not_parted():
    family = "👩\u200d👧"
    assert clip(f"ab{family}cdef", 6) == "ab…"
    assert clip("abe\u0301fgh", 4) == "ab…"
    assert clip("ab👍\U0001f3fdfgh", 5) == "ab…"


@given(st.text(st.characters(), max_size=600), st.text(st.characters(), max_size=600))
def test_keys_fit_are_stable_and_stay_apart(one, other):
    key = fit_key(one)
    assert key == fit_key(one)
    assert 0 < len(key) <= 255
    assert key.isascii()
    assert (key == fit_key(other)) is (one == other)


def test_a_fitting_key_stays_as_it_is():
    assert fit_key("k" * 255) == "k" * 255
    assert fit_key("k" * 256) != fit_key("k" * 257)
