"""A bundle brings all that a case rests on: put into an empty lake, the same rows stand there under the same names."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from forensics.books import Columns, read_books
from forensics.lake import Lake, to_arrow
from forensics.people.marks import annotate
from forensics.report.bundle import BundleBrokenError, contents, to_zip
from forensics.report.case import load_case
from forensics.report.evidence_bundle import QUERIES, _json_lines, evidence_bundle, read_evidence
from forensics.report.options import ReportOptions
from forensics.report.pseudonyms import Pseudonyms, RedactionError
from forensics.report.render import file_name, render
from forensics.tables import EVIDENCE
from forensics.tables.evidence import CONSUMERS, COVERAGE, GUARD_RECORDS, GUARD_TABLE_SETTINGS, LOG_EVENTS
from forensics.words import time_text
from ingest.bundles import store
from tests.forensics.report import world

pytestmark = pytest.mark.slow

NOW = datetime(2026, 11, 21, tzinfo=UTC)
CONSUMER = {
    "evidence_id": "consumer:1",
    "queue_arn": world.QUEUE_ARN,
    "queue_name": world.QUEUE,
    "log_group": world.GROUP,
    "kind": "lambda",
    "function_name": world.FUNCTION,
}


def saved(folder, log_lines=None):
    lake = world.save(folder, world.findings(), log_lines or world.lines())
    lake.append(CONSUMERS, [CONSUMER], "test|consumer")
    world.publish(lake, world.findings(), "run-2")
    return lake


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("bundle") / "lake")


@pytest.fixture
def no_report(monkeypatch):
    """A bundle's reports take most of its time: where a test asks for rows alone, only JSON is written."""
    monkeypatch.setattr("forensics.report.evidence_bundle.render", mostly_in_name)


def mostly_in_name(case, kind, options):
    return render(case, kind, options) if kind == "json" else kind.encode()


@pytest.fixture(scope="module")
def packed(lake):
    return evidence_bundle(lake.findings(), load_case(lake.findings(), world.INCIDENT))


def judged_again(data, folder):
    """Put a bundle into an empty lake, with the findings that the same evidence gives."""
    again = Lake(folder)
    store(again, read_evidence(data).rows)
    world.publish(again, world.findings(), "run-2")
    return again


def test_the_same_evidence_stands_in_the_other_lake_under_the_same_names(lake, packed, tmp_path):
    again = judged_again(packed, tmp_path / "again")

    for table in EVIDENCE:
        before, after = (sorted(one.read(table).to_pylist(), key=lambda r: r["evidence_id"]) for one in (lake, again))
        assert after == before, table.name


def test_the_report_of_it_is_the_same_byte_for_byte(lake, packed, tmp_path):
    again = judged_again(packed, tmp_path / "again")
    mine, theirs = (render(load_case(one.findings(), world.INCIDENT), "json").decode() for one in (lake, again))

    assert theirs == mine


def test_marks_and_ledgers_of_the_case_come_along(tmp_path, no_report):
    lake = saved(tmp_path / "lake")
    annotate(lake.findings(), world.INCIDENT, None, "accepted", "known", "Ana", NOW)
    (tmp_path / "c.csv").write_text("id\npay-1001\npay-1002\n")
    read_books(lake.findings(), tmp_path / "c.csv", Columns("id"), NOW)
    case = load_case(lake.findings(), world.INCIDENT)
    again = judged_again(evidence_bundle(lake.findings(), case), tmp_path / "again")
    found = load_case(again.findings(), world.INCIDENT)

    assert (found.annotations, found.books) == (case.annotations, case.books)


def test_importing_it_twice_adds_nothing(packed, tmp_path):
    again, rows = Lake(tmp_path / "again"), read_evidence(packed).rows
    first, second = store(again, rows), store(again, rows)

    assert first[0] > 0
    assert second == (0, first[0])


def test_with_a_margin_coverage_claims_no_more_than_the_lines_that_are_there(lake, no_report):
    case = load_case(lake.findings(), world.INCIDENT)
    rows = read_evidence(evidence_bundle(lake.findings(), case, margin=timedelta(minutes=1))).rows
    spans = [r for r in rows[COVERAGE.name] if r["source"] == LOG_EVENTS.name]

    assert min(r["window_start_at"] for r in spans) == world.after(-60)
    assert max(r["window_end_at"] for r in spans) == world.after(690.35)


def test_each_cited_line_has_the_command_that_fetches_it(lake, packed):
    case = load_case(lake.findings(), world.INCIDENT)
    told = contents(packed)[1][QUERIES].decode()

    for line in case.evidence:
        if line.table == "log_events":
            assert f"## {line.label} " in told
    assert (
        "aws logs get-log-events --log-group-name /aws/lambda/charge-card --log-stream-name '2026/11/20/[$LATEST]0f1e'"
        in told
    )
    assert "--start-time 1795151520250 --end-time 1795151520251" in told
    assert 'filter @logStream in ["2026/11/20/[$LATEST]0f1e"]' in told


