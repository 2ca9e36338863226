"""The timeline with its tables: one fragment, so that a click redraws nothing else."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from forensics.charts import consumers_figure, overview_figure, timeline_figure
from forensics.charts.beside import is_message, with_changes, with_strips
from forensics.charts.consumers import KINDS, consumer_lanes
from forensics.charts.groups import blocked_words, with_groups
from forensics.charts.hover import item_of, ringed
from forensics.lake.conditions import Condition
from forensics.language import Language
from forensics.report.beside import changes_around, points_around
from forensics.report.groups import blocked_spans
from forensics.report.opening import headline
from forensics.report.prevention import queue_findings_of
from forensics.report.told import cause as told_cause
from forensics.tables.findings import TIMELINE
from pages._ui import details, event
from pages._ui.device import is_phone
from pages._ui.linked import warn_unknown
from pages._ui.plots import finished, fitted, kept, legible, show
from pages._ui.runs import failed_runs
from pages._ui.said import count_text as count
from pages._ui.said import in_words, language, say, term
from pages._ui.shell import Page
from pages._ui.states import guarded
from pages._ui.urltime import Window, read_window
from pages._ui.words import plain

LANES_PER_PAGE = 40
CHART_PX = 420
"""Height of the frame that keeps a chart's place while it is read and drawn."""
LANE_COLUMNS = ("lane", "item_id", "message_id", "at", "until_at")
MOST_IN_LINK = 50
"""Message ids of one run that a link names; a run of a standard queue can hold 10,000."""
FORMS = ("Messages", "Invocations", "Overview")
MOST_MESSAGES, MOST_BARS, MOST_DELIVERIES = 200, 1000, 3000
Case = dict[str, Any]


@dataclass(frozen=True)
class Drawn:
    """One form's chart: its key, its figure, the rows that the tables below explain, all rows in it, what can be chosen."""

    name: str
    figure: Any
    timeline: Any
    shown: Any
    modes: tuple[str, ...] = ("points",)
    note: str | None = None


CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["lasso2d", "autoScale2d"],
    "doubleClick": "reset",
    "showAxisDragHandles": False,
}


@st.fragment
def timeline_and_details(case: Case, page: Page) -> None:
    """Show the chart, and below it the deliveries and the evidence of what was clicked.

    What was clicked is known before anything is drawn, and is answered first: a chart of thousands of bars takes longer
    to say again than the answer does.
    """
    here = ("incident_id", "==", case["incident_id"])
    lanes = page.board.rows(TIMELINE, here, ("kind", "==", "in_flight"), columns=LANE_COLUMNS)
    marks = page.board.rows(TIMELINE, here, columns=("kind",))
    if marks.empty:
        failed_runs(case, page)
        return
    form, gaps = _switch(lanes, len(marks))
    window = read_window()
    window.notice(page.clock)
    drawn = _form(form, case, page, here, window, gaps, lanes)
    chart, under = st.container(), st.container()
    names = details.keys(case, page)
    _take_click(form, drawn, case, page, here, names)
    is_row_new = details.is_row_new(case)

    def point(mark: str, lane: int) -> None:
        """Draw a ring around a mark, on the page of lanes that holds it; the chart starts anew."""
        st.session_state[details.pointed_of(case)] = mark
        st.session_state[details.turn_of(case)] = st.session_state.get(details.turn_of(case), 0) + 1
        st.session_state.pop(details.memory_of(case), None)
        st.session_state["lane_wanted"] = lane
        if form == "Overview":
            st.session_state["form_wanted"] = "Messages"

    answer = partial(event.show, case, page, drawn.shown, names, point)
    chosen = st.query_params.get_all("msg")
    with under:
        buttons = st.container()
        details.only(case, page, chosen)
    slot = st.bottom.empty()  # in every run: a fragment may fill outside itself only what it reserved in a whole run
    if not is_row_new:
        answer(slot, buttons)
    with chart:
        _chart(drawn, case)
    picked = details.tables(case, page, drawn.timeline, chosen)
    if is_row_new:  # what a row of the evidence stands for is known once the table is read
        details.remember_row(case)
        event.choose(event.name_of(picked) if picked and picked["at"] is not None else None)
        answer(slot, buttons)


def _form(form: str, case: Case, page: Page, here: Condition, window: Window, gaps: bool, lanes: Any) -> Drawn:
    if form == "Overview":
        return _overview(case, page, here)
    if form == "Invocations":
        return _consumers(case, page, here, window, gaps)
    return _messages(case, page, here, window, gaps, lanes)


