"""A bundle is undamaged and of one piece, or verify says what is wrong; what a manifest cannot prove is not claimed."""

import hashlib
import io
import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable

import pytest

from forensics.report import bundle
from forensics.report.bundle import MANIFEST, SUMS, BundleBrokenError, BundleTooLargeError, to_zip, verify
from forensics.report.case import Case
from forensics.report.json_report import as_json
from forensics.report.options import ReportOptions

NAMES = {"html": "i.html", "md": "i.md", "json": "i.json", "csv": "i-messages.csv", "trace": "i-trace.json"}


@pytest.fixture(scope="module")
def small(case: Case) -> bytes:
    """A bundle whose reports are short: what the manifest is compared with, and little else."""
    whole = as_json(case)
    said = {"incident": {"incident_id": case.incident_id}}
    said |= {k: whole[k] for k in ("schema_version", "data_version", "rules_version", "gaps")}

    def render(case: Case, kind: str, options: ReportOptions) -> bytes:
        return json.dumps(said).encode() if kind == "json" else f"as {kind}".encode()

    return to_zip(case, ReportOptions(), render, NAMES)


def unpacked(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as found:
        return {name: found.read(name) for name in found.namelist()}


def packed(files: list[tuple[str, bytes]], before: bytes = b"", between: bytes = b"") -> bytes:
    """Write a bundle as somebody would who knows how: with digests that fit."""
    out = io.BytesIO()
    out.write(before)
    with zipfile.ZipFile(out, "a" if before else "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
        archive.comment = bundle._MARK + b"0" * 64
        if between:
            out.seek(archive.start_dir)
            out.write(between)
            archive.start_dir += len(between)
    return bundle._sealed(out.getvalue()[: -bundle._COMMENT_BYTES])


def with_sums(content: dict[str, bytes]) -> list[tuple[str, bytes]]:
    rest = {name: data for name, data in content.items() if name != SUMS}
    return [*rest.items(), (SUMS, bundle._sums(rest))]


def test_it_says_what_it_is_of_and_that_nothing_is_wrong(small, case):
    assert verify(small)["incident_id"] == case.incident_id
    assert verify(packed(with_sums(unpacked(small))))["incident_id"] == case.incident_id


@pytest.mark.slow
def test_no_flip_of_any_one_bit_goes_unseen(small):
    for place in range(len(small)):
        for bit in range(8):
            spoilt = bytearray(small)
            spoilt[place] ^= 1 << bit
            with pytest.raises(BundleBrokenError):
                verify(bytes(spoilt))


@pytest.mark.slow
def test_no_end_that_is_cut_off_or_put_on_goes_unseen(small):
    for length in range(len(small)):
        with pytest.raises(BundleBrokenError):
            verify(small[:length])
    for more in (b"\0", b"x" * 100, small):
        with pytest.raises(BundleBrokenError):
            verify(small + more)


def edited(**changes: object) -> Callable[[dict[str, bytes]], list[tuple[str, bytes]]]:
    def edit(content: dict[str, bytes]) -> list[tuple[str, bytes]]:
        manifest = json.dumps(json.loads(content[MANIFEST]) | changes).encode()
        return with_sums(content | {MANIFEST: manifest})

    return edit


def without_files(content: dict[str, bytes]) -> list[tuple[str, bytes]]:
    manifest = json.dumps(json.loads(content[MANIFEST]) | {"files": []}).encode()
    return with_sums({MANIFEST: manifest})


EDITED = {
    "another incident in the manifest": (edited(incident_id="inc-of-another"), "manifest and report do not say the same"),
    "another data version": (edited(data_version="run-2"), "data_version"),
    "gaps that went": (edited(gaps=["none at all"]), "gaps"),
    "no file at all": (without_files, "this is not a whole bundle|lacks its report"),
    "a file more": (lambda c: with_sums(c | {"more.txt": b"x"}), "do not agree: more.txt"),
    "a file less": (lambda c: with_sums({k: v for k, v in c.items() if k != "i.md"}), "do not agree: i.md"),
    "a file replaced": (lambda c: with_sums(c | {"i.md": b"nobody was charged twice"}), "'i.md' is not the file"),
    "two manifests": (lambda c: [*with_sums(c), (MANIFEST, c[MANIFEST])], "there twice"),
    "a file outside": (lambda c: with_sums(c | {"../i.md": b"x"}), "not in its place"),
    "sums of something else": (lambda c: [*((k, v) for k, v in c.items() if k != SUMS), (SUMS, b"")], "SHA256SUMS"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("edit", "sentence"), EDITED.values(), ids=EDITED)
def test_what_does_not_fit_is_named_also_where_every_digest_was_written_anew(small, edit, sentence):
    with pytest.raises(BundleBrokenError, match=sentence):
        verify(packed(edit(unpacked(small))))


@pytest.mark.parametrize("place", ["before", "between"])
def test_nothing_stands_before_or_between_the_files(small, place):
    with pytest.raises(BundleBrokenError, match=r"not in its place|stands between|not a whole bundle"):
        verify(packed(with_sums(unpacked(small)), **{place: b"#!/bin/sh\necho something else\n"}))


def test_what_unpacks_to_too_much_is_refused_before_it_does(small, monkeypatch):
    monkeypatch.setattr(bundle, "MOST_BYTES", 10_000)

    with pytest.raises(BundleBrokenError, match="unpacks to more"):
        verify(packed(with_sums(unpacked(small) | {"i.md": b"0" * 100_000})))


def test_a_bundle_that_nobody_could_verify_is_not_written(small, case, monkeypatch):
    monkeypatch.setattr(bundle, "MOST_BYTES", 10_000)

    with pytest.raises(BundleTooLargeError, match="more than 10,000 bytes") as refused:
        to_zip(case, ReportOptions(), lambda *_: b"", NAMES, {"evidence-log_events.jsonl": b"0" * 10_000})
    assert "--margin" in refused.value.hint


def test_what_is_no_zip_is_one_sentence():
    for data in (b"", b"PK\x03\x04 and nothing else", bundle._sealed(b"PK\x03\x04 and nothing else")):
        with pytest.raises(BundleBrokenError):
            verify(data)


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is part of most systems, not of all")
def test_the_sums_are_those_that_sha256sum_checks(small, tmp_path):
    for name, data in unpacked(small).items():
        (tmp_path / name).write_bytes(data)

    checked = subprocess.run(["sha256sum", "--check", "--strict", SUMS], cwd=tmp_path, capture_output=True, text=True)
    assert checked.returncode == 0
    assert checked.stdout.count(": OK") == len(NAMES) + 1


def test_the_last_words_of_the_archive_are_the_digest_of_all_before(small):
    end = small[-bundle._COMMENT_BYTES :]

    assert end.endswith(hashlib.sha256(small[: -bundle._COMMENT_BYTES]).hexdigest().encode())