SECRETS = {
    "emails": "ana@example.com",
    "cards": "4111 1111 1111 1111",
    "tokens": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    r"cust-\d+": "cust-7781",
}


@pytest.fixture(scope="module")
def secretive(tmp_path_factory):
    lines = world.lines()
    for n, secret in enumerate(SECRETS.values()):
        lines[n + 2]["line"] += f" for {secret} and again {secret}"
    return saved(tmp_path_factory.mktemp("secret") / "lake", lines)


def test_what_is_redacted_is_nowhere_in_the_bundle(secretive):
    case = load_case(secretive.findings(), world.INCIDENT)
    plain = contents(evidence_bundle(secretive.findings(), case))[1]
    manifest, files = contents(evidence_bundle(secretive.findings(), case, redact=Pseudonyms(SECRETS)))

    for secret in SECRETS.values():
        assert any(secret.encode() in data for data in plain.values())
        assert [name for name, data in files.items() if secret.encode() in data] == []
    assert manifest["redactions"] == list(SECRETS)
    assert not any(name.endswith(".pdf") for name in files)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A lake whose function asks one idempotency table, while another belongs to somebody else."""
    lake = world.save(tmp_path_factory.mktemp("guarded") / "lake", world.findings(), world.lines())
    lake.append(CONSUMERS, [CONSUMER], "test|consumer")
    for name in ("done", "others"):
        lake.append(
            GUARD_RECORDS, [{"evidence_id": f"guard:{name}", "guard_table": name, "record_key": "k"}], f"r|{name}"
        )
        about = {"evidence_id": f"guardtable:{name}", "guard_table": name, "deletes_expired": False}
        lake.append(GUARD_TABLE_SETTINGS, [about], f"s|{name}")
        read = {"evidence_id": f"coverage:{name}", "source": GUARD_RECORDS.name, "resource": name, "status": "ok"}
        span = {"window_start_at": NOW, "window_end_at": NOW + timedelta(milliseconds=1), "collected_at": NOW}
        lake.append(COVERAGE, [read | span], f"c|{name}")
    said = f'[[function]]\nname = "{world.FUNCTION}"\nguard_table = "done"\n'
    world.publish(lake, world.findings(), "run-2", settings=said)
    return lake


@pytest.mark.parametrize("margin", [None, timedelta(minutes=1)], ids=["whole", "with a margin"])
def test_the_table_that_the_cases_guard_asks_comes_along_whole(guarded, margin, no_report):
    case = load_case(guarded.findings(), world.INCIDENT)
    rows = read_evidence(evidence_bundle(guarded.findings(), case, margin=margin)).rows

    assert [r["guard_table"] for r in rows[GUARD_RECORDS.name]] == ["done"]
    assert [r["guard_table"] for r in rows[GUARD_TABLE_SETTINGS.name]] == ["done"]
    assert [r["resource"] for r in rows[COVERAGE.name] if r["source"] == GUARD_RECORDS.name] == ["done"]


def test_where_something_is_redacted_no_record_comes_along_to_seem_missing(guarded, no_report):
    case = load_case(guarded.findings(), world.INCIDENT)
    rows = read_evidence(evidence_bundle(guarded.findings(), case, redact=Pseudonyms(["cust-1"]))).rows

    assert not rows.get(GUARD_RECORDS.name)
    assert not [r for r in rows.get(COVERAGE.name, ()) if r["source"] == GUARD_RECORDS.name]


def test_one_value_has_one_name_and_two_values_have_two():
    names = Pseudonyms(["emails"])
    told = names("ana@example.com ben@example.com ana@example.com").split()

    assert told[0] == told[2] != told[1]
    assert all(name.startswith("redacted-email-") for name in told)
    assert Pseudonyms(["emails"])("ana@example.com") != told[0]


KEPT = {
    "a message id": "8c96937a-aea0-480d-8e4d-2ba6c821f204",
    "an id of digits": "41111111-1111-4111-8111-111111111111",
    "a time in milliseconds": "1795151520250",
    "a sequence number": "18879532014543088128",
    "digits that fail Luhn's check": "4111 1111 1111 1112",
    "a receipt's token": "RH~AQEBwJnKyrHigUMZj6rYigCg~0123456789abcdef0123456789abcdef",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_what_joins_rows_is_taken_for_no_secret(text):
    assert Pseudonyms(["cards", "emails", "tokens"])(text) == text


def test_a_pattern_that_cannot_be_used_is_refused():
    with pytest.raises(RedactionError, match=r"--redact '\(' cannot be used"):
        Pseudonyms(["("])


def test_times_are_written_as_everywhere_in_milliseconds_and_finer_only_where_they_are():
    def written(*moments: datetime) -> list[str | None]:
        rows = to_arrow(COVERAGE, [{"evidence_id": f"{n}", "collected_at": at} for n, at in enumerate(moments)])
        return [json.loads(line)["collected_at"] for line in _json_lines(COVERAGE, rows, Pseudonyms(())).splitlines()]

    whole, fine = datetime(2026, 11, 20, 5, 12, tzinfo=UTC), datetime(2026, 11, 20, 5, 12, 0, 250_001, tzinfo=UTC)
    assert written(whole, whole + timedelta(milliseconds=200)) == [
        "2026-11-20T05:12:00.000Z",
        "2026-11-20T05:12:00.200Z",
    ]
    assert written(whole, fine) == [time_text(whole), time_text(fine)]


def test_a_bundle_with_a_report_alone_cannot_be_judged_again(lake):
    case = load_case(lake.findings(), world.INCIDENT)
    with pytest.raises(BundleBrokenError, match="a report and no evidence"):
        read_evidence(render(case, "zip"))


def a_row(**changed: object) -> bytes:
    """Return a line of log_events as somebody may write it who wishes no good."""
    return json.dumps({"evidence_id": "log:a", **changed}).encode() + b"\n"


SETTINGS_OF_A_QUEUE = "evidence-queue_settings.jsonl"
BROKEN = {
    "a number too large for its column": (
        SETTINGS_OF_A_QUEUE,
        a_row(visibility_timeout_s=2**31),
        "visibility_timeout_s is 2147483648",
    ),
    "a truth for a number": (SETTINGS_OF_A_QUEUE, a_row(visibility_timeout_s=True), "visibility_timeout_s is True"),
    "numbers in a list of texts": ("evidence-task_stops.jsonl", a_row(container_reasons=[7]), "container_reasons is"),
    "half a surrogate pair": ("evidence-log_events.jsonl", a_row(line="a\ud800"), "surrogates not allowed"),
    "a time without a zone": ("evidence-log_events.jsonl", a_row(logged_at="2026-11-20T05:12:00"), "logged_at is"),
    "a time before any": ("evidence-log_events.jsonl", a_row(logged_at="0001-01-01T00:00:00+14:00"), "logged_at is"),
    "a time after any": ("evidence-log_events.jsonl", a_row(logged_at="9999-12-31T23:00:00-14:00"), "logged_at is"),
    "a log event under another one's id": (
        "evidence-log_events.jsonl",
        a_row(account_id="111122223333", region="eu-west-1", log_group="/g", event_id="7"),
        "bears an id that is not its event's",
    ),
    "no number": ("evidence-metric_points.jsonl", a_row(value=float("nan")), "NaN is no number"),
    "another table": ("evidence-messages.jsonl", b"{}\n", "is of no table of evidence"),
    "half a row": ("evidence-consumers.jsonl", b'{"evidence_id": \n', "row 1 of consumers in the bundle is not a row"),
    "another type": ("evidence-consumers.jsonl", b'{"evidence_id": 7}\n', "evidence_id is 7"),
    "no name": ("evidence-consumers.jsonl", b"{}\n", "it has no name"),
    "a column of another release": (
        "evidence-consumers.jsonl",
        b'{"evidence_id": "a", "odd": 1}\n',
        "has a column 'odd'",
    ),
}


@pytest.mark.parametrize(("name", "content", "sentence"), BROKEN.values(), ids=BROKEN)
def test_rows_that_are_none_are_refused_before_anything_is_stored(lake, name, content, sentence):
    case = load_case(lake.findings(), world.INCIDENT)
    small = {
        kind: f"i{end}" for kind, end in (("html", ".html"), ("md", ".md"), ("json", ".json"), ("csv", "-messages.csv"))
    }
    data = to_zip(case, ReportOptions(), mostly_in_name, small, {name: content})
    with pytest.raises(BundleBrokenError, match=sentence):
        read_evidence(data)


def test_settings_that_are_no_text_are_refused(lake):
    case = load_case(lake.findings(), world.INCIDENT)
    names = {kind: file_name(case, kind) for kind in ("html", "md", "json", "csv")}
    more = {"evidence-log_events.jsonl": a_row(), "doubletake.toml": b"\xff\xfe"}

    with pytest.raises(BundleBrokenError, match="is not UTF-8 text"):
        read_evidence(to_zip(case, ReportOptions(), render, names, more))


def test_the_manifest_says_versions_and_rows(packed):
    manifest, files = contents(packed)

    assert manifest["evidence"]["log_events"] == len(files["evidence-log_events.jsonl"].splitlines())
    assert {"python", "pyspark", "polars"} <= set(manifest["versions"])
    assert json.loads(files["evidence-consumers.jsonl"]) == {**dict.fromkeys(CONSUMERS.column_names), **CONSUMER}
