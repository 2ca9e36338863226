"""Secrets planted everywhere they may stand reach no file of the lake, no output, no report and no page."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

import cli
from forensics.tables.findings import INCIDENTS, MESSAGES
from tests.spark_jobs.from_files import SECRETS
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.page, pytest.mark.slow, pytest.mark.usefixtures("streamlit_does_nothing_in_vain")]

ROOT = Path(__file__).parents[2]
FORMS = ("html", "md", "json", "csv")


def leaks(where: str, text: str) -> list[str]:
    return [
        f"{where}: {secret} ... {text[max(0, text.index(secret) - 60) :][:160]!r}"
        for secret in SECRETS
        if secret in text
    ]


def test_no_secret_leaves_the_files_it_came_in(files, tmp_path, capsys, monkeypatch):
    came_in = "".join(p.read_text(errors="replace") for p in files.saved.glob("secret-*/**/*") if p.is_file())
    for secret in SECRETS[:4]:
        assert secret in came_in, secret
    lake, root = files.imported, files.imported.root
    said = ["--lake", str(root), "--config", str(files.config)]
    sources = {row["queue_arn"] for world in files.with_secrets for row in world.rows("queue_settings")}
    everywhere = {row["incident_id"]: row["queue_arn"] for row in lake.findings().read(INCIDENTS).to_pylist()}
    incidents = [incident for incident, queue_arn in everywhere.items() if queue_arn in sources]
    assert len(incidents) >= len(files.with_secrets)
    for command in ("incidents", "messages", "deliveries", "status"):
        cli.main([command, "--format", "jsonl", *said])
    for incident in everywhere:
        # HTML is the dearest form, and what stands in it stands in the JSON of those beside.
        for form in FORMS if incident in incidents else FORMS[1:]:
            cli.main(["report", incident, "--format", form, "-o", str(tmp_path / f"{incident}.{form}"), *said])

    found = leaks("outputs", files.printed + "".join(capsys.readouterr()))
    for report in tmp_path.glob("*-*Z.*"):
        found += leaks(report.name, report.read_text())
    for file in root.rglob("*"):
        if file.suffix == ".parquet":
            found += leaks(str(file.relative_to(root)), str(pq.read_table(file).to_pylist()))
        elif file.is_file():
            found += leaks(str(file.relative_to(root)), file.read_text(errors="replace"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOUBLETAKE_LAKE", str(root))
    for page in ("app.py", "pages/incident.py", "pages/messages.py", "pages/data.py"):
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE_S)
        if page != "app.py":
            at.switch_page(page)
        at.query_params["incident"] = incidents[0]
        at.run()
        assert not at.exception
        found += leaks(page, str(at._tree))

    assert found == []
    assert len(list(tmp_path.glob("*-*Z.*"))) == 3 * len(everywhere) + len(incidents)
    assert any(r["business_keys"] for r in lake.findings().read(MESSAGES).to_pylist())
