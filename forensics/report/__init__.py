"""The case of one incident, and the files one can attach."""

from forensics.report.case import Case, load_case
from forensics.report.options import ReportOptions
from forensics.report.render import FORMATS, render
from forensics.report.summary import summary, verdict_text

__all__ = ["FORMATS", "Case", "ReportOptions", "load_case", "render", "summary", "verdict_text"]
