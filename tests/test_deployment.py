"""What a person runs in an account or a container: the role's template and the container file."""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ingest.clients import ALLOWED

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TEMPLATE = DOCS / "cloudformation.yaml"


def linter(name: str) -> str:
    return str(Path(sys.executable).parent / name)


@pytest.fixture(scope="module")
def role() -> dict[str, Any]:
    return yaml.safe_load(TEMPLATE.read_text())["Resources"]["Reader"]["Properties"]


def test_the_template_is_fresh():
    made = runpy.run_path(str(DOCS / "make_template.py"))["template"]()

    assert TEMPLATE.read_text() == made, "run: python docs/make_template.py"


def test_the_roles_policy_is_the_policy_file_and_allows_what_the_code_may_call(role):
    (policy,) = (p["PolicyDocument"] for p in role["Policies"])
    allowed = {a for s in policy["Statement"] if s["Effect"] == "Allow" for a in s["Action"]}

    assert policy == json.loads((DOCS / "iam-policy.json").read_text())
    assert allowed == ALLOWED


def test_a_role_is_trusted_to_one_named_principal(role):
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]

    assert statement["Principal"] == {"AWS": {"Ref": "TrustedPrincipalArn"}}
    assert "ManagedPolicyArns" not in role


def test_a_session_lasts_the_hours_that_are_said():
    seconds = yaml.safe_load(TEMPLATE.read_text())["Mappings"]["Seconds"]

    assert {int(hours): s["Value"] for hours, s in seconds.items()} == {n: n * 3600 for n in range(1, 13)}


@pytest.mark.process
def test_the_template_passes_its_lint():
    done = subprocess.run([linter("cfn-lint"), str(TEMPLATE)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.process
def test_the_container_file_passes_its_lint():
    done = subprocess.run([linter("hadolint"), str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


def test_the_container_gets_every_part_of_the_product_and_runs_without_rights():
    text = (ROOT / "Dockerfile").read_text()
    copied = {word.strip("./") for line in text.splitlines() if line.startswith("COPY ") for word in line.split()[1:-1]}
    packages = {p.parent.name for p in ROOT.glob("*/__init__.py")} - {"tests", "tools"}
    ignored = {line.strip("!/") for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}

    assert packages | {"pages", "app.py", "streamlit", "requirements.txt"} <= copied
    assert {c for c in copied if c != "streamlit"} | {".streamlit"} <= ignored | {"streamlit"}
    assert "USER 10001" in text
