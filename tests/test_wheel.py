"""The wheel as a stranger has it: built, installed in an empty environment, and run from a folder that is not ours."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from importlib.metadata import Distribution, distribution
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from oidc_provider_mock import User, run_server_in_thread
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from forensics.extras import DISTRIBUTION, EXTRAS
from tests.signing_in import Visitor, without_authorities
from tests.temporary import ON_DISK
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.process, pytest.mark.emulator, pytest.mark.spark, pytest.mark.slow]
ROOT = Path(__file__).parent.parent
PARTS = ("cli", "forensics", "ingest", "lab", "pages", "spark_jobs")
NOT_SHIPPED = {"hatch_build.py"}


def run(*command: object, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=os.environ | more, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel with the tools that are installed here."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def metadata(wheel) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


@dataclass
class Installed:
    """An environment with the wheel and what it asks for, and a folder elsewhere whose modules have our modules' names."""

    bin: Path
    elsewhere: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return run(self.bin / command[0], *command[1:], cwd=self.elsewhere)


def asked_for(requirements: Iterable[Requirement], extras: Iterable[str]) -> Iterator[Distribution]:
    """Yield the distributions of this environment that requirements name, and those that these ask for in turn."""
    to_do = [(r, extra) for r in requirements for extra in ("", *extras)]
    seen = set()
    while to_do:
        requirement, extra = to_do.pop()
        name = canonicalize_name(requirement.name)
        if (requirement.marker and not requirement.marker.evaluate({"extra": extra})) or (name, extra) in seen:
            continue
        if not any(known == name for known, _ in seen):
            yield distribution(name)
        seen.add((name, extra))
        more = [Requirement(text) for text in distribution(name).requires or ()]
        to_do += [(r, inner) for r in more for inner in ("", *requirement.extras)]


def files_of(package: Distribution) -> Iterator[Path]:
    """Yield what a distribution installed, below the folder of packages.

    Debian's pip installs by ``setup.py`` what comes as source; what Python then tells are the files of that source.
    """
    info = Path(str(package.locate_file(f"{package.name}-{package.version}.egg-info")))
    if (told := info / "installed-files.txt").exists():
        yield from (Path(os.path.relpath(info / line, info.parent)) for line in told.read_text().splitlines())
    else:
        yield from map(Path, package.files or ())


def link_compiled(file: str, there: str) -> None:
    """Let a module be compiled there as it is here: compiling all that the product loads takes six seconds."""
    if file.endswith(".py") and os.path.exists(compiled := cache_from_source(file)):
        link_into_folder(compiled, cache_from_source(there))


def link_into_folder(file: str, there: str) -> None:
    """Link a file into a folder that may not be there yet."""
    try:
        os.link(file, there)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(there), exist_ok=True)
        os.link(file, there)


def link_ours(installed: Path) -> None:
    """Let what pip installed of ours be compiled as it is here, where it is the same to the byte."""
    for there in installed.rglob("*.py"):
        file = ROOT / there.relative_to(installed)
        if file.exists() and file.read_bytes() == there.read_bytes():
            shutil.copystat(file, there)  # what is compiled names the moment of its source
            link_compiled(str(file), str(there))


@pytest.fixture(scope="module")
def installed(wheel, metadata, tmp_path_factory):
    """Install the wheel with both extras, and of this environment's packages just what it asks for.

    What it asks for is linked, not fetched again: pip takes a minute for the gigabyte, and would say no more. So is pip.
    """
    venv, elsewhere = Path(tempfile.mkdtemp(dir=ON_DISK)), tmp_path_factory.mktemp("elsewhere")
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=elsewhere)
    ours, theirs = (Path(sysconfig.get_path("purelib", vars=v)) for v in ({}, {"base": str(venv)}))
    for package in asked_for(map(Requirement, ["pip", *metadata.get_all("Requires-Dist")]), EXTRAS):
        for file in map(os.path.normpath, files_of(package)):
            if not file.startswith("..") and "__pycache__" not in file:  # the rest are other packages' commands
                link_into_folder(f"{ours}/{file}", f"{theirs}/{file}")
                link_compiled(f"{ours}/{file}", f"{theirs}/{file}")
    pip = (venv / "bin" / "python", "-m", "pip", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "--no-compile", "--no-deps", wheel, cwd=elsewhere)
    link_ours(theirs / "doubletake")
    for name in ("app.py", "cli/__init__.py", "forensics.py", "spark_jobs.py", "lab/__init__.py", "pages/__init__.py"):
        (elsewhere / name).parent.mkdir(exist_ok=True)
        (elsewhere / name).write_text("raise RuntimeError('a module of the current folder was imported')\n")
    yield Installed(venv / "bin", elsewhere)
    shutil.rmtree(venv)  # more than a gigabyte


