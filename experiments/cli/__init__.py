"""The command ``biped``: one file for each of its subcommands."""

from experiments.cli.main import main

__all__ = ["main"]
