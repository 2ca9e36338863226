"""Report: the incident as a file one can attach; what is shown is what is exported."""

from pages._ui import evidence_bundle, report
from pages._ui.shell import shell

page = shell("Report", "This page makes an incident's report: a file to attach, and the list of affected messages.")
incident = report.choose(page.incidents(), page)
options = report.options(page)
report.header(incident, page)
report.downloads(incident, options, page)
report.preview(incident, options, page)
evidence_bundle.evidence(incident, page)