def test_one_name_is_put_among_the_packages_of_python(wheel):
    names = zipfile.ZipFile(wheel).namelist()

    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"doubletake"}


def test_the_wheel_holds_every_file_of_the_product_and_nothing_else(wheel):
    files = [f for part in PARTS for f in (ROOT / part).rglob("*") if f.is_file() and "__pycache__" not in f.parts]
    files += [f for f in ROOT.glob("*.py") if f.name not in NOT_SHIPPED]
    files += [ROOT / ".streamlit" / name for name in ("config.toml", "secrets.example.toml")]
    files += [ROOT / "docs" / "iam-policy.json"]
    wanted = {f"doubletake/{f.relative_to(ROOT)}" for f in files} | {"doubletake/__init__.py", "doubletake/__main__.py"}
    names = zipfile.ZipFile(wheel).namelist()

    assert {name for name in names if ".dist-info/" not in name} == wanted
    assert "doubletake/pages/_ui/icon.svg" in names


def test_it_asks_for_what_the_requirements_file_names_and_leaves_the_extras_out(metadata):
    lines = (line.partition("#")[0].strip() for line in (ROOT / "requirements.txt").read_text().splitlines())
    wanted = {(r.name.lower(), str(r.specifier)) for r in map(Requirement, filter(None, lines))}
    asked = [Requirement(text) for text in metadata.get_all("Requires-Dist")]
    always = {r.name.lower() for r in asked if not r.marker}

    assert {(r.name.lower(), str(r.specifier)) for r in asked} == wanted
    assert set(metadata.get_all("Provides-Extra")) == set(EXTRAS)
    assert {"boto3", "httpx2", "streamlit"} <= always
    assert not {"ministack", "plutoprint"} & always
    assert next(r for r in asked if r.name == "boto3").specifier.contains("1.99.0"), (
        "the emulator's pin is not production's"
    )


def test_it_says_that_it_is_not_the_package_of_the_commands_name(metadata):
    assert metadata["Name"] == DISTRIBUTION != "doubletake"
    assert "not the package of that name" in metadata["Summary"]
    assert f"The package is called **`{DISTRIBUTION}`**" in metadata.get_payload()


def test_both_ways_to_run_it_say_its_version(installed, metadata):
    said = f"doubletake {metadata['Version']}\n"

    assert installed.run("doubletake", "--version").stdout == said
    assert installed.run("python", "-m", "doubletake", "--version").stdout == said


def test_what_is_installed_fits_together(installed):
    assert "No broken requirements" in installed.run("python", "-m", "pip", "check").stdout


@pytest.fixture(scope="module")
def demo(installed):
    """Play the demo from elsewhere, with a console script and Python's own current folder on the path."""
    return installed.run("python", "-m", "doubletake", "demo", "--no-serve")


def test_the_demo_plays_collects_and_judges(demo, installed):
    assert re.search(r"confirmed +11 +the work was done more than once", demo.stdout)
    assert (installed.elsewhere / "demo-lake").is_dir()


def test_the_demos_report_is_had_as_pdf(demo, installed):
    (incident,) = re.findall(r"doubletake report (\S+) -o", demo.stdout)
    installed.run("doubletake", "report", incident, "--lake", "demo-lake", "-o", "case.pdf")

    assert (installed.elsewhere / "case.pdf").read_bytes().startswith(b"%PDF")


def test_the_dashboard_signs_in_and_shows_the_demo_with_its_own_configuration(demo, installed):
    with run_server_in_thread(user_claims=[User(sub="ana", claims={"email": "ana@example.com"})]) as provider:
        settings = installed.elsewhere / "doubletake.toml"
        settings.write_text('[access]\nmode = "oidc"\nemails = ["ana@example.com"]\n')
        (installed.elsewhere / ".streamlit").mkdir()
        (installed.elsewhere / ".streamlit" / "secrets.toml").write_text(
            '[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\n'
            f'cookie_secret = "{"only-for-this-test" * 2}"\nclient_id = "doubletake"\nclient_secret = "known to both"\n'
            f'server_metadata_url = "http://localhost:{provider.server_port}/.well-known/openid-configuration"\n'
        )
        process = subprocess.Popen(
            [installed.bin / "doubletake", "serve", "--lake", "demo-lake"],
            cwd=installed.elsewhere,
            env=os.environ | without_authorities(installed.elsewhere),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            address = re.match(r"Dashboard: (http://127\.0\.0\.1:\d+)$", process.stdout.readline())
            assert address, process.stderr.read()
            visitor = Visitor(address[1])
            visitor.sign_in("ana")
            seen = visitor.look()
            assert "payments.fifo" in seen.words
            assert seen.config.hide_sidebar_nav, "Streamlit's own list of pages would be shown"
            assert seen.config.disable_data_export, "a table's own CSV would hold live formulas"
        finally:
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said
    assert "Traceback" not in said
