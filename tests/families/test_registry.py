"""The table of families: which module is imported for which model type."""

from collections import Counter
from importlib import import_module

import pytest

from ffncalc import families


@pytest.mark.parametrize("module", families.MODULES)
def test_a_module_holds_the_rows_that_the_table_says(module: str) -> None:
    """A module's rows are read for exactly the names that its entry lists, in whichever order."""
    assert set(families.MODULES[module]) == set(import_module(f"ffncalc.families.{module}").ROWS)


def test_each_name_stands_once() -> None:
    """Of two rows of one name the second would never be read."""
    assert [name for name, times in Counter(families.names()).items() if times > 1] == []
