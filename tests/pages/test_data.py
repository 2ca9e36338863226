"""The Data page: what was read, what is missing, and the settings in force."""

from tests.pages.reading import words


def test_data_says_what_was_read_and_that_looking_changes_nothing(visit):
    at = visit("pages/data.py", "demo")

    assert "Everything that was asked of 3 sources was read in full" in words(at)
    assert "never calls ReceiveMessage" in words(at)


def test_data_names_gaps_and_marks_the_day(visit):
    at = visit("pages/data.py", "gaps")
    coverage, missing = at.dataframe[0].value, at.dataframe[1].value

    assert coverage.set_index("Queue").loc["mail", "18 Nov"] == "◐ partial"
    assert "AccessDenied" in missing["Why"][0]
    assert missing["Length"][0] == "30 min"


def test_data_shows_the_settings_file_word_for_word(visit, tmp_path):
    text = "[[function]]\nname = 'charge-card'\neffect = 'charged (?P<key>\\S+)'\n"
    (tmp_path / "doubletake.toml").write_text(text)
    at = visit("pages/data.py", "demo")

    assert any(code.value == text.strip() for code in at.code)


def test_data_looks_for_the_marks_of_a_queue_on_demand_and_says_what_it_found(visit):
    at = visit("pages/data.py", "demo")
    before = words(at)
    at.button(key="look_for_marks").click().run()

    assert "Find the marks in the log" in before
    assert "Nothing to propose" not in before
    assert not at.exception
    assert "Nothing to propose" in words(at) or "All together" in words(at)
