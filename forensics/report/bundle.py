"""A case as one ZIP: every form of the report, a manifest, the digest of each file, and at its end the digest of the whole.

That proves a bundle undamaged and of one piece. Whoever changes one knowingly can write every digest anew: only the ZIP's own
digest, told in another way, or a signature shows that.
"""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forensics.errors import ForensicsError
from forensics.report.case import Case
from forensics.report.json_report import SCHEMA_VERSION
from forensics.report.options import ReportOptions
from forensics.sentence import said
from forensics.words import time_text

MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
_ZIP = b"PK"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time a ZIP can say: files carry no clock, so that the same case gives the same bytes."""
MOST_BYTES = 1 << 30
_MARK = b"sha256 of all before this comment: "
_COMMENT_BYTES = len(_MARK) + 64
_HEADER_BYTES = 30
"""Of an entry without extra fields, and its name after it."""
_FORMS = (".html", ".md", ".json", "-messages.csv")
"""Ends of the names of files that every bundle has."""
_SAME = ("schema_version", "incident_id", "data_version", "rules_version", "gaps")
_HINT = "Do not trust it; make it again from the lake with `doubletake report INCIDENT --format zip`."


class BundleBrokenError(ForensicsError):
    """A bundle is not what its manifest says."""

    exit_code = 4


class BundleTooLargeError(ForensicsError):
    """A bundle would be larger than any that is read."""


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Say of which file it is what is found wrong with a bundle."""
    try:
        yield
    except BundleBrokenError as problem:
        told = said("{file}: {problem}", file=repr(str(file)), problem=problem.sentence)
        raise BundleBrokenError(told, problem.hint) from problem


def to_zip(
    case: Case,
    options: ReportOptions,
    render: Callable[[Case, str, ReportOptions], bytes],
    names: Mapping[str, str],
    more: Mapping[str, bytes] | None = None,
    of_them: Mapping[str, Any] | None = None,
) -> bytes:
    """Pack the report in every form; ``names`` gives format -> file name, ``more`` further files, ``of_them`` what the
    manifest says of those.
    """  # noqa: D205
    content = {name: render(case, kind, options) for kind, name in sorted(names.items(), key=lambda pair: pair[1])}
    content |= more or {}
    told = manifest(case, options, content) | dict(of_them or {})
    content[MANIFEST] = (json.dumps(told, indent=1) + "\n").encode()
    content[SUMS] = _sums(content)
    if sum(map(len, content.values())) > MOST_BYTES:
        raise BundleTooLargeError(
            said(
                "the bundle of {incident_id} would hold more than {n} bytes, which nobody could verify",
                incident_id=case.incident_id,
                n=MOST_BYTES,
            ),
            "Take less around the incident: `doubletake bundle INCIDENT --margin 30m`.",
        )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        archive.comment = _MARK + b"0" * 64
        for name in sorted(content):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, content.pop(name))
    return _sealed(out.getbuffer()[:-_COMMENT_BYTES])


def _sealed(archive: bytes | memoryview) -> bytes:
    """Return an archive up to its comment, and its digest as the comment."""
    return b"".join([archive, _MARK, hashlib.sha256(archive).hexdigest().encode()])


def _sums(content: dict[str, bytes]) -> bytes:
    """Say the digests in the form that ``sha256sum --check`` reads."""
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(content.items())).encode()


