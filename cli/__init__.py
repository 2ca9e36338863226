"""The ``doubletake`` command: ``whole_process`` runs that of this process, ``main`` any; each subcommand is a file of its own here."""

from cli.program import app, main, whole_process

__all__ = ["app", "main", "whole_process"]
