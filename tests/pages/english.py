"""What is still English on a page in another language: every text that Streamlit was given, without names, ids and code."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from google.protobuf.json_format import MessageToDict

from tests.forensics.charts.pointing import pointed_at

_NO_WORDS = {
    "id",
    "key",
    "icon",
    "formId",
    "elementId",
    "pageScriptHash",
    "url",
    "color",
    "language",
    "queryParamKey",
    "rawValues",
    "theme",
    "config",
    "type",
    "value_type",
    "shortcut",
    "anchor",
    "default",
    "widthStretch",
    "arrowData",
    "emoji",
    "bodyType",
    "elementType",
    "markup",
    "queryString",
    "fileName",
    "srcdoc",
    "srcDoc",
    "dynamicTheme",
    "columnOrder",
    "page",
}
"""Fields of Streamlit's messages that no reader sees."""
NAMES = "|".join(
    (
        r"`[^`]*`",
        r":[a-z]+-badge|:[a-z]+\[|:material/\w+:|<br>|</?[a-z]+/?>|%\{[^}]*\}|\*\*",
        r"https?://\S+|/aws/\S+|arn:\S+|[\w./-]+@[\w.]+|s3://\S+",
        r"[0-9a-f]{8}[0-9a-f-]*",
        r"\w+[./_\\-][\w./\\_\[\]$-]+",
        r"\b(?:SQS|AWS|FIFO|DLQ|UTC|ID|CSV|PDF|HTML|JSON|ZIP|SVG|MD5|SHA|MB|KB|CLI|Lambda|CloudWatch|CloudTrail|Markdown|Insights|Logs"
        r"|Timesketch|Perfetto|Doubletake|doubletake|correlate|collect|demo|notify|import|verify|reconcile|findings|Wiki|Europe|Asia"
        r"|Berlin|Tokyo|English|OK|START|REPORT|INFO|WARN|Python|Node|dry|run|trace|NAME|CPU|maxReceiveCount"
        r"|ReceiveMessage|DeleteMessage|ChangeMessageVisibility|ReportBatchItemFailures|batchItemFailures|itemIdentifier|messageId"
        r"|FilterLogEvents|Throttles|EventCount|ApproximateReceiveCount|NumberOfMessages\w+|Approximate\w+|p\d\d|T[+-]\S*|Redrive\w*"
        r"|quarantine|seal|Maximum|Sum|KMS|ISO|billing|mail|lake|exports|chrome|tracing|pay)\b",
    )
)


def texts(at: Any) -> Iterator[tuple[str, str]]:
    """Yield where a text stands and the text, of a whole page that ran."""
    for block in (at.main, at.sidebar):
        yield from _of_block(block)


def _of_block(block: Any) -> Iterator[tuple[str, str]]:
    for child in block.children.values():
        proto = getattr(child, "proto", None)
        if hasattr(child, "children"):
            if proto is not None and hasattr(proto, "DESCRIPTOR"):
                yield from _of_message(getattr(child, "type", "block"), MessageToDict(proto))
            yield from _of_block(child)
            continue
        if child.type in ("code", "iframe"):
            continue
        if child.type in ("arrow_data_frame", "dataframe"):
            yield from _of_table(child)
        if proto is not None:
            yield from _of_message(child.type, MessageToDict(proto))


def _of_message(where: str, message: Any) -> Iterator[tuple[str, str]]:
    if isinstance(message, dict):
        for name, value in message.items():
            if name == "spec":
                drawn = json.loads(value)
                yield from _of_figure(drawn) if "data" in drawn else ()  # the words of Vega's stand in its data
            elif name == "columns" and isinstance(value, str):
                for config in json.loads(value).values():
                    for part in ("label", "help"):
                        if config.get(part):
                            yield f"{where}.{part}", config[part]
            elif name == "datasets":  # of a line chart of Streamlit's own: its series are named by their columns
                for data in value:
                    rows = pa.ipc.open_stream(base64.b64decode(data["data"]["data"])).read_all()
                    names = [name for name in rows.column_names if not name.endswith("-- streamlit-generated")]
                    yield from ((f"{where}.series", name) for name in names)
            elif name not in _NO_WORDS:
                yield from _of_message(f"{where}.{name}", value)
    elif isinstance(message, list):
        for value in message:
            yield from _of_message(where, value)
    elif isinstance(message, str):
        yield where, message


def _of_figure(figure: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "layer" in figure:  # a line chart of Streamlit's own
        return
    for trace in figure["data"]:
        if trace.get("showlegend", True):
            yield "figure.name", trace.get("name") or ""
        if isinstance(trace.get("customdata"), list):
            said = {pointed_at(trace, n) for n in range(len(trace["customdata"]))}
        else:
            said = {trace.get("hovertemplate") or ""}
        for text in sorted(said):
            yield from (("figure.hover", part) for part in text.split("<br>") if not part.startswith(("<i>", "<b>")))
    layout = figure["layout"]
    for note in layout.get("annotations") or ():
        yield "figure.note", note["text"]
    for name, axis in layout.items():
        if re.match("[xy]axis", name) and axis.get("title"):
            title = axis["title"]
            yield f"figure.{name}", title if isinstance(title, str) else title.get("text") or ""


def _of_table(table: Any) -> Iterator[tuple[str, str]]:
    config = json.loads(table.proto.columns or "{}")
    shown = list(table.proto.column_order) or [name for name in table.value.columns if name]
    for name in shown:
        yield f"column {name}", config.get(name, {}).get("label") or str(name)
    for name in table.value.columns:
        if name in TOLD:
            for cell in table.value[name]:
                if isinstance(cell, str):
                    yield f"cell of {name}", cell


TOLD = {
    "In words",
    "What",
    "Why it was redelivered",
    "Guard",
    "Effect",
    "Certainty",
    "Ended by",
    "Work done",
    "Event",
    "Finding",
    "What to do",
    "What redriving does",
    "How it was moved",
    "What happened",
    "State",
    "Cause",
    "Repeats",
    "Messages",
    "Status",
    "Advised",
    "Value",
    "Shown by",
    "At the end",
    "One row is",
    "Kind",
    "How",
    "Verdict",
    "Severity",
    "Processed twice",
    "This week",
    "Week before",
    "Change",
    "Mark",
    "How it came about",
    "By now",
}
"""Columns whose cells are our own words."""


def english_in(text: str) -> list[str]:
    """Return the words of a text that are English, leaving out names, ids and code."""
    rest = re.sub(NAMES, " ", text.replace("\\", ""))
    return re.findall(r"(?<![A-Za-z])[A-Z]?[a-z]{2,}(?![A-Za-z])", rest)
