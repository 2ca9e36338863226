"""What is suggested after an incident is possible under the newest settings, and changes something."""

import pytest

from forensics.language import Language
from forensics.report.actions import Room, room_in
from forensics.report.follow_ups import follow_ups
from forensics.report.stop_now import Scene
from tests.forensics.report.test_language import in_english

INCIDENT = {
    **dict.fromkeys(("confirmed", "probable", "possible", "absorbed", "harmless"), 0),
    "messages": 1,
    "works": 1,
    "trigger": None,
}
ONE, ON, LONGEST = Room(takes_one_message=True), Room(reports_failed_items=True), Room(has_longest_timeout=True)
SUGGESTED = {
    "a timeout": ("function_timeout=1", None, Room(), "Give the batch time to finish: a smaller batch, or a function"),
    "a timeout of a single message": (
        "function_timeout=1",
        None,
        ONE,
        "Give the run time to finish: a function timeout",
    ),
    "a timeout that cannot be longer": (
        "function_timeout=1",
        None,
        LONGEST,
        "Give the batch time to finish: a smaller batch, for",
    ),
    "a timeout with room for nothing": (
        "function_timeout=1",
        None,
        Room(takes_one_message=True, has_longest_timeout=True),
        "Make the work of one message shorter",
    ),
    "finished before a timeout": ("batch_collateral=1", "function_timeout", Room(), "Give the batch time to finish"),
    "finished before an error": ("batch_collateral=1", "function_error", Room(), "Report failed items alone"),
    "an error": ("function_error=1", "function_error", Room(), "Report failed items alone"),
    "an error, and failed items are reported": ("function_error=1", "function_error", ON, "Let the handler catch each"),
    "an error of a single message": ("function_error=1", "function_error", ONE, "Find why the handler raises"),
    "an error of a worker": ("function_error=1", None, Room(is_of_workers=True), "Find why handlings fail"),
    "a delete of a worker": ("delete_failed=1", None, Room(is_of_workers=True), "Check and repeat deletes"),
    "a delete of Lambda's poller": ("delete_ineffective=1", None, Room(is_of_functions=True), "Let the handler refuse"),
}


@pytest.mark.parametrize(("cause", "trigger", "room", "action"), SUGGESTED.values(), ids=SUGGESTED)
def test_what_is_suggested_has_room_in_the_settings_and_is_said_in_japanese(cause, trigger, room, action):
    (one,) = follow_ups(INCIDENT | {"causes": [cause], "trigger": trigger}, [], [], room=room)
    say = Language("ja").sentence

    assert one.action.startswith(action)
    assert set(in_english(f"{say(one.action)} {say(one.reason)}")) <= {
        "Lambda",
        "ReportBatchItemFailures",
        "batchItemFailures",
    }


def test_of_several_mappings_all_must_leave_no_room():
    mappings = [{"batch_size": 1, "reports_batch_item_failures": True, "maximum_concurrency": None}] * 2
    scene = Scene({}, {"visibility_timeout_s": 43_200}, ({"timeout_s": 900},), tuple(mappings), None)
    wider = Scene({}, None, (), (*mappings, {"batch_size": 10, "maximum_concurrency": 2}), None)

    assert room_in(scene) == Room(True, True, True, True)
    assert room_in(wider) == Room()
