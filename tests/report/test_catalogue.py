"""The catalogue: what is bundled, what is understood, and what is refused."""

from __future__ import annotations

import pytest

from ffncalc import bundled
from ffncalc.errors import InputError
from ffncalc.report import catalogue


def test_every_bundled_config_has_a_total_and_a_source() -> None:
    """The list has every file, counted, with where its sizes are from."""
    entries = catalogue.bundled_configs()
    assert [entry.name for entry in entries] == bundled.names()
    assert all(entry.total and entry.source for entry in entries)


def test_recurrent_types_are_listed_as_refused() -> None:
    """A reader of the families learns which model types are refused, and for which layers."""
    status = {entry.name: (entry.status, entry.note.split(" ")[0]) for entry in catalogue.all_families()}
    assert status["mamba2"] == ("refused", "Mamba")
    assert status["rwkv"] == ("refused", "RWKV")
    assert status["llama"][0] == "exact"


@pytest.mark.parametrize("name", ["mamba2", "qwen3_next", "qwen2", "decoder"])
def test_find(name: str) -> None:
    """One family is found by its name, a refused one too."""
    assert catalogue.find(name).name == name


def test_unknown_family_is_an_error_with_the_nearest_names() -> None:
    """A mistyped family names what may have been meant."""
    with pytest.raises(InputError, match="did you mean qwen2"):
        catalogue.find("qwen22")
