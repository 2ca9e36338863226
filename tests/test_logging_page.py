"""The page about logging: what its examples print is read as the page says."""

import json
import re
from pathlib import Path

import pytest

from forensics.parsers import parse_line
from forensics.parsers.marks import Mark
from forensics.settings import Settings

PAGE = (Path(__file__).parent.parent / "docs" / "logging.md").read_text(encoding="utf-8")
ID = "861bec95-b670-4f2a-acf9-19d5bdd7cbe5"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


JSON_SETTINGS, LARAVEL_SETTINGS = (Settings.parse(text) for text in blocks("toml"))
PRINTED = blocks("json")[0].splitlines()
READ = {
    "work started": ("started", Mark(ID, None), 1),
    "work done": ("effect", Mark(ID, "pay-1001"), 1),
    "work stopped": ("guard_mark", Mark(ID, "pay-1001"), 2),
}


@pytest.mark.parametrize("line", PRINTED, ids=[json.loads(line)["message"] for line in PRINTED])
def test_a_line_of_the_json_examples_is_read(line):
    mark, about, receive_count = READ[json.loads(line)["message"]]
    said = parse_line(line, JSON_SETTINGS.functions[0])

    assert getattr(said, mark) == about
    assert said.receive_count == receive_count
    assert {name for name in ("started", "effect", "guard_mark") if getattr(said, name)} == {mark}


def test_the_line_of_laravel_is_read():
    (line,) = blocks("text")[0].splitlines()

    assert parse_line(line, LARAVEL_SETTINGS.workers[0]).effect == Mark(ID, "pay-1001")


def test_the_examples_print_the_words_that_the_settings_look_for():
    examples = "".join(blocks("python") + blocks("ts") + blocks("java"))

    assert set(re.findall(r'"(work \w+)"', examples)) <= set(READ)
    assert {"work started", "work done"} <= set(re.findall(r'"(work \w+)"', examples))
