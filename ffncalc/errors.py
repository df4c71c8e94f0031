"""The errors that ffncalc raises on purpose, and the exit codes they end in.

    FfncalcError          anything ffncalc says no to
    ├── InputError        the command or what it was given is wrong              exit 2
    └── CheckFailed       a check or an assertion does not hold                  exit 1

Anything else that reaches the command line is a fault of ffncalc's own (exit 3).
"""

from __future__ import annotations

from collections.abc import Iterable


class FfncalcError(Exception):
    """A refusal with one short message for the user: what, where, and what to do."""

    exit_code = 2


class InputError(FfncalcError):
    """The command line, a file or an array is not what it has to be."""


class CheckFailed(FfncalcError):  # noqa: N818 - it is what happened, no fault of anyone's
    """Everything was read and computed, and a stated condition does not hold."""

    exit_code = 1


def nearest(word: str, known: Iterable[str], n: int = 1, cutoff: float = 0.6) -> list[str]:
    """The names of `known` that a mistyped word may stand for, the likeliest first: what a message suggests."""
    from difflib import get_close_matches  # paid for only where something is wrong

    return get_close_matches(word, list(known), n=n, cutoff=cutoff)
