"""How far the dashboard may be reached: on this machine by anybody, beyond it only by people that were let in."""

import pytest

from cli.dashboard import ExposureError, check_exposure
from forensics.settings import Settings, SettingsError

HOST = ["doubletake.example.com"]


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.1.2.3"])
def test_beyond_this_machine_needs_a_login_or_a_trusted_proxy(address):
    with pytest.raises(ExposureError, match="nothing guards"):
        check_exposure(address, "none", False, HOST)

    assert check_exposure(address, "oidc", False, HOST).address == address
    assert check_exposure(address, "none", True, HOST).behind_proxy


def test_beyond_this_machine_needs_the_name_people_use():
    with pytest.raises(ExposureError, match="needs the name"):
        check_exposure("0.0.0.0", "oidc", False, [])


def test_on_this_machine_nothing_is_asked():
    assert check_exposure("127.0.0.1", "none", False, []).hosts == ("127.0.0.1", "localhost")
    assert check_exposure("::1", "none", False, []).hosts == ("127.0.0.1", "localhost", "::1")


WRONG = {
    "an unknown mode": ('[access]\nmode = "saml"', "'saml' is unknown"),
    "a login for nobody": ('[access]\nmode = "oidc"', "lets nobody in"),
    "an entry that is no address": ('[access]\nmode = "oidc"\nemails = ["ana"]', "not e-mail addresses"),
    "an endless session": ("[access]\nsession_hours = 0", "not positive"),
    "a webhook's address in the file": (
        '[notify]\nwebhook_env = "https://hooks.example.com/x"',
        "not the name of a variable",
    ),
    "an unknown webhook": ('[notify]\nkind = "pager"', "'pager' is unknown"),
}


@pytest.mark.parametrize(("text", "sentence"), WRONG.values(), ids=WRONG)
def test_the_settings_file_refuses(text, sentence):
    with pytest.raises(SettingsError, match=sentence):
        Settings.parse(text)


def test_the_settings_file_names_who_may_look():
    settings = Settings.parse('[access]\nmode = "oidc"\nemails = ["@example.com"]\nsession_hours = 8')

    assert (settings.access.mode, settings.access.emails, settings.access.session_hours) == (
        "oidc",
        ("@example.com",),
        8,
    )
