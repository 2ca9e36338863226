"""The dashboard's own process: Streamlit, once what every page needs has been read in.

Else the first visitor waits for it: that page's script took 4.0 s, and takes 1.7 s now. Run by ``doubletake serve``.
"""

from importlib import import_module

from streamlit.web.cli import main as streamlit

NEEDED = ("pandas", "pyarrow.dataset", "plotly.graph_objects", "deltalake", "jinja2")


def main() -> None:
    """Run Streamlit's command with the arguments given."""
    for name in NEEDED:
        import_module(name)
    streamlit(prog_name="streamlit")


if __name__ == "__main__":
    main()
