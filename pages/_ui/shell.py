"""The frame of every page: its first statement is ``page = shell(...)``."""

import contextlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from forensics.commands import in_lake, of_lake
from forensics.errors import ForensicsError, SettingsError
from forensics.lake import Generation, Lake
from forensics.people import People, people_of
from forensics.report.activity import with_gone
from forensics.report.freshness import logs_left_out
from forensics.report.standing import all_gone
from forensics.settings import Settings
from forensics.settings_text import changed_since
from forensics.tables.evidence import CONSUMERS
from forensics.tables.findings import INCIDENTS
from pages._ui import completeness, reader, views
from pages._ui.access import gate, sign_out
from pages._ui.board import Board, board_of, load_settings, newest_board
from pages._ui.clock import Clock, choose_clock
from pages._ui.guard import NO_PAGE
from pages._ui.linked import choose_language
from pages._ui.place import lake_path
from pages._ui.said import count_text as count
from pages._ui.said import follow_team, in_words, say
from pages._ui.states import show_broken, show_problem
from pages._ui.words import plain, with_commands

PRODUCT = "Doubletake"
NAVIGATION = (
    ("app.py", "Incidents", ":material/warning:"),
    ("pages/fault.py", "Fault", ":material/repeat:"),
    ("pages/incident.py", "Incident", ":material/timeline:"),
    ("pages/queue_health.py", "Queue health", ":material/monitoring:"),
    ("pages/report.py", "Report", ":material/description:"),
    ("pages/questions.py", "Questions", ":material/help:"),
    ("pages/messages.py", "Find a message", ":material/search:"),
    ("pages/data.py", "Data", ":material/database:"),
)
"""File, label and icon; a new page is a new line here and a file in ``pages/``."""

KEEPS_INCIDENT = {"pages/incident.py", "pages/report.py"}
LOOK_EVERY_S = 30
"""How often an open page looks for a newer data version."""
_IN_THE_THEME = (
    "<style>:is(.st-key-old_data, .st-key-left_out) [data-testid=stCaptionContainer] { opacity: 1; } "
    "[data-testid=stMetric] :is([data-testid=stMetricLabel], [data-testid=stMetricDelta]) *, "
    "[data-testid=stMain] [data-testid=stPageLink-NavLink] * { white-space: normal; overflow: visible; text-wrap: balance; } "
    "[data-testid=stMetricDelta] * { word-break: keep-all !important; }</style>"
)
"""A caption is faded: amber would have too little contrast, and be as easy to overlook as grey. What a card's number is of, its
change, and where a link leads goes on in the next line: Streamlit cuts it off. Japanese breaks anywhere; a change does not."""
ICON = Path(__file__).with_name("icon.svg")


@dataclass(frozen=True)
class Page:
    """What every page needs: the zone for its times, its data, the team's settings."""

    clock: Clock
    board: Board
    settings: Settings
    people: People

    @property
    def data_version(self) -> str:
        """Short name of the data version shown."""
        return self.board.generation.data_version

    @property
    def is_fresh(self) -> bool:
        """Tell whether the data ends no longer ago than the team's limit."""
        age = _age(self.board.generation)
        return age is not None and age <= timedelta(minutes=self.settings.team.stale_after_min)

    @property
    def data_end(self) -> str:
        """Say when the data ends and how long ago that is: nothing is known of what came after."""
        return _end(self.board.generation, self.clock)

    @property
    def as_of(self) -> str:
        """Say how long ago the data ends, short enough for a card on a phone."""
        age = _age(self.board.generation)
        return say("end of the data") if age is None else say("as of {rough} ago", rough=_rough(age))

    def ageing(self, told: str) -> str:
        """Put a sentence, in Markdown, into amber up to where it says how old the data is, once that is old.

        What nobody has looked at since must not read as calm.
        """
        head, end, rest = told.partition(plain(self.data_end))
        bracket = rest[: rest.startswith((")", "）"))]
        return told if self.is_fresh or not end else f":orange[{head}{end}{bracket}]{rest[len(bracket) :]}"

    def incidents(self) -> list[dict[str, Any]]:
        """Return the incidents as they stand: without what people set aside, unless the logs' own figures are asked for."""
        rows = self.board.records(INCIDENTS)
        with contextlib.suppress(
            Exception
        ):  # as ``guarded`` has it; where messages cannot be read, nothing tells that all are gone
            rows = with_gone(rows, _gone(self.board.key, self.board))
        return [dict(row) for row in self.people.counted(rows)]

    @property
    def people_key(self) -> tuple[Any, ...]:
        """What cached values are kept under that count people's marks."""
        return *self.board.key, *self.board.people_key, self.people.does_count

    def leave_marks_out(self) -> None:
        """Show the logs' own figures from the next run on."""
        st.session_state["logs_alone"] = True

    def link(self, **keys: str) -> dict[str, str]:
        """Return query parameters for a link inside the dashboard: a pinned data version travels along."""
        pinned = st.query_params.get("dv")
        return {k: v for k, v in (reader.carried() | {"dv": pinned} | keys).items() if v}

    def link_to(self, file: str, label: str, icon: str, **keys: str) -> None:
        """Show a link to another page of the dashboard."""
        page_link(file, label, icon, self.link(**keys))


