"""The identity provider's client: where it is looked for, and what is refused before anybody meets it."""

import tomllib

import pytest

from forensics.sign_in import EXAMPLE, NEEDED, SignInError, read_sign_in, secrets_files

REDIRECT = "https://doubletake.example.com/oauth2callback"
WHOLE = {
    "redirect_uri": REDIRECT,
    "cookie_secret": "s3cret" * 8,
    "client_id": "doubletake",
    "client_secret": "known to both",
    "server_metadata_url": "https://id.example.com/.well-known/openid-configuration",
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def write(folder, text=None, **changed):
    """Write a client into a folder's secrets; returns where its settings file would be."""
    values = {name: value for name, value in (WHOLE | changed).items() if value is not None}
    (folder / ".streamlit").mkdir(parents=True)
    lines = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    (folder / ".streamlit" / "secrets.toml").write_text(f"[auth]\n{lines}\n" if text is None else text)
    return folder / "doubletake.toml"


def test_the_client_beside_the_settings_file_wins_over_the_home_folders(tmp_path, home):
    write(home, redirect_uri="https://home.example.com/oauth2callback")
    beside = write(tmp_path / "team")

    assert read_sign_in(beside).host == "doubletake.example.com"
    assert read_sign_in(tmp_path / "elsewhere" / "doubletake.toml").host == "home.example.com"


def test_without_a_settings_file_the_current_folder_is_looked_in(tmp_path, home, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert secrets_files(None) == tuple(folder / ".streamlit" / "secrets.toml" for folder in (home, tmp_path))


def test_people_open_the_address_that_the_sign_in_comes_back_to(tmp_path, home):
    public = read_sign_in(write(tmp_path / "public"))
    here = read_sign_in(write(tmp_path / "here", redirect_uri="http://localhost:{port}/oauth2callback"))

    assert (public.address(8501), public.host) == ("https://doubletake.example.com", "doubletake.example.com")
    assert (here.address(8502), here.host) == ("http://localhost:8502", "localhost")


WRONG = {
    **{f"no {name}": ({name: None}, name) for name in NEEDED},
    "an empty id": ({"client_id": " "}, "client_id"),
    "a number for an id": ({"client_id": 7}, "client_id"),
    "a secret that can be guessed": ({"cookie_secret": "changeme"}, "8 characters"),
    "another path": ({"redirect_uri": "https://doubletake.example.com/"}, "not where the sign-in ends"),
    "a path below": ({"redirect_uri": "https://example.com/app/oauth2callback"}, "not where the sign-in ends"),
    "no address": ({"redirect_uri": "/oauth2callback"}, "not where the sign-in ends"),
    "half an address": ({"redirect_uri": "https://[::1/oauth2callback"}, "not where the sign-in ends"),
    "no encryption": ({"redirect_uri": "http://doubletake.example.com/oauth2callback"}, "unencrypted"),
}


@pytest.mark.parametrize(("changed", "sentence"), WRONG.values(), ids=WRONG)
def test_a_client_nobody_could_sign_in_with_is_refused_with_its_file(tmp_path, home, changed, sentence):
    settings = write(tmp_path, **changed)
    with pytest.raises(SignInError) as refused:
        read_sign_in(settings)

    assert sentence in str(refused.value)
    assert "secrets.toml" in str(refused.value)
    assert refused.value.hint
    assert WHOLE["client_secret"] not in str(refused.value)
    assert "changeme" not in str(refused.value)


BROKEN = {
    "no [auth]": ("[other]\n", "there is no [auth]"),
    "auth as a value": ('auth = "x"\n', "must be written as [auth]"),
    "no TOML": ("[auth\n", "it is not TOML"),
    "no text": (b"\xff\xfe".decode("latin-1") + "[auth", "it is not TOML"),
}


@pytest.mark.parametrize(("text", "sentence"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, home, text, sentence):
    with pytest.raises(SignInError) as refused:
        read_sign_in(write(tmp_path, text))

    assert sentence in str(refused.value)


def test_the_example_asks_for_what_is_needed_and_holds_no_secret(tmp_path, home):
    text = EXAMPLE.read_text(encoding="utf-8")
    said = tomllib.loads(text)["auth"]

    assert set(said) == set(NEEDED)
    assert {name for name, value in said.items() if value} == {"redirect_uri"}
    with pytest.raises(SignInError, match="cookie_secret, client_id, client_secret, server_metadata_url"):
        read_sign_in(write(tmp_path / "as shipped", text))
    for name in set(NEEDED) - {"redirect_uri"}:
        text = text.replace(f'{name} = ""', f"{name} = {WHOLE[name]!r}")
    assert read_sign_in(write(tmp_path / "filled in", text)).redirect_uri == REDIRECT
