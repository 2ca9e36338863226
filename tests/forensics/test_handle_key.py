"""Tokens of receipt handles made with a key of the lake's own, which stays outside the lake."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forensics.errors import SettingsError
from forensics.identity import handle_token
from forensics.lake.handle_mark import hold_to_key
from forensics.privacy import Privacy, redact, redacting
from forensics.redaction import redact_handles
from forensics.settings import Settings
from forensics.tables.evidence import LOG_EVENTS
from tests.ingest.world import HANDLE

LINE = f"receiptHandle: '{HANDLE}'"


@pytest.fixture
def key_file(tmp_path):
    """Return a function that makes a key file and the settings that name it."""

    def make(name: str, key: bytes, mode: int = 0o600) -> Settings:
        file = tmp_path / name
        file.write_bytes(key)
        file.chmod(mode)
        return Settings.parse(f"handle_key_file = '{file}'")

    return make


@contextmanager
def reading_into(settings: Settings, lake: Path) -> Iterator[None]:
    """Do as a collection does, which has the lake to itself."""
    with redacting(settings) as rules:
        lake.mkdir(exist_ok=True)
        hold_to_key(lake, rules.handle_key, settings.handle_key_file)
        yield


def collected(lake) -> None:
    """Make a lake look as if log events had been collected into it."""
    (lake / LOG_EVENTS.layer / LOG_EVENTS.name).mkdir(parents=True)


def test_a_handle_has_one_token_in_a_lake_and_another_in_a_lake_with_another_key(tmp_path, key_file):
    tokens = []
    for lake, key in (("one", b"1" * 32), ("one", b"1" * 32), ("two", b"2" * 32)):
        with reading_into(key_file(key.decode()[0], key), tmp_path / lake):
            tokens.append(redact(LINE))
    without = redact_handles(LINE)

    assert tokens[0] == tokens[1]
    assert len({*tokens, without}) == 3
    assert all(HANDLE[24:] not in token for token in tokens)
    assert all(HANDLE[:24] in token for token in tokens)


def test_the_key_is_in_no_token_no_lake_and_no_printed_rules(tmp_path, key_file):
    key = bytes(range(65, 97))
    settings = key_file("key", key)
    with reading_into(settings, tmp_path / "lake"):
        token = redact(LINE)
    written = b"".join(f.read_bytes() for f in (tmp_path / "lake").rglob("*") if f.is_file())

    assert key not in written + token.encode()
    assert key.hex() not in written.decode() + token
    assert str(key) not in repr(Privacy.of(settings))


def test_a_lake_goes_on_with_the_key_it_was_begun_with(tmp_path, key_file):
    lake, settings = tmp_path / "lake", key_file("key", b"k" * 32)
    for _ in range(2):
        with reading_into(settings, lake):
            pass
        if not (lake / "evidence").exists():
            collected(lake)

    for other, sentence in (
        (Settings(), "replaced with a key: new ones would not join"),
        (key_file("other", b"o" * 32), "replaced with another key"),
    ):
        with pytest.raises(SettingsError, match=sentence), reading_into(other, lake):
            pytest.fail("nothing may be read with another key")


def test_a_lake_begun_without_a_key_goes_on_without(tmp_path, key_file):
    lake = tmp_path / "lake"
    collected(lake)
    with reading_into(Settings(), lake):
        pass

    with pytest.raises(SettingsError, match="replaced without a key"), reading_into(key_file("key", b"k" * 32), lake):
        pytest.fail("nothing may be read with a key")
    assert sorted(f.name for f in lake.iterdir()) == ["evidence"]


@pytest.mark.parametrize(
    ("key", "mode", "sentence"),
    [(b"k" * 31, 0o600, "31 bytes, which can be guessed"), (b"k" * 32, 0o640, "other users .mode 0640")],
)
def test_a_key_that_protects_nothing_is_refused(tmp_path, key_file, key, mode, sentence):
    with pytest.raises(SettingsError, match=sentence), reading_into(key_file("key", key, mode), tmp_path / "lake"):
        pytest.fail("nothing may be read with such a key")
    assert not (tmp_path / "lake").exists()


def test_a_key_that_is_not_there_or_lies_in_the_lake_is_refused(tmp_path, key_file):
    with pytest.raises(SettingsError, match="'/no/such/key' cannot be read"):
        Privacy.of(Settings.parse("handle_key_file = '/no/such/key'"))
    with pytest.raises(SettingsError, match="inside the lake"):
        hold_to_key(tmp_path, b"k" * 32, str(tmp_path / "key"))
    with pytest.raises(SettingsError, match="handle_key_file = 7 is not a path"):
        Settings.parse("handle_key_file = 7")


def test_a_token_cannot_be_tried_out_without_the_key():
    assert handle_token("x" * 200, b"k" * 32) != handle_token("x" * 200)
