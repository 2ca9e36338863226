"""Tables in the reader's language: columns are named once, in English, and headed in the language of whoever looks."""

from collections.abc import Collection, Sequence
from typing import Any

import streamlit as st

from forensics.commands import in_lake
from pages._ui.device import is_phone
from pages._ui.place import lake_path
from pages._ui.said import in_words, language, say, teller, term
from pages._ui.words import plain, with_commands, without_signs


def data_table(
    rows: list[dict[str, Any]],
    *,
    told: Collection[str] = (),
    column_config: dict[str, Any] | None = None,
    **more: Any,
) -> Any:
    """Show rows as ``st.dataframe`` does, in the reader's language.

    Headings are translated, the words among which a column of chips chooses, and the cells of the columns ``told``, which
    hold our own words; every other cell holds names and numbers.
    """
    config = {name: dict(kind) for name, kind in (column_config or {}).items()}
    for name in {**(rows[0] if rows else {}), **config}:
        label = config.get(name, {}).get("label") or name
        if (said := term(label)) != label:
            config.setdefault(name, {})["label"] = said
    chips = [name for name, kind in config.items() if (kind.get("type_config") or {}).get("type") == "multiselect"]
    for name in chips:
        options = config[name]["type_config"]["options"]
        said_options = [option | {"value": term(option["value"])} for option in options]
        config[name]["type_config"] = config[name]["type_config"] | {"options": said_options}
    for name in _counts(rows):
        kind = config.setdefault(name, {})
        if not kind.get("type_config"):
            kind["type_config"] = {"type": "number"}
        if kind["type_config"].get("type") == "number":
            kind["type_config"] = {"format": "localized"} | {
                k: v for k, v in kind["type_config"].items() if v is not None
            }
    say, tell, lake = language(), teller(), lake_path()  # once for all cells
    rows = [
        {
            name: [say.maybe(chip) for chip in value]
            if name in chips
            else without_signs(in_lake(tell(value), lake))
            if name in told and isinstance(value, str)
            else value
            for name, value in row.items()
        }
        for row in rows
    ]
    return st.dataframe(rows, column_config=config, **more)


def opening_table(
    rows: list[dict[str, Any]],
    wide: Sequence[str],
    narrow: Sequence[str],
    *,
    told: Collection[str] = (),
    key: str,
    **more: Any,
) -> None:
    """Show the columns that fit, ``narrow`` ones on a phone; a chosen row opens whole below the table."""
    event = data_table(
        rows,
        told=told,
        hide_index=True,
        key=key,
        placeholder="–",
        column_order=narrow if is_phone() else wide,
        on_select="rerun",
        selection_mode=["single-row", "single-cell"],
        **more,
    )
    picked = [*event["selection"]["rows"], *(row for row, _ in event["selection"]["cells"])]
    if not picked or picked[0] >= len(rows):
        st.caption(say("Choose a row to see all of it."))
        return
    with st.container(border=True, key=f"{key}-whole"):
        whole = {name: value for name, value in rows[picked[0]].items() if value not in (None, "")}
        st.markdown(
            "  \n".join(f"**{plain(term(name))}** {_text(value, name in told)}" for name, value in whole.items())
        )


def _text(value: Any, is_ours: bool) -> str:
    if isinstance(value, bool):
        return term("yes" if value else "no")
    if isinstance(value, list):
        return ", ".join(map(term, value))
    if isinstance(value, int):
        return f"{value:,}"
    return with_commands(in_lake(in_words(value), lake_path())) if is_ours else plain(value)


def _counts(rows: list[dict[str, Any]]) -> list[str]:
    """Return the columns of whole numbers: they are read in thousands, as on the cards beside them."""
    if not rows:
        return []
    whole = {type(None), int}
    return [
        name for name in rows[0] if {type(row.get(name)) for row in rows} <= whole and rows[0].get(name) is not None
    ]
