"""A case as one ZIP: every form of the report, and a manifest that proves that none was changed."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

from forensics.errors import ForensicsError
from forensics.report.case import Case
from forensics.report.json_report import SCHEMA_VERSION
from forensics.report.options import ReportOptions
from forensics.words import time_text

MANIFEST = "manifest.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time a ZIP can say: files carry no clock, so that the same case gives the same bytes."""
MOST_BYTES = 1 << 30


class BundleBrokenError(ForensicsError):
    """A bundle is not what its manifest says."""

    exit_code = 4


def to_zip(
    case: Case, options: ReportOptions, render: Callable[[Case, str, ReportOptions], bytes], names: dict[str, str]
) -> bytes:
    """Pack the report in every form; ``names`` gives format -> file name."""
    content = {name: render(case, kind, options) for kind, name in sorted(names.items(), key=lambda pair: pair[1])}
    content[MANIFEST] = (json.dumps(manifest(case, options, content), indent=1) + "\n").encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(content):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, content[name])
    return out.getvalue()


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
    """Return the manifest of a bundle whose every file is as the manifest says; raises BundleBrokenError."""
    hint = "Do not trust it; make it again from the lake with `doubletake report INCIDENT --format zip`."
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = json.loads(archive.read(MANIFEST))
            listed = {f["name"]: f for f in found["files"]}
            entries = archive.infolist()
            names = sorted(e.filename for e in entries if e.filename != MANIFEST)
            if sum(e.file_size for e in entries) > MOST_BYTES:
                raise BundleBrokenError("the bundle unpacks to more than 1 GiB", hint)
            if names != sorted(listed):
                odd = sorted({*names} ^ {*listed}) or names
                raise BundleBrokenError(f"files and manifest do not agree: {', '.join(odd[:5])}", hint)
            for name in names:
                if hashlib.sha256(archive.read(name)).hexdigest() != listed[name]["sha256"]:
                    raise BundleBrokenError(f"{name!r} is not the file that the manifest names", hint)
    except (
        zipfile.BadZipFile,
        KeyError,
        TypeError,
        AttributeError,
        ValueError,
        NotImplementedError,
        RuntimeError,
        EOFError,
        OSError,
    ) as problem:
        raise BundleBrokenError(f"this is not a whole bundle: {problem}", hint) from problem
    except Exception as problem:
        if type(problem).__module__ == "zlib":
            raise BundleBrokenError(f"this is not a whole bundle: {problem}", hint) from problem
        raise
    return dict(found)