def shell(title: str, promise: str, rests_on: tuple[str, ...] = ()) -> Page:
    """Set the page up, draw the navigation, the zone switch and the data-version line, and open the data.

    ``promise`` is one sentence on what the page shows, said where there is no data yet; ``rests_on`` names the
    evidence tables whose gaps are told above the headline. Stops the script after showing the state of
    ``forensics.errors`` that applies.
    """
    settings, settings_problem = _settings()
    follow_team(settings.team.language)
    st.set_page_config(
        page_title=f"{say(title)} · {PRODUCT}", page_icon=str(ICON), layout="wide", initial_sidebar_state="auto"
    )
    if settings_problem:
        # Who may look is written in that file: while it cannot be read, nobody may.
        st.title(say(title))
        show_broken(settings_problem)
        st.stop()
    gate(settings.access)
    with st.sidebar:
        st.html(_IN_THE_THEME)
        st.markdown(f"**{PRODUCT}**")
        _navigation()
        clock = choose_clock(settings.team.zone)
        choose_language()
    board = _open(title, promise)
    with st.sidebar:
        people = _people(board)
        views.kept(board, _path_of(title))
        _version_line(board, clock, settings)
        _newer_line(board.generation.generation_id)
        sign_out(settings.access)
    _warn_of_zone()
    _warn_of_page()
    _stale_line(board, clock, settings)
    _left_out_line(board)
    completeness.note(board, clock, rests_on)
    return Page(clock, board, settings, people)


def name_tab(subject: str, title: str) -> None:
    """Name the browser's tab for what its page is about, that first: of many open tabs one sees only how each begins."""
    st.set_page_config(page_title=f"{subject} · {say(title)} · {PRODUCT}")


def _path_of(title: str) -> str:
    """Return what stands for a page in its address, by its label."""
    file = next((file for file, label, _ in NAVIGATION if label == title), "app.py")
    return "" if file == "app.py" else Path(file).stem


def _people(board: Board) -> People:
    """Return what people say; the switch is there where it changes a number."""
    said = _said((*board.key, *board.people_key), board)
    if not (said.aside or said.blind):
        return said
    alone = st.toggle(
        say("By the logs alone"),
        key="logs_alone",
        bind="query-params",
        help=say(
            "Every figure without people's marks. Else what they marked as false alarm or charged once does not count."
        ),
    )
    return replace(said, does_count=False) if alone else said


@st.cache_data(max_entries=8, show_spinner=False)
def _gone(key: tuple[str, str], _board: Board) -> frozenset[str]:
    return all_gone(_board.findings, _board.records(INCIDENTS))


@st.cache_resource(max_entries=8, show_spinner=False)
def _said(key: tuple[Any, ...], _board: Board) -> People:
    return people_of(_board.findings)


def _settings() -> tuple[Settings, ForensicsError | None]:
    try:
        return load_settings(), None
    except SettingsError as problem:
        return Settings(), problem


def _navigation() -> None:
    keep = {k: v for k in ("dv",) if (v := st.query_params.get(k))}
    incident = st.query_params.get("incident") or st.session_state.get("last_incident")
    for file, label, icon in NAVIGATION:
        extra = {"incident": incident} if incident and file in KEEPS_INCIDENT else {}
        page_link(file, say(label), icon, keep | extra)


def page_link(file: str, label: str, icon: str, keys: dict[str, str]) -> None:
    """Show a link to a page; a page started by itself (`streamlit run pages/data.py`) has no neighbours, so no link.

    The reader's zone and language are in it, so that the address says what is seen.
    """
    with contextlib.suppress(StreamlitAPIException):
        st.page_link(file, label=label, icon=icon, query_params=reader.carried() | keys, width="stretch")


