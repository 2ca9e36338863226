"""The settings file's JSON Schema: fresh, and of one mind with what is read."""

import dataclasses
import re
import tomllib

import jsonschema
import pytest

from forensics import docsettings, settings
from forensics.errors import SettingsError
from forensics.settings import Settings
from forensics.settings_errors import section_of
from forensics.settings_file import SettingsFile
from tests.forensics.test_settings import BAD, WHOLE


def by_schema(text: str) -> list[str]:
    """Return what an editor would mark; dates are written as it reads them."""
    data = tomllib.loads(re.sub(r"= (\d{4}-\d\d-\d\d)", r'= "\1"', text))
    return [error.message for error in jsonschema.Draft7Validator(docsettings.schema()).iter_errors(data)]


def test_the_schema_is_fresh():
    assert docsettings.SCHEMA_FILE.read_text(encoding="utf-8") == docsettings.schema_text(), (
        "run: python -m forensics.docsettings"
    )


def test_the_schema_is_one():
    jsonschema.Draft7Validator.check_schema(docsettings.schema())


@pytest.mark.parametrize("text", [docsettings.EXAMPLE, WHOLE, ""], ids=["example", "whole", "empty"])
def test_a_good_file_passes_both(text):
    Settings.parse(text)

    assert by_schema(text) == []


SEEN_BY_AN_EDITOR = (
    "an unknown section",
    "single brackets",
    "an unknown key",
    "a wrong kind",
    "a function without a name",
    "an unknown order",
    "an unknown format",
)


@pytest.mark.parametrize("case", SEEN_BY_AN_EDITOR)
def test_an_editor_marks_what_the_file_is_refused_for(case):
    text, _ = BAD[case]

    assert by_schema(text)
    with pytest.raises(SettingsError):
        Settings.parse(text)


def test_the_example_shows_every_key_but_those_of_tests():
    def keys(model, data) -> set[str]:
        left = set(model.model_fields) - set(data)
        for key, value in data.items():
            if found := section_of(model, key):
                entries = value if isinstance(value, list) else [value]
                left |= {f"{key}.{k}" for k in set.intersection(*(keys(found[0], e) for e in entries))}
        return left

    data = tomllib.loads(docsettings.EXAMPLE)
    merged = data["function"][0] | data["worker"][0]
    left = {k for k in keys(SettingsFile, data) if k.split(".")[-1] not in merged}

    assert left == {"handle_key_file", "account.endpoint_url"}


VALUES = {
    "function": settings.Consumer,
    "queue": settings.Queue,
    "account": settings.Account,
    "team": settings.Team,
    "access": settings.Access,
    "notify": settings.Notify,
}


@pytest.mark.parametrize("name", VALUES)
def test_what_a_section_says_has_a_place_among_the_values_with_the_same_default(name):
    model, _ = section_of(SettingsFile, name)
    values = {f.name: f for f in dataclasses.fields(VALUES[name])}

    assert set(model.model_fields) <= set(values)
    for key, field in model.model_fields.items():
        assert field.is_required() or field.default == values[key].default, key


@pytest.mark.parametrize("written", ["'$.a'", "['$.a', '$.b']"], ids=["one path", "several"])
def test_an_editor_takes_one_path_and_several(written):
    assert by_schema(f"[[queue]]\nname = 'q'\nbusiness_key = {written}") == []
    assert by_schema("[[queue]]\nname = 'q'\nbusiness_key = []")
