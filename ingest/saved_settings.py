"""Saved replies of the AWS command line about queues, mappings and functions, as rows of the settings tables."""

from dataclasses import dataclass, field
from typing import Any

from ingest import functions, mappings, queues
from ingest.file_bytes import FileDamagedError, FileTooLargeError, check_size, pieces, texts
from ingest.file_forms import FoundFile
from ingest.json_stream import BadJsonError, JsonStream, UnreadableValue

Row = dict[str, Any]


@dataclass
class SavedSettings:
    """What one file said: rows without id and time, and what could not be understood as (reason, what was there)."""

    queue_rows: list[Row] = field(default_factory=list)
    mapping_rows: list[Row] = field(default_factory=list)
    function_rows: list[Row] = field(default_factory=list)
    bad: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """Rows of all three kinds."""
        return [*self.queue_rows, *self.mapping_rows, *self.function_rows]


def read_settings(found: FoundFile) -> SavedSettings:
    """Read every document of a file; keys that are not settings (environment variables above all) are dropped."""
    read = SavedSettings()
    try:
        check_size(found.path)
        for _, document in JsonStream(texts(pieces(found.path))).documents():
            _add(read, document)
    except (BadJsonError, FileDamagedError, FileTooLargeError) as problem:
        read.bad.append((problem.sentence, ""))  # the text may hold what was never to be kept
    return read


def _add(read: SavedSettings, document: Any) -> None:
    if isinstance(document, UnreadableValue):
        read.bad.append((document.reason, ""))
    elif not isinstance(document, dict):
        read.bad.append(("the document is not an object", document))
    elif isinstance(attributes := document.get("Attributes"), dict):
        queue = queues.named(str(attributes.get("QueueArn", "")))
        if queue is None:
            reason = "the attributes do not name their queue: save them with --attribute-names All"
            read.bad.append((reason, sorted(attributes)))
        else:
            read.queue_rows.append(queues.to_row(queue, {k: str(v) for k, v in attributes.items()}))
    elif isinstance(found := document.get("EventSourceMappings"), list):
        for mapping in found:
            _add_mapping(read, mapping)
    elif "EventSourceArn" in document:
        _add_mapping(read, document)
    else:
        _add_function(read, document.get("Configuration", document))


def _add_mapping(read: SavedSettings, mapping: Any) -> None:
    named = isinstance(mapping, dict) and all(isinstance(mapping.get(k), str) for k in ("FunctionArn", "UUID"))
    whole = named and mappings.is_function_arn(mapping["FunctionArn"])
    queue = queues.named(str(mapping.get("EventSourceArn", ""))) if whole else None
    if queue is not None:
        read.mapping_rows.append(mappings.to_row(queue, mapping))
    elif not (whole and ":" in str(mapping.get("EventSourceArn", ""))):  # one that polls a stream is none of ours
        read.bad.append(
            (
                "the event source mapping lacks its UUID, its source or its function's ARN",
                sorted(mapping) if whole else mapping,
            )
        )


def _add_function(read: SavedSettings, configuration: Any) -> None:
    arn = configuration.get("FunctionArn") if isinstance(configuration, dict) else None
    if not isinstance(arn, str) or not mappings.is_function_arn(arn) or "Timeout" not in configuration:
        keys = sorted(configuration) if isinstance(configuration, dict) else configuration
        read.bad.append(("the configuration lacks the function's ARN or its timeout", keys))
        return
    _, _, _, region, account_id, *_ = arn.split(":")
    read.function_rows.append(functions.to_row(account_id, region, functions.kept(configuration)))
