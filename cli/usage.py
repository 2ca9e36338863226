"""What the parser says of a command line that it cannot read, by phrase and value.

Typer gives finished English sentences and nothing else: this is the one place where a sentence is known by its form.
"""

import re
from typing import Any

from forensics.sentence import said

_FORMS = {
    r"No such option: (?P<option>.*) \(Possible options: (?P<names>.*)\)": "No such option: {option} (Possible options: {names})",
    r"No such option: (?P<option>.*)": "No such option: {option}",
    r"No such command (?P<option>'.*')\. Did you mean (?P<names>.*)\?": "No such command {option}. Did you mean {names}?",
    r"No such command (?P<option>.*)\.": "No such command {option}.",
    r"Got unexpected extra argument\(s\) \((?P<names>.*)\)": "Got unexpected extra arguments ({names})",
    r"Missing argument (?P<option>.*)\.": "Missing argument {option}.",
    r"Missing option (?P<option>.*)\.": "Missing option {option}.",
    r"Option (?P<option>'[^']*') requires an argument\.": "Option {option} requires an argument.",
    r"Option (?P<option>'[^']*') does not take a value\.": "Option {option} does not take a value.",
    r"Invalid value for (?P<option>'[^']*'): (?P<why>.*)": "Invalid value for {option}: {why}",
    r"(?P<value>'.*') is not one of (?P<names>.*)\.": "{value} is not one of {names}.",
}
_READ = {re.compile(form, re.DOTALL): phrase for form, phrase in _FORMS.items()}


_NO_NUMBER = ("int_parsing", "int_parsing_size", "int_from_float", "greater_than_equal", "less_than_equal")
"""What Typer's own reader of values says of text that is not the whole number an option takes; it leaves out the text."""


def of_problem(problem: Any) -> str:
    """Return what is wrong with a command line; of a number with the option, what stood there, and what it takes."""
    errors: list[dict[str, Any]] = getattr(problem.__cause__, "errors", list)()
    if not errors or errors[0]["type"] not in _NO_NUMBER:
        return of_parser(problem.format_message())
    option, least, most = (getattr(problem.param, name) for name in ("opts", "min", "max"))
    told = {"option": max(option, key=len), "value": f"{str(errors[0]['input'])!r:.80}"}
    if least is None:
        return said("{option} {value} is not a whole number", **told)
    if most is None:
        return said("{option} {value} is not a whole number from {least} on", least=str(least), **told)
    return said(
        "{option} {value} is not a whole number from {least} to {most}", least=str(least), most=str(most), **told
    )


def of_parser(sentence: str) -> str:
    """Return a sentence of the parser with its values marked; as it is where it says something else.

    >>> of_parser("No such command 'stauts'.")
    "No such command 'stauts'."
    """
    sentence = sentence.replace("Value error, ", "")
    for form, phrase in _READ.items():
        if found := form.fullmatch(sentence):
            return said(
                phrase,
                **{name: of_parser(value) if name == "why" else value for name, value in found.groupdict().items()},
            )
    return sentence
