"""One incident: what happened, why, to which messages, and the lines that prove it."""

from pages._ui import books, fault, incident, marks, setting_checks
from pages._ui.batches import batches
from pages._ui.changes import changes, changes_since
from pages._ui.prevention import dead_letters, on_the_queue, prevention
from pages._ui.shell import shell
from pages._ui.timeline import timeline_and_details

page = shell("Incident", "This page shows one incident: its timeline, its cause, and the log lines that prove it.")
found = page.incidents()
case = incident.choose(found, page)

incident.neighbours(case, found, page)
incident.partial_evidence(case)
actions = incident.header(case, page)
timeline_and_details(case, page)
incident.share(case, page, actions)
incident.cause_chain(case, page)
batches(case, page)
incident.causes(case)
incident.verdicts(case, page)
marks.comments(case, page)
books.beside_verdicts(case, page)
incident.guards(case, page)
incident.hints(case, page)
incident.what_to_log(case, page)
dead_letters(case, page)
on_the_queue(case, page)
prevention(case, page)
incident.settings_then(case, page)
setting_checks.of_queue(case["queue_arn"], page)
changes(case, page)
changes_since(case, page, lambda: fault.told(fault.fault_with(case, found, page), page))
incident.limits(case, page)
