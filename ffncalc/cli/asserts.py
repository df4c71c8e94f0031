"""`--assert EXPR` on a command that prints numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def failures(
    texts: Sequence[str] | None, reports: Sequence[Any], to_data: Callable[[Any], dict[str, Any]], *groups: str
) -> list[str]:
    """A sentence for each assertion that doesn't hold of a report; a bare name is looked for in `groups`, in order.

    Raises InputError for an assertion that can't be read or decided. To be called before anything is printed.
    """
    if not texts:
        return []
    from ffncalc.checks.evaluate import Numbers, failure
    from ffncalc.checks.expression import parse

    assertions = [parse(text, f"--assert {text[:60]!r}") for text in texts]
    found = []
    for data in map(to_data, reports):
        numbers = Numbers(data, groups, str(data.get("model", "")))
        label = f"{numbers.of}: " if numbers.of else ""
        reasons = [(failure(assertion, lambda _, n=numbers: n), assertion.text) for assertion in assertions]  # type: ignore[misc]
        found += [f"{label}{reason} ({text})" for reason, text in reasons if reason]
    return found


def exit_code(failed: Sequence[str]) -> int:
    """Say what failed, after the results were printed, and give the command's exit code."""
    from ffncalc.cli.start import complain

    for message in failed:
        complain("check failed", message)
    return 1 if failed else 0
