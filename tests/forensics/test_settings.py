from datetime import date

import pytest

from forensics.errors import SettingsError
from forensics.settings import AcceptedRisk, Consumer, Queue, Settings

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

    assert Settings.load(None) == Settings()


def test_the_file_in_the_current_folder_is_found(tmp_path, monkeypatch):
    (tmp_path / "doubletake.toml").write_text(WHOLE)
    monkeypatch.chdir(tmp_path)

    assert Settings.load(None).queues[0].name == "payments.fifo"


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
    "a path that is none": ("[[queue]]\nname = 'q'\nbusiness_key = 'payment_id'", "'payment_id'"),
}


@pytest.mark.parametrize(("text", "named"), BAD.values(), ids=BAD)
def test_what_cannot_be_meant_is_refused_with_the_value_and_a_hint(text, named):
    with pytest.raises(SettingsError) as caught:
        Settings.parse(text, "team.toml")

    assert named in str(caught.value)
    assert str(caught.value).startswith("team.toml")
    assert caught.value.hint


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(SettingsError, match="nothing.toml"):
        Settings.load(tmp_path / "nothing.toml")


def test_a_file_that_is_not_text_is_named(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SettingsError, match="binary.toml"):
        Settings.load(tmp_path / "binary.toml")


PATHS = ("$", "$.a", "$.order.id", "$.items[0].id", "$.snake_case", "$.kebab-case")


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
