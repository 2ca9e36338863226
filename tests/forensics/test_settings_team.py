import pytest

from forensics.errors import SettingsError
from forensics.settings import Settings, Team


def test_a_team_has_a_zone_and_a_limit_for_old_data():
    settings = Settings.parse('[team]\nzone = "Asia/Tokyo"\nstale_after_min = 30\n')

    assert settings.team == Team("Asia/Tokyo", 30)


def test_without_a_team_section_data_counts_as_old_after_an_hour():
    assert Settings.parse("").team == Team(None, 60)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[team]\nzone = "Mars/Olympus"', "'Mars/Olympus' is not a time zone"),
        ('[team]\nzone = "../etc/passwd"', "is not a time zone"),
        ("[team]\nstale_after_min = 0", "stale_after_min = 0 is not positive"),
        ("[team]\nstale_after_min = 10000000000", "stale_after_min = 10000000000 is larger than 1,000,000,000"),
        ("[notify]\nsmtp_port = 70000", "smtp_port = 70000 is larger than 65,535"),
        ("[[queue]]\nname = 'q'\nbusiness_key = ''", "'q' business_key has '', which is empty"),
        ("[[queue]]\nname = 'q'\nbusiness_key = []", r"'q' business_key = \[\] is empty"),
        ('[[team]]\nzone = "UTC"', r"must be written as \[team\]"),
        ("[team]\ncolour = 'red'", "has no key 'colour'"),
    ],
    ids=[
        *("unknown zone", "a path", "no minutes", "minutes of millennia", "no port", "an empty path", "no path"),
        *("double brackets", "unknown key"),
    ],
)
def test_what_a_team_cannot_mean_is_named(text, named):
    with pytest.raises(SettingsError, match=named):
        Settings.parse(text)
