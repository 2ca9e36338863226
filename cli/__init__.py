"""The ``doubletake`` command: ``main`` runs it; each subcommand is a file of its own here."""

from cli.program import app, main

__all__ = ["app", "main"]