def _switch(lanes: Any, marks: int) -> tuple[str, bool]:
    """Show the switch of forms; the default fits the incident's size, and a sentence says so where it is large."""
    messages, deliveries = lanes["item_id"].nunique(), len(lanes)
    if messages <= MOST_MESSAGES and marks <= 4 * MOST_BARS:
        default = "Messages"
    else:
        default = "Invocations" if deliveries <= MOST_DELIVERIES else "Overview"
    if wanted := st.session_state.pop("form_wanted", None):
        st.session_state["lanes"] = wanted
    warn_unknown("lanes", FORMS, Language.maybe)
    asked = st.session_state.get("lanes") or st.query_params.get("lanes")
    is_small = default == "Messages" and asked not in ("Overview", term("Overview"))
    with st.container(horizontal=True, vertical_alignment="center"):
        form = st.segmented_control(
            say("Lanes"),
            FORMS[:-1] if is_small else FORMS,  # of few messages an overview tells nothing; a link may still ask for it
            default=default,
            required=True,
            key="lanes",
            bind="query-params",
            format_func=term,
            label_visibility="collapsed",
        )
        show = st.toggle(
            say("Show gaps"), key="gaps", bind="query-params", help=say("One time axis, with the times of nothing.")
        )
    if default != "Messages":
        st.caption(
            say(
                "{message} in {deliveries}: ",
                message=count(messages, "message"),
                deliveries=count(deliveries, "delivery", "deliveries"),
            )
            + {
                "Messages": say("one lane per message, {n} a page, affected ones first.", n=LANES_PER_PAGE),
                "Invocations": say("one lane per consumer, one bar per run."),
                "Overview": say("messages in flight per consumer. Drag over a stretch of time to look into it."),
            }[form]
        )
    return form, show