def manifest(case: Case, options: ReportOptions, content: dict[str, bytes]) -> dict[str, Any]:
    """Say what is inside and what it was made from; no clock is asked."""
    flags = [f"--language {options.language}"] if options.language != "en" else []
    flags += [f"--zone {options.zone}"] if options.zone else []
    flags += ["--all-events"] * options.all_events + ["--short-ids"] * options.short_ids
    return {
        "schema": "doubletake.bundle",
        "schema_version": 1,
        "report_schema_version": SCHEMA_VERSION,
        "incident_id": case.incident_id,
        "data_version": case.data_version,
        "rules_version": case.rules_version,
        "evidence_until_at": time_text(case.data_until_at),
        "annotations": [a.evidence_id for a in case.annotations],
        "gaps": list(case.gaps),
        "command": " ".join(["doubletake report", case.incident_id, "--format zip", *flags]),
        "files": [
            {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in sorted(content.items())
        ],
    }


def verify(data: bytes) -> dict[str, Any]:
    """Return the manifest of a bundle that is undamaged and of one piece; raises BundleBrokenError.

    Checked are the digest of the whole, every byte's place (nothing before, between or after the files), each file's
    digest in manifest and SHA256SUMS, and what manifest and report both say.
    """
    if len(data) > MOST_BYTES:
        raise BundleBrokenError("the bundle is larger than 1 GiB", _HINT)
    if not (
        data.startswith(_ZIP) or zipfile.is_zipfile(io.BytesIO(data))
    ):  # a ZIP that is cut short has its start alone
        raise BundleBrokenError("it is no ZIP", "Give the ZIP as `doubletake report INCIDENT --format zip` wrote it.")
    if _sealed(data[:-_COMMENT_BYTES]) != data:
        raise BundleBrokenError("the bundle is not as it was written: it is damaged, or not of this release", _HINT)
    try:
        content = _unpacked(data)
        found = json.loads(content[MANIFEST])
        listed = {f["name"]: (f["bytes"], f["sha256"]) for f in found["files"]}
        reports = [name for name in listed if name.endswith(".json") and not name.endswith("-trace.json")]
        report = json.loads(content[reports[0]]) if len(reports) == 1 else {}
    except (zipfile.BadZipFile, zlib.error, KeyError, TypeError, AttributeError, ValueError, RecursionError) as problem:
        raise BundleBrokenError(said("this is not a whole bundle: {problem}", problem=problem), _HINT) from problem
    except (NotImplementedError, RuntimeError, EOFError, OSError) as problem:
        raise BundleBrokenError(said("this is not a bundle of ours: {problem}", problem=problem), _HINT) from problem
    sums = content.pop(SUMS, b"")
    if sums != _sums(content):
        raise BundleBrokenError(said("{file} does not name the files that are there", file=SUMS), _HINT)
    del content[MANIFEST]
    if odd := sorted({*content} ^ {*listed}):
        raise BundleBrokenError(said("files and manifest do not agree: {names}", names=", ".join(odd[:5])), _HINT)
    for name, inside in content.items():
        if listed[name] != (len(inside), hashlib.sha256(inside).hexdigest()):
            raise BundleBrokenError(said("{file} is not the file that the manifest names", file=repr(name)), _HINT)
    if lacking := [end for end in _FORMS if not any(name.endswith(end) for name in content)]:
        raise BundleBrokenError(said("the bundle lacks its report as {names}", names=", ".join(lacking)), _HINT)
    told = found | {"schema_version": found.get("report_schema_version")}
    in_report = report | {"incident_id": (report.get("incident") or {}).get("incident_id")}
    if unlike := [name for name in _SAME if told.get(name) != in_report.get(name)]:
        raise BundleBrokenError(
            said("manifest and report do not say the same: {names}", names=", ".join(unlike)), _HINT
        )
    return dict(found)


def contents(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return manifest and files of a bundle that is undamaged and of one piece; raises BundleBrokenError."""
    return verify(data), _unpacked(data)


def _unpacked(data: bytes) -> dict[str, bytes]:
    """Return the files of an archive in which nothing stands but them, one after another, each once."""
    content: dict[str, bytes] = {}
    place = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > MOST_BYTES:
            raise BundleBrokenError("the bundle unpacks to more than 1 GiB", _HINT)
        for entry in entries:
            if entry.filename in content or Path(entry.filename).name != entry.filename or entry.header_offset != place:
                raise BundleBrokenError(
                    said("the entry {file} is there twice, or not in its place", file=repr(entry.filename)), _HINT
                )
            place += _HEADER_BYTES + len(entry.filename.encode()) + entry.compress_size
            content[entry.filename] = archive.read(entry)
        if archive.start_dir != place:
            raise BundleBrokenError("something stands between the bundle's files and its directory", _HINT)
    return content
