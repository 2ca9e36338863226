"""Which lines vectors read by their shape, and which they leave to the grammar."""

import pytest

from forensics.streams.model import LogGroup
from forensics.streams.shapes import MENTION, OTHER_ID, OWN_ID, ask

SHAPES = {
    "an error of a message": (f"[ERROR]\t0000-00-00T00:00:00.000Z\t{OWN_ID}\tmessage {OTHER_ID} timed out", None),
    "an error of nobody": (f"[ERROR]\t0000-00-00T00:00:00.000Z\t{OWN_ID}\ttimed out", None),
    "information on a message": (f"[INFO]\t0000-00-00T00:00:00.000Z\t{OWN_ID}\tmessage {OTHER_ID} took 0 s", MENTION),
    "an error by its number": ('{"level":50,"time":0000000000000,"pid":0,"msg":"timed out"}', None),
    "information by its number": ('{"level":00,"time":0000000000000,"pid":0,"msg":"errors: 0"}', 0),
    "that a repeat was stopped": (f"[INFO]\t0000-00-00T00:00:00.000Z\t{OWN_ID}\talready charged pay-0, skipping", None),
    "information on nobody": (f"[INFO]\t0000-00-00T00:00:00.000Z\t{OWN_ID}\terrors: 0", 0),
}


@pytest.mark.parametrize(("shape", "says"), SHAPES.values(), ids=SHAPES)
def test_vectors_read_no_error(shape, says):
    asked = ask(shape, LogGroup("/aws/lambda/charge", "lambda", "charge"))

    assert (None if asked.is_odd else asked.says) == says


RAISED = (
    'Error raised from handler method\n{{\n  "errorMessage": "no route",\n  "errorType": "{}",\n  "stackTrace": []\n}}'
)


def test_an_error_type_that_is_the_same_in_each_line_is_read_by_vectors():
    asked = ask(RAISED.format("Function<TypeError>"), LogGroup("/aws/lambda/charge", "lambda", "charge"))

    assert (asked.is_odd, asked.error_type) == (False, "Function<TypeError>")


@pytest.mark.parametrize("mask", ["0", OWN_ID, OTHER_ID], ids=["digit", "own id", "other id"])
def test_an_error_type_that_may_be_another_in_each_line_is_left_to_the_grammar(mask):
    assert ask(RAISED.format(f"Function<Ty{mask}peError>"), LogGroup("/aws/lambda/charge", "lambda", "charge")).is_odd
