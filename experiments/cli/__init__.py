"""The command ``biped``: one module for each subcommand."""

from experiments.cli.main import main

__all__ = ["main"]
