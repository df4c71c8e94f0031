"""The results of checks in the forms that CI systems read: JUnit XML, GitHub's annotations, SARIF.

A Markdown table for a comment on a pull request is the document of `ffncalc.render.checks` as Markdown.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from ffncalc import __version__
from ffncalc.checks.run import Checked, Result
from ffncalc.render.checks import title
from ffncalc.visible import visible

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def data(report: Checked) -> dict[str, Any]:
    """`ffncalc/check/1`."""
    return {
        "schema": "ffncalc/check/1",
        "checks": [result._asdict() for result in report.results],
        "passed": len(report.results) - len(report.failed),
        "failed": len(report.failed),
        "warnings": list(report.warnings),
    }


# ------------------------------------------------------------------ JUnit
_XML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def junit(report: Checked) -> str:
    """JUnit XML: a suite for each checks file, a case for each check of each model."""
    files = dict.fromkeys(result.file for result in report.results)
    suites = "".join(_suite(file, [r for r in report.results if r.file == file]) for file in files)
    counts = _counts(len(report.results), len(report.failed))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="ffncalc" {counts}>\n{suites}</testsuites>\n'


def _suite(file: str, results: list[Result]) -> str:
    cases = "".join(map(_case, results))
    counts = _counts(len(results), sum(not r.holds for r in results))
    return f"  <testsuite {_attributes(name=file)} {counts}>\n{cases}  </testsuite>\n"


def _counts(tests: int, failures: int) -> str:
    return f'tests="{tests}" failures="{failures}" errors="0" skipped="0" time="0"'


def _case(result: Result) -> str:
    case = _attributes(classname=result.model, name=title(result), file=result.file, line=str(result.line))
    if result.holds:
        return f'    <testcase {case} time="0"/>\n'
    failure = f"<failure {_attributes(message=result.message, type='check')}>{_xml(_location(result))}</failure>"
    return f'    <testcase {case} time="0">\n      {failure}\n    </testcase>\n'


def _attributes(**values: str) -> str:
    return " ".join(f'{name}="{_xml(value)}"' for name, value in values.items())


def _xml(text: str) -> str:
    return visible(text).translate(_XML)


def _location(result: Result) -> str:
    return f"{result.file}:{result.line}:{result.column}: {result.message}"


# ------------------------------------------------------------------ GitHub
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})
_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})


def github(report: Checked, env: Mapping[str, str] = os.environ) -> str:
    """A workflow command for each check that fails: GitHub shows it on the line of the checks file."""
    return "".join(_annotation(result, env.get("GITHUB_WORKSPACE", "")) for result in report.failed)


def _annotation(result: Result, workspace: str) -> str:
    properties = {
        "file": in_repository(result.file, workspace),
        "line": str(result.line),
        "col": str(result.column),
        "title": f"{result.model}: {title(result)}",
    }
    stated = ",".join(f"{name}={visible(value).translate(_PROPERTY)}" for name, value in properties.items())
    return f"::error {stated}::{visible(result.message).translate(_MESSAGE)}\n"


def in_repository(file: str, workspace: str) -> str:
    """A path as GitHub wants it, from the root of the checkout, when the command ran in one of its folders."""
    if not workspace:
        return file
    inside = os.path.relpath(os.path.realpath(file), os.path.realpath(workspace))
    return file if inside.startswith("..") else inside


# ------------------------------------------------------------------ SARIF
def sarif(report: Checked, env: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """SARIF 2.1.0: a result for each check that fails, its rule the number it is about."""
    rules = list(dict.fromkeys(result.number for result in report.failed))
    driver = {"name": "ffncalc", "version": __version__, "rules": [_rule(name) for name in rules]}
    results = [_sarif_result(result, rules, env.get("GITHUB_WORKSPACE", "")) for result in report.failed]
    return {"version": "2.1.0", "$schema": SARIF_SCHEMA, "runs": [{"tool": {"driver": driver}, "results": results}]}


def _rule(name: str) -> dict[str, Any]:
    return {"id": name, "shortDescription": {"text": f"a sizing check of {name}"}}


def _sarif_result(result: Result, rules: list[str], workspace: str) -> dict[str, Any]:
    return {
        "ruleId": result.number,
        "ruleIndex": rules.index(result.number),
        "level": "error",
        "message": {"text": result.message},
        "locations": list(_sarif_places(result, workspace)),
    }


def _sarif_places(result: Result, workspace: str) -> Iterator[dict[str, Any]]:
    from urllib.parse import quote

    region = {"startLine": result.line, "startColumn": result.column}
    uri = quote(in_repository(result.file, workspace).replace(os.sep, "/"))
    yield {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}