def _messages(case: Case, page: Page, here: Condition, window: Window, gaps: bool, lanes: Any) -> Drawn:
    """Draw a lane per message, forty a page; the page with the message of the link comes first."""
    numbers = sorted({int(n) for n in window.keep(lanes)["lane"]})
    pages = max(-(-len(numbers) // LANES_PER_PAGE), 1)
    shown = 1
    if pages > 1:
        asked = st.query_params.get_all("msg")
        mine = details.of_chosen(lanes, asked, details.keys(case, page))["lane"]
        first = numbers.index(int(mine.min())) // LANES_PER_PAGE + 1 if len(mine) and mine.min() in numbers else 1
        switch = f"lanes-{case['incident_id']}-{pages}"
        if (wanted := st.session_state.pop("lane_wanted", None)) in numbers:
            st.session_state[switch] = numbers.index(wanted) // LANES_PER_PAGE + 1
        shown = st.pagination(pages, default=first, key=switch)
        low = (shown - 1) * LANES_PER_PAGE
        st.caption(
            say(
                "Messages {first} to {last} of {total}",
                first=low + 1,
                last=min(low + LANES_PER_PAGE, len(numbers)),
                total=len(numbers),
            )
        )
    of_page = tuple(numbers[(shown - 1) * LANES_PER_PAGE : shown * LANES_PER_PAGE]) or (-1,)
    with_lanes_of_groups = bool(case["is_fifo"]) and len(numbers) <= MOST_MESSAGES
    key = (
        "messages",
        *page.board.key,
        case["incident_id"],
        page.clock.name,
        gaps,
        of_page,
        with_lanes_of_groups,
    )

    def draw() -> tuple[Any, Any, str | None]:
        labels, drawn, blocked = details.labels(case, page, timeline["item_id"].unique()), timeline, ()
        if with_lanes_of_groups:
            blocked = blocked_spans(queue_findings_of(page.board.findings, case))
            drawn, groups = with_groups(timeline, blocked, language())
            labels = labels | groups
        drawn, named = _with_beside(drawn, case, page)
        keys = details.keys(case, page)
        figure = timeline_figure(
            drawn,
            page.clock.zone,
            cut_gaps=not gaps,
            labels=labels | named,
            keys=keys,
            say=language(),
            is_wide=not is_phone(),
            **_timeouts(case),
        )
        return finished(fitted(legible(figure))), drawn, blocked_words(blocked)

    with st.skeleton(height=CHART_PX), guarded("what the timeline shows", page.data_version):
        timeline = page.board.rows(TIMELINE, here, ("lane", "in", of_page))
        figure, drawn, said = kept(key, draw)
    return Drawn(_name(shown, case), figure, timeline, drawn, note=said)


def _with_beside(timeline: Any, case: Case, page: Page) -> tuple[Any, dict[str, str]]:
    """Put changes of settings above the lanes and the queue's own state below them."""
    findings = page.board.findings
    with_both, above = with_changes(timeline, changes_around(findings, case), language())
    with_both, below = with_strips(with_both, points_around(findings, case), language())
    return with_both, above | below


def _consumers(case: Case, page: Page, here: Condition, window: Window, gaps: bool) -> Drawn:
    """Draw a lane per consumer and a bar per run."""
    key = (*page.board.key, case["incident_id"], page.clock.name, gaps, window)
    with st.skeleton(height=CHART_PX):
        timeline = window.keep(page.board.rows(TIMELINE, here, ("kind", "in", KINDS)))

        def draw() -> tuple[Any, Any]:
            drawn, named = _with_beside(consumer_lanes(timeline), case, page)
            figure = consumers_figure(
                drawn,
                page.clock.zone,
                named,
                cut_gaps=not gaps,
                say=language(),
                is_wide=not is_phone(),
                **_timeouts(case),
            )
            return finished(fitted(legible(figure))), drawn

        figure, drawn = kept(("consumers", *key), draw)
    return Drawn(_name("consumers", case), figure, timeline, drawn)


def _overview(case: Case, page: Page, here: Condition) -> Drawn:
    """Draw the heatmap; the tables below it are those of the messages in the link."""
    columns = ("item_id", "message_id", "delivery_index", "kind", "at", "until_at", "consumer")
    key = ("overview", *page.board.key, case["incident_id"], page.clock.name)

    def draw() -> Any:
        timeline = page.board.rows(TIMELINE, here, ("kind", "in", ("in_flight", "repeat")), columns=columns)
        return finished(legible(overview_figure(timeline, page.clock.zone, language())))

    with st.skeleton(height=CHART_PX):
        figure = kept(key, draw)
    name = _name("overview", case)
    _open_stretch(name, page)
    chosen = tuple(st.query_params.get_all("msg"))
    note = (
        None if chosen else say("The tables hold the first {n} messages; affected ones come first.", n=LANES_PER_PAGE)
    )
    items = {*chosen, *(item for item, key in details.keys(case, page).items() if key in chosen)}
    of_tables = ("item_id", "in", tuple(sorted(items))) if chosen else ("lane", "<=", LANES_PER_PAGE)
    timeline = page.board.rows(TIMELINE, here, of_tables)
    return Drawn(name, figure, timeline, timeline, ("points", "box"), note)


def _open_stretch(name: str, page: Page) -> None:
    """Open the lanes of a stretch of time that was chosen in the overview."""
    boxes = _clicked(name).get("box") or []
    if boxes and len(boxes[0].get("x") or []) == 2:
        start, end = sorted(page.clock.parse(str(x)) for x in boxes[0]["x"])
        Window(start, end).write()
        st.session_state["form_wanted"] = "Messages"
        st.rerun()


def _name(part: Any, case: Case) -> str:
    """Return a chart's key; clearing what was chosen in it makes it another chart."""
    return f"timeline-{case['incident_id']}-{part}-{st.session_state.get(details.turn_of(case), 0)}"


def _clicked(name: str) -> Any:
    """Return what is chosen in a chart, which may be drawn only later in this run."""
    return (st.session_state.get(name) or {"selection": {}})["selection"]


def _chart(drawn: Drawn, case: Case) -> None:
    pointed = st.session_state.get(details.pointed_of(case))
    shown = show(
        ringed(drawn.figure, pointed) if pointed else drawn.figure,
        key=drawn.name,
        on_select="rerun",
        selection_mode=drawn.modes,
        config=CONFIG,
        alt=f"{say('{clause}.', clause=in_words(headline(case)))} {told_cause(language(), case)}",
    )
    if not shown["selection"]["points"]:  # another figure under the same key has nothing chosen, and that is no click
        st.session_state.pop(details.memory_of(case), None)
    if drawn.note:
        st.caption(plain(in_words(drawn.note)))


def _timeouts(case: Case) -> dict[str, int | None]:
    return {"function_timeout_s": case["function_timeout_s"], "visibility_timeout_s": case["visibility_timeout_s"]}


def _take_click(form: str, drawn: Drawn, case: Case, page: Page, here: Condition, keys: dict[str, str]) -> None:
    """Write a new click into the link: its messages, by business key where it is the message's own, and its bar or mark.

    Another form of the chart has nothing chosen yet: that is no click, and what the link names stays.
    """
    points = _clicked(drawn.name).get("points") or []
    marks = sorted({str(p["customdata"][0]) for p in points if p.get("customdata")})
    memory = details.memory_of(case)
    clicked_in, clicked = st.session_state.get(memory, (form, []))
    if marks == (clicked if clicked_in == form else []):
        return
    st.session_state[memory] = form, marks
    items = _items_of(marks, drawn.shown, page, here)
    event.choose(marks[0] if len(marks) == 1 else None, msg=[keys.get(i, i) for i in items])


def _items_of(marks: list[str], shown: Any, page: Page, here: Condition) -> list[str]:
    """Return the messages of chosen bars and marks: where a bar is a run of a consumer, all of that run."""
    if "mark" not in shown:
        return [item for item in dict.fromkeys(map(item_of, marks)) if item and is_message(item)]
    runs = tuple(sorted({str(c) for c in shown[shown["mark"].isin(marks)]["consumer"].dropna()}))
    of_runs = page.board.rows(TIMELINE, here, ("consumer", "in", runs), columns=("item_id", "message_id"))
    ids = of_runs["message_id"].where(of_runs["message_id"].notna(), of_runs["item_id"])
    return sorted(ids.unique())[:MOST_IN_LINK]
