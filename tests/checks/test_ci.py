"""The forms for CI systems, on names that try to break out of them."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from ffncalc.checks.run import Checked, Result
from ffncalc.render import ci
from ffncalc.render.checks import document
from ffncalc.render.document import markdown, plain, visible_document

NASTY = 'm,o:d%e\nl"<&>\x1b[2J|*`\u202e'
GOOD = Result("ci/checks.yaml", 3, 5, "good", "params.total", "max 7B", 6_738_415_616, True, "")
BAD = Result("ci/checks.yaml", 4, 7, NASTY, "dims.d_ff", "multiple_of 256", 11_000, False, f"{NASTY}: 100 % wrong")
REPORT = Checked((GOOD, BAD), ("odd",))


def test_junit() -> None:
    """A suite a file, a case a check; names are text whatever they hold."""
    (suite,) = ET.fromstring(ci.junit(REPORT))
    assert {k: suite.get(k) for k in ("name", "tests", "failures", "errors")} == {
        "name": "ci/checks.yaml",
        "tests": "2",
        "failures": "1",
        "errors": "0",
    }
    good, bad = suite
    assert (good.get("classname"), good.get("name"), list(good)) == ("good", "params.total max 7B", [])
    assert bad.get("classname") == 'm,o:d%e\\nl"<&>\\x1b[2J|*`\\u202e'
    assert bad[0].get("message").endswith(": 100 % wrong")  # type: ignore[union-attr]
    assert (bad.get("file"), bad.get("line")) == ("ci/checks.yaml", "4")


def test_github() -> None:
    """One workflow command on one line for each failure, from which no name breaks out."""
    assert ci.github(REPORT, {}) == (
        "::error file=ci/checks.yaml,line=4,col=7,"
        'title=m%2Co%3Ad%25e\\nl"<&>\\x1b[2J|*`\\u202e%3A dims.d_ff multiple_of 256'
        '::m,o:d%25e\\nl"<&>\\x1b[2J|*`\\u202e: 100 %25 wrong\n'
    )


@pytest.mark.parametrize(
    ("workspace", "shown"), [("", "checks.yaml"), ("..", "{here}/checks.yaml"), ("/nowhere", "checks.yaml")]
)
def test_paths_from_the_root_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: str, shown: str
) -> None:
    """Run in a folder of the checkout, an annotation names the file as the repository does."""
    monkeypatch.chdir(tmp_path)
    root = str(tmp_path.parent) if workspace == ".." else workspace
    text = ci.github(Checked((BAD._replace(file="checks.yaml"),), ()), {"GITHUB_WORKSPACE": root})
    assert text.startswith(f"::error file={shown.format(here=tmp_path.name)},line=4,")


def test_sarif() -> None:
    """A result for each failure, its rule among the rules, its place as a URI and a region."""
    (run,) = ci.sarif(Checked((GOOD, BAD._replace(file="a b/ü.yaml")), ()), {})["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["dims.d_ff"]
    (result,) = run["results"]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("dims.d_ff", 0, "error")
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "a%20b/%C3%BC.yaml"}, "region": {"startLine": 4, "startColumn": 7}}


def test_json() -> None:
    """Every check with what was found, exactly, and how many hold."""
    data = json.loads(json.dumps(ci.data(REPORT)))
    assert (data["schema"], data["passed"], data["failed"], data["warnings"]) == ("ffncalc/check/1", 1, 1, ["odd"])
    assert data["checks"][0] == {
        "file": "ci/checks.yaml",
        "line": 3,
        "column": 5,
        "model": "good",
        "number": "params.total",
        "wanted": "max 7B",
        "found": 6_738_415_616,
        "holds": True,
        "message": "",
    }


def test_markdown() -> None:
    """A table whose cells no name leaves."""
    lines = markdown(visible_document(document(Checked((BAD._replace(model="a|b\nc"),), ())))).splitlines()
    assert lines[:5] == [
        "**1 of 1 checks failed**",
        "",
        "|  | model | check | found |",
        "| --- | --- | --- | ---: |",
        "| FAILED | a\\|b\\\\nc | dims.d\\_ff multiple\\_of 256 | 11,000 |",
    ]


def test_many_values() -> None:
    """A number of each layer is shown by its distinct values, the first six."""
    text = plain(document(Checked((GOOD._replace(found=[*range(1000, 1009), 1000]),), ())))
    assert text.splitlines()[4].endswith("1,000/1,001/1,002/1,003/1,004/1,005/...")
