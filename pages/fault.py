"""One fault: how often it came back, what it did in all, and whether it stopped."""

from pages._ui import fault
from pages._ui.completeness import LOGS
from pages._ui.shell import shell

page = shell("Fault", "This page shows one fault: every incident of it, and all affected messages in one list.", LOGS)
found = fault.all_faults(page.incidents(), page)
chosen = fault.choose(found, page)

fault.header(chosen, page)
fault.over_time(chosen, page)
fault.did_it_help(chosen, page)
fault.incidents(chosen, page)
fault.affected(chosen, page)
