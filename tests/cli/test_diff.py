"""`ffncalc diff`: two configs, or one at two revisions of a repository."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ffncalc import revision

Run = Callable[..., Any]
Write = Callable[..., str]
OWN = "family: llama\nname: own\nd_model: 64\nn_layers: 3\nn_heads: 4\nd_ff: 192\nn_vocab: 100\n"
WIDE = OWN.replace("192", "200")


def git(folder: Path, *args: str) -> None:
    """Run git in a folder, as nobody in particular."""
    names = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *names, *args], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two commits of model.yaml and sub/model.yaml, the second wider; the working folder."""
    git(tmp_path, "init")
    for text in (OWN, WIDE):
        write(text, "model.yaml")
        write(text.replace("n_layers: 3", "n_layers: 5"), "sub/inner.yaml")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-m", "x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_files(ffncalc: Run, write: Write) -> None:
    """The sizes that changed, then every number that moved, by how much; what stayed is left out."""
    old, new = write(OWN, "old.yaml"), write(WIDE, "new.yaml")
    code, out, err = ffncalc("diff", old, new)
    lines = out.replace(old, "OLD").replace(new, "NEW").splitlines()
    assert (code, err, lines[0]) == (0, "", "own: 173 k → 178 k parameters (+4,608, +2.7 %)")
    assert lines[4].split() == ["ffn.d_ff", "192", "200"]
    moved = {line.split()[0]: line.split()[1:] for line in lines[8:] if "." in line}
    assert moved["params.ffn"] == ["110,592", "115,200", "+4,608", "+4.2", "%"]
    assert moved["flops.per_token.ffn"] == ["221,184", "230,400", "+9,216", "+4.2", "%"]
    assert not {"params.attention", "params.head", "flops.per_token.head"} & moved.keys()


def test_json(ffncalc: Run, write: Write) -> None:
    """Exact numbers, by their path in the JSON of params and flops."""
    data = json.loads(ffncalc("diff", write(OWN, "old.yaml"), write(WIDE, "new.yaml"), "--json").out)
    assert data["schema"] == "ffncalc/diff/1"
    assert data["sizes"] == [{"name": "ffn.d_ff", "old": 192, "new": 200}]
    total = next(number for number in data["numbers"] if number["name"] == "params.total")
    assert total == {"name": "params.total", "old": 172_992, "new": 177_600, "off": pytest.approx(4608 / 172_992)}


@pytest.mark.parametrize(
    ("change", "name", "old", "new"),
    [
        ("tied: true\n", "tied", False, True),
        ("n_kv_heads: 2\n", "attention.n_kv_heads", 4, 2),
        ("attention: {bias: [q, k]}\n", "attention.bias", "", "qk"),
        ("attention: {window: 7}\n", "attention.window", 0, 7),
        ("ffn: {kind: plain}\n", "ffn.kind", "gated", "plain"),
        ("norm: {kind: layer}\n", "norm.kind", "rms", "layer"),
        ("layers: [{repeat: 2}, {ffn: {d_ff: 8}}]\n", "layers of each kind", None, "2 + 1"),
        ("head: none\n", "head", "causal", "none"),
    ],
)
def test_every_switch_is_seen(ffncalc: Run, write: Write, change: str, name: str, old: Any, new: Any) -> None:
    """Whatever moved a number is named among the sizes."""
    data = json.loads(ffncalc("diff", write(OWN, "old.yaml"), write(OWN + change, "new.yaml"), "--json").out)
    assert {"name": name, "old": old, "new": new} in data["sizes"]
    assert data["numbers"]


def test_nothing_differs(ffncalc: Run, write: Write) -> None:
    """Two names of one thing have no difference."""
    out = ffncalc("diff", write(OWN, "old.yaml"), write(OWN, "new.yaml")).out
    assert out == "own: 172,992 parameters, as before\nNo size and no number differs.\n"


@pytest.mark.parametrize("form", ["table", "markdown", "csv", "json"])
def test_forms(ffncalc: Run, write: Write, form: str) -> None:
    """Every form has the numbers, unlike families included."""
    code, out, _ = ffncalc("diff", "gpt2", "t5-small", "--format", form)
    assert code == 0
    assert "params.total" in out
    assert "60,506,624" in out or "60506624" in out


def test_revisions(ffncalc: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path at a revision is read from the root of the repository, else from the folder one stands in."""
    expected = ffncalc("diff", "HEAD~1:model.yaml", "model.yaml").out
    assert ["ffn.d_ff", "192", "200"] in [line.split() for line in expected.splitlines()]
    assert ffncalc("diff", "HEAD~1:model.yaml", "HEAD:model.yaml").out.splitlines()[0] == expected.splitlines()[0]
    monkeypatch.chdir(repository / "sub")
    for name in ("sub/inner.yaml", "inner.yaml", "./inner.yaml"):
        assert ffncalc("diff", f"HEAD~1:{name}", "inner.yaml").out.startswith("own: 280 k → 287 k")
    assert ffncalc("diff", "main~1:model.yaml", "../model.yaml").code == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("HEAD~1:none.yaml", "HEAD~1:none.yaml: none.yaml is no file in HEAD~1"),
        ("HEAD:sub", "HEAD:sub: sub is no file in HEAD"),
        ("HEAD~7:model.yaml", "HEAD~7 is no revision here"),
        ("nonsense:model.yaml", "nonsense is no revision here"),
        ("HEAD:../model.yaml", "is no file in HEAD"),
        ("--output=x:model.yaml", "no such option"),
        ("HEAD^{tree}:model.yaml", "HEAD^{tree} is no revision here"),
        ("model.yaml:", "neither a bundled model nor a file"),
    ],
)
def test_no_such_revision(ffncalc: Run, repository: Path, name: str, message: str) -> None:
    """What isn't there is said, by its name, and nothing is written."""
    code, out, err = ffncalc("diff", name, "model.yaml")
    assert (code, out, message in err) == (2, "", True), err
    assert sorted(path.name for path in repository.iterdir()) == [".git", "model.yaml", "sub"]


def test_an_option_is_no_revision() -> None:
    """A name that starts with a dash never reaches git."""
    assert not revision.is_revision("--output=x:model.yaml")


def test_a_large_file_at_a_revision(ffncalc: Run, repository: Path) -> None:
    """A file over 16 MB is refused unread in a repository too."""
    (repository / "big.yaml").write_text("#" * (16 * 2**20 + 1))
    git(repository, "add", ".")
    git(repository, "commit", "-m", "big")
    assert "HEAD:big.yaml: over 16 MB" in ffncalc("diff", "HEAD:big.yaml", "model.yaml").err


def test_outside_a_repository(ffncalc: Run, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a repository the message says so."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    write(OWN, "model.yaml")
    err = ffncalc("diff", "HEAD:model.yaml", "model.yaml").err
    assert err == "ffncalc: error: HEAD is no revision here: not a git repository\n"


def test_without_git(ffncalc: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git the message says so."""
    monkeypatch.setenv("PATH", "/nowhere")
    assert "git is not installed" in ffncalc("diff", "HEAD:model.yaml", "model.yaml").err


def test_a_file_with_a_colon(ffncalc: Run, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of that very name goes before a revision."""
    monkeypatch.chdir(tmp_path)
    write(OWN, "HEAD:model.yaml")
    assert ffncalc("diff", "HEAD:model.yaml", "HEAD:model.yaml").code == 0
