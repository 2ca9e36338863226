import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from forensics.errors import SettingsError
from forensics.settings import AcceptedRisk, Consumer, Queue, Settings, place_of_settings

ROOT = Path(__file__).parents[2]
WHOLE = r"""
[[function]]
name = "charge-card"
effect = 'charged payment_id=(?P<key>\S+)'
effect_is_exhaustive = true
started = 'processing (?P<message_id>\S+)'
guard = 'already processed (?P<key>\S+)'
order = "sequential"
idempotent = false

[[worker]]
log_group = "/ecs/orders-worker"
queue = "orders"
format = "laravel"

[[queue]]
name = "payments.fifo"
business_key = "$.payment_id"
owner = "payments team"
"""


def test_every_key_of_the_file_is_read():
    settings = Settings.parse(WHOLE)

    assert settings.functions == (
        Consumer(
            name="charge-card",
            effect=r"charged payment_id=(?P<key>\S+)",
            effect_is_exhaustive=True,
            started=r"processing (?P<message_id>\S+)",
            guard=r"already processed (?P<key>\S+)",
            order="sequential",
            idempotent=False,
        ),
    )
    assert settings.workers == (Consumer(log_group="/ecs/orders-worker", queue="orders", format="laravel"),)
    assert settings.queues == (Queue("payments.fifo", "$.payment_id", "payments team"),)
    assert settings.text == WHOLE


def test_what_is_not_said_is_unknown_and_not_a_default():
    (consumer,) = Settings.parse('[[function]]\nname = "f"').functions

    assert (consumer.order, consumer.idempotent, consumer.effect) == (None, None, None)


def test_no_file_means_defaults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert place_of_settings(None, tmp_path / "lake") is None
    assert Settings.load(None) == Settings()


