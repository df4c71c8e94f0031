"""The command line: it parses and prints, and does no arithmetic."""

from ffncalc.cli.start import main

__all__ = ["main"]