def _open(title: str, promise: str) -> Board:
    """Resolve the data version, once per run; shows the state and stops where there is none."""
    asked = st.query_params.get("dv")
    try:
        lake = Lake(lake_path())
        board = newest_board(lake)
        if asked and not board.generation.generation_id.startswith(asked):
            earlier = board_of(lake, asked)
            if earlier is None:
                st.warning(
                    plain(
                        say(
                            "Data version {asked} is not in this lake. This is the newest, {data_version}.",
                            asked=asked,
                            data_version=board.generation.data_version,
                        )
                    ),
                    icon=":material/history:",
                )
            else:
                board = earlier
    except ForensicsError as problem:
        st.title(say(title))
        show_problem(problem, say(promise), lake_path())
        st.stop()
    return board


def _version_line(board: Board, clock: Clock, settings: Settings) -> None:
    generation = board.generation
    until = generation.data_until_at
    ends = (
        say("data ends {at} {zone}", at=clock.minute(until), zone=clock.label(until))
        if until
        else say("no log event yet")
    )
    queues = board.rows(CONSUMERS, columns=("queue_name", "log_group"))
    read = f"{count(queues['queue_name'].nunique(), 'queue')} · {count(queues['log_group'].nunique(), 'log group')}"
    read += f" · {completeness.read_share(board)}"
    st.caption(f"{say('Data version')} `{generation.data_version}` · {ends}\n\n{read}")
    if changed := changed_since(generation.settings, settings):
        st.caption(
            ":material/tune: "
            + say(
                "Made with other settings than today's ({difference}): see Data.",
                difference=count(len(changed), "difference"),
            )
        )


@st.fragment(run_every=LOOK_EVERY_S)
def _newer_line(shown: str) -> None:
    """Say where a newer data version was made while the page lay open; a click shows it."""
    try:
        newest = newest_board(Lake(lake_path())).generation
    except ForensicsError:  # the page says so when it is loaded again
        return
    if newest.generation_id != shown and st.button(
        say("Newer data: {version} · Reload", version=newest.data_version), key="reload", icon=":material/refresh:"
    ):
        st.query_params.pop("dv", None)
        st.rerun()


def _stale_line(board: Board, clock: Clock, settings: Settings) -> None:
    """Say on the page itself, which a phone shows without its navigation, that the data is old."""
    age, until = _age(board.generation), board.generation.data_until_at
    if until and age and age > timedelta(minutes=settings.team.stale_after_min):
        how = "import FILE" if completeness.is_of_files(board) else "collect --all-queues"
        command = f"doubletake {how} {of_lake(board.lake.root)}"
        said = say("Data ends {end}; nobody has looked since.", end=plain(_end(board.generation, clock)))
        with st.container(key="old_data"):
            st.caption(f":orange[:material/schedule: {said} {plain(command)}]")


def _left_out_line(board: Board) -> None:
    """Say on the page itself that logs were left out: what they show looks like calm here."""
    for sentence in logs_left_out(board.generation):
        with st.container(key="left_out"):
            st.caption(
                f":orange[:material/history_toggle_off: {with_commands(in_lake(in_words(sentence), board.lake.root))}]"
            )


def _end(generation: Generation, clock: Clock) -> str:
    age, until = _age(generation), generation.data_until_at
    if age is None or until is None:
        return say("at a time that is not known")
    ends = "{at} {zone}, {rough} ago" if age >= timedelta(0) else "{at} {zone}, {rough} ahead of this machine's clock"
    return say(ends, at=clock.minute(until), zone=clock.label(until), rough=_rough(abs(age)))


def _age(generation: Generation) -> timedelta | None:
    return datetime.now(UTC) - generation.data_until_at if generation.data_until_at else None


def _rough(age: timedelta) -> str:
    hours = int(age.total_seconds() // 3600)
    if hours < 1:
        return say("{n} min", n=int(age.total_seconds() // 60))
    return say("{n} h", n=hours) if hours < 48 else say("{n} days", n=hours // 24)


def _warn_of_zone() -> None:
    if bad := st.session_state.pop("bad_tz", None):
        st.warning(plain(say("{bad} is not a time zone; times are in UTC.", bad=bad)), icon=":material/schedule:")


def _warn_of_page() -> None:
    """Say that a link led to no page, once: it is no part of the address that a person copies from here."""
    if name := st.query_params.pop(NO_PAGE, None):
        st.session_state[NO_PAGE] = name
    if name := st.session_state.pop(NO_PAGE, None):
        st.warning(
            plain(say("There is no page {name}; this is the list of incidents.", name=name)), icon=":material/link_off:"
        )