def test_a_named_file_wins_over_the_current_folder_s_and_that_over_the_lake_s(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own, here, named = tmp_path / "lake" / "doubletake.toml", Path("doubletake.toml"), Path("named.toml")
    own.parent.mkdir()
    found = []
    for file in (own, here):
        file.write_text(WHOLE)
        found.append(place_of_settings(None, own.parent))

    assert found == [own, here]
    assert place_of_settings(named, own.parent) == named, "it need not exist: whoever names it hears so"


BAD = {
    "not TOML": ("[[function]\nname = 1", "not valid TOML"),
    "an unknown section": ("[[functions]]\nname = 'f'", "'functions'"),
    "single brackets": ("[function]\nname = 'f'", "[[function]]"),
    "an unknown key": ("[[function]]\nname = 'f'\neffects = 'x'", "'effects'"),
    "a wrong kind": ("[[function]]\nname = 'f'\neffect_is_exhaustive = 'yes'", "'yes'"),
    "a function without a name": ("[[function]]\norder = 'parallel'", "'name'"),
    "a worker without a log group": ("[[worker]]\nqueue = 'q'", "'log_group'"),
    "a queue without a name": ("[[queue]]\nowner = 'x'", "'name'"),
    "an unknown order": ("[[function]]\nname = 'f'\norder = 'random'", "'random'"),
    "an unknown format": ("[[worker]]\nlog_group = 'g'\nformat = 'rails'", "'rails'"),
    "a broken expression": ("[[function]]\nname = 'f'\neffect = '(?P<key>'", "(?P<key>"),
    "an expression with other classes than lines are read with": (
        "[[function]]\nname = 'f'\neffect = '(?u)charged (?P<key>x)'",
        "ASCII and UNICODE",
    ),
    "an expression that counts too far": ("[[function]]\nname = 'f'\nguard = '(?P<key>x{9999999999})'", "too large"),
    "an expression that finds nothing": ("[[function]]\nname = 'f'\neffect = 'charged'", "'charged'"),
    "an unknown group": ("[[function]]\nname = 'f'\neffect = '(?P<id>x)'", "'id'"),
    "two queues of one name": ("[[queue]]\nname = 'q'\n[[queue]]\nname = 'q'", "[[queue]] has 'q' twice"),
    "two functions of one name": ("[[function]]\nname = 'f'\n[[function]]\nname = 'f'", "'f' twice"),
    "two workers of one log group": ("[[worker]]\nlog_group = 'g'\n[[worker]]\nlog_group = 'g'", "'g' twice"),
    "one risk accepted twice": (
        "[[queue]]\nname = 'q'\n" + "[[queue.accepted]]\ncheck = 'c'\nuntil = 2026-12-31\nreason = 'r'\n" * 2,
        "[[queue.accepted]] of 'q' has 'c' twice",
    ),
    "a number that is a flag": (
        "[team]\nstale_after_min = true",
        "[team] stale_after_min = True is not a whole number",
    ),
    "a flag that is a number": ("keep_bodies = 0", "keep_bodies = 0 is not true or false"),
    "a number in quotes": ("[access]\nsession_hours = '8'", "[access] session_hours = '8' is not a whole number"),
    "a dashboard that is no address": ("[notify]\ndashboard = 'nonsense'", "[notify] dashboard = 'nonsense' is not"),
    "an address without a server": ("[notify]\ndashboard = 'https://'", "'https://' is not the address of a server"),
    "an endpoint that is no address": ("[[account]]\nendpoint_url = 'localhost:4566'", "'localhost:4566' is not"),
    "an ARN for a name": (
        "[[queue]]\nname = 'arn:aws:sqs:eu-west-1:1:q'",
        "[[queue]] 'arn:aws:sqs:eu-west-1:1:q' name = 'arn:aws:sqs:eu-west-1:1:q' is not a queue's name",
    ),
    "no owner in the owner": ("[[queue]]\nname = 'q'\nowner = ''", "[[queue]] 'q' owner = '' is empty"),
    "double brackets": ("[[team]]\nzone = 'UTC'", "'team' must be written as [team]"),
    "a value for a section": ("team = 'payments'", "'team' must be written as [team]"),
    "a key of another section": ("[team]\nowner = 'x'", "[team] has no key 'owner'"),
    "a path that is none": ("[[queue]]\nname = 'q'\nbusiness_key = 'payment_id'", "'payment_id'"),
}


@pytest.mark.parametrize(("text", "named"), BAD.values(), ids=BAD)
def test_what_cannot_be_meant_is_refused_with_the_value_and_a_hint(text, named):
    with pytest.raises(SettingsError) as caught:
        Settings.parse(text, "team.toml")

    assert named in str(caught.value)
    assert str(caught.value).startswith("team.toml")
    assert caught.value.hint


def test_a_misspelled_key_is_answered_with_the_one_that_was_meant():
    with pytest.raises(SettingsError) as caught:
        Settings.parse("[[queue]]\nname = 'q'\nbusines_key = '$.id'")

    assert caught.value.hint.startswith("Did you mean 'business_key'? Known keys: accepted, business_key,")


def test_the_hint_shows_how_the_value_is_written():
    with pytest.raises(SettingsError) as caught:
        Settings.parse("[team]\nzone = 9")

    assert caught.value.hint == 'Write zone = "Asia/Tokyo".'


def test_a_process_that_reads_no_file_loads_no_pydantic():
    code = "import sys, forensics.settings, forensics.streams.attribution; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(SettingsError, match="nothing.toml"):
        Settings.load(tmp_path / "nothing.toml")


def test_a_file_that_is_not_text_is_named(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SettingsError, match="binary.toml"):
        Settings.load(tmp_path / "binary.toml")


PATHS = ("$", "$.a", "$.order.id", "$.items[0].id", "$.snake_case", "$.kebab-case")


@pytest.mark.parametrize("path", PATHS)
def test_several_business_keys_are_paths_in_order(path):
    text = f"[[queue]]\nname = 'q'\nbusiness_key = ['$.first', '{path}']"
    (queue,) = Settings.parse(text).queues

    assert queue.key_paths == ("$.first", path)


BAD_PATHS = {
    "one of them is none": ("['$.a', 'payment_id']", "'payment_id'"),
    "an empty list": ("[]", "business_key"),
    "a number": ("7", "business_key"),
}


@pytest.mark.parametrize(("written", "named"), BAD_PATHS.values(), ids=BAD_PATHS)
def test_what_is_no_list_of_paths_is_named(written, named):
    with pytest.raises(SettingsError) as caught:
        Settings.parse(f"[[queue]]\nname = 'q'\nbusiness_key = {written}")

    assert named in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("path", PATHS)
def test_a_business_key_is_a_json_path(path):
    (queue,) = Settings.parse(f"[[queue]]\nname = 'q'\nbusiness_key = '{path}'").queues

    assert queue.business_key == path


ACCEPTED = """
[[queue]]
name = "orders"
note = "nightly batch"
[[queue.accepted]]
check = "drift"
until = 2026-12-31
reason = "moves in January"
"""


def test_a_queue_has_a_note_and_accepted_risks_with_a_day():
    (queue,) = Settings.parse(ACCEPTED).queues

    assert queue.note == "nightly batch"
    assert queue.accepted == (AcceptedRisk("drift", date(2026, 12, 31), "moves in January"),)


def test_a_queue_of_which_nothing_is_said_has_only_its_name():
    assert Settings.parse(ACCEPTED).queue("mail") == Queue("mail")


BAD_RISKS = {
    "no day": ("until = 2026-12-31", "", "lacks 'until'"),
    "a day as text": ("2026-12-31", '"soon"', "until = 'soon' is not a date"),
    "no reason": ('reason = "moves in January"', "", "lacks 'reason'"),
    "single brackets": ("[[queue.accepted]]", "[queue.accepted]", "accepted"),
    "a key nobody knows": ("reason", "why", "no key 'why'"),
}


@pytest.mark.parametrize(("old", "new", "said"), BAD_RISKS.values(), ids=BAD_RISKS)
def test_an_accepted_risk_that_cannot_be_meant_is_refused(old, new, said):
    with pytest.raises(SettingsError, match=said):
        Settings.parse(ACCEPTED.replace(old, new))


def test_accounts_name_profiles_and_regions():
    found = Settings.parse(
        '[[account]]\nprofile = "prod"\nregions = ["eu-west-1", "us-east-1"]\n[[account]]\nprofile = "x"'
    )

    assert [(a.profile, a.regions) for a in found.accounts] == [("prod", ("eu-west-1", "us-east-1")), ("x", ())]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[[account]]\nregions = ["Ireland"]', "'Ireland'"),
        ("[[account]]\nregions = [1]", "1, which is not a region"),
        ('[[account]]\nregions = "eu-west-1"', "'eu-west-1' is not a list"),
        ("[[account]]", "says nothing"),
        ('[[account]]\nrole = "x"', "'role'"),
    ],
)
def test_an_account_that_cannot_be_meant_is_named(text, named):
    with pytest.raises(SettingsError, match=named):
        Settings.parse(text)


def test_a_queue_weighs_as_much_as_any_other_where_nothing_is_said():
    said = Settings.parse('[[queue]]\nname = "payments"\nweight = 20\n[[queue]]\nname = "mail"\n')

    assert said.weights == {"payments": 20}
    with pytest.raises(SettingsError):
        Settings.parse('[[queue]]\nname = "mail"\nweight = 0\n')


def test_every_mistake_of_a_file_is_told_at_once():
    with pytest.raises(SettingsError) as caught:
        Settings.parse("[[worker]]\nlog_grop = 'g'\n[[queue]]\nnam = 'q'\n[team]\nzone = 5\n")

    assert all(word in str(caught.value) for word in ("'log_grop'", "'nam'", "zone = 5"))


def test_a_section_that_is_not_closed_is_told_to_be_closed():
    with pytest.raises(SettingsError) as caught:
        Settings.parse("[[worker]\nlog_group = 'g'\n")

    assert caught.value.hint == "Close the section's name: [[worker]] or [team]."
