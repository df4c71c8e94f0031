"""What MODEL may be, and which of three kinds a config is."""

import io
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ffncalc import bundled
from ffncalc.config import read
from ffncalc.errors import InputError
from ffncalc.text import MAX_BYTES

OWN = "family: decoder\nd_model: 24\n"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("llama-7b", "llama-7b"),
        ("LLaMA-7B", "llama-7b"),
        ("llama_7b", "llama-7b"),
        ("llama7b", "llama-7b"),
        ("huggyllama/llama-7b", "llama-7b"),
        ("gpt-2", "gpt2"),
        ("deepseek-ai/DeepSeek-V3", "deepseek-v3"),
        ("llama 3.2 1b", "llama-3.2-1b"),
        ("T5-v1.1-base", "t5-v1_1-base"),
        ("gpt-3-13b", "gpt3-13b"),
        ("gpt-3-1.3b", "gpt3-1.3b"),
    ],
)
def test_bundled_names(model: str, name: str) -> None:
    """A bundled config is found by its name, however that is written, and by its aliases."""
    assert read(model).name == name


@pytest.mark.parametrize(
    ("file", "text", "kind", "name"),
    [
        pytest.param("mine.yaml", OWN, "own", "mine", id="yaml"),
        pytest.param("mine.yml", OWN + "name: tiny\n", "own", "tiny", id="stated-name"),
        pytest.param("mine.json", '{"family": "decoder"}', "own", "mine", id="own-as-json"),
        pytest.param("mine.txt", '{"model_type": "gpt2"}', "hf", "mine", id="json-by-its-looks"),
        pytest.param("gpt/config.json", '{"model_type": "gpt2"}', "hf", "gpt", id="folder-names-it"),
        pytest.param("7B/params.json", '{"dim": 24, "n_heads": 6}', "meta", "7B", id="meta"),
        pytest.param("mine", OWN, "own", "mine", id="no-extension"),
    ],
)
def test_files(write: Any, file: str, text: str, kind: str, name: str) -> None:
    """A file is of the kind that its keys say, and called by its own name, its stem, or its folder."""
    found = read(write(text, file))
    assert (found.kind, found.name) == (kind, name)


@pytest.mark.parametrize("file", ["config.json", "params.json", "config.yaml"])
def test_folders(write: Any, tmp_path: Path, file: str) -> None:
    """A folder stands for the config in it."""
    text = '{"model_type": "gpt2"}' if file.endswith("json") else "model_type: gpt2"
    write(text, f"model/{file}")
    found = read(str(tmp_path / "model"))
    assert (found.values, found.file) == ({"model_type": "gpt2"}, str(tmp_path / "model" / file))


def test_folder_named_like_a_bundled_config(write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there goes over what is bundled."""
    write('{"model_type": "gpt2", "n_layer": 3}', "gpt2/config.json")
    monkeypatch.chdir(tmp_path)
    assert read("gpt2").values["n_layer"] == 3


@pytest.mark.parametrize(
    "text", [OWN, '{"model_type": "gpt2"}', '\ufeff{"dim": 24, "n_heads": 6}'], ids=["yaml", "json", "bom"]
)
def test_standard_input(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """`-` is read from standard input, YAML or JSON."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    found = read("-")
    assert (found.file, found.name) == ("stdin", "stdin")


def test_dict_as_config() -> None:
    """A dict is a config as it stands."""
    assert read({"model_type": "gpt2"})[:2] == ("config", "hf")
    assert read({"family": "decoder", "name": "tiny"}).name == "tiny"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param({"d_model": 24}, "nothing says which architecture this is; want one of `family`", id="none"),
        pytest.param({"dim": 24}, "nothing says which architecture this is", id="half-a-meta"),
        pytest.param({"family": "decoder", "model_type": "gpt2"}, "two kinds of config at once", id="own-and-hf"),
    ],
)
def test_kind_that_is_not_clear(values: dict[str, Any], message: str) -> None:
    """A config is of exactly one kind."""
    with pytest.raises(InputError, match=re.escape(message)):
        read(values)


def test_heads_and_dim_beside_another_kind() -> None:
    """`dim` and `n_heads` are other architectures' keys too: a stated kind decides."""
    assert read({"model_type": "distilbert", "dim": 24, "n_heads": 6}).kind == "hf"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(b"", "is empty; a config is a mapping", id="empty"),
        pytest.param(b"# nothing\n", "is empty", id="comment"),
        pytest.param(b"{}", "is empty", id="no-keys"),
        pytest.param(b"- 1\n", "holds a list", id="list"),
        pytest.param(b"hello", "holds a str", id="text"),
        pytest.param(b"family: decoder\nname: \xff\n", "byte 22 is not UTF-8 text", id="latin-1"),
        pytest.param("family: decoder".encode("utf-16"), "byte 0 is not UTF-8 text", id="utf-16"),
        pytest.param(b"a" * (MAX_BYTES + 1), "over 16 MB; a config is a few kilobytes", id="too-large"),
        pytest.param(b"a: 1\na: 2\n", "line 2, column 1: key 'a' stands twice", id="not-yaml"),
    ],
)
def test_files_that_are_refused(write: Any, text: bytes, message: str) -> None:
    """What isn't a config says which file, and what is wrong with it."""
    path = write(text)
    with pytest.raises(InputError, match=re.escape(message)) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")


def test_folder_without_config(tmp_path: Path) -> None:
    """A folder says what it ought to hold."""
    with pytest.raises(InputError, match=r"a folder without a config\.json, params\.json or config\.yaml"):
        read(str(tmp_path))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("nowhere.yaml", "nowhere.yaml: no such file"),
        ("./llama-7b", "./llama-7b: no such file"),
        ("/nowhere/config.json", "/nowhere/config.json: no such file"),
        ("llama-7c", "'llama-7c' is neither a bundled model nor a file; did you mean llama-7b or"),
        ("xyzzy", "'xyzzy' is neither a bundled model nor a file; `ffncalc configs` lists the bundled names"),
        ("", "'' is neither a bundled model nor a file"),
        ("a\0b", "'a\\x00b' is neither a bundled model nor a file"),
        ("../configs/gpt2", "../configs/gpt2: no such file"),
    ],
)
def test_models_that_are_not_there(model: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks like a path is missed as a file, anything else as a name, with the nearest ones."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=re.escape(message)):
        read(model)


def test_link_that_leads_nowhere(tmp_path: Path) -> None:
    """A dead link is called that."""
    link = tmp_path / "mine.yaml"
    link.symlink_to(tmp_path / "gone")
    with pytest.raises(InputError, match="a link that leads nowhere"):
        read(str(link))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file(write: Any) -> None:
    """A file without permission says so."""
    path = write(OWN)
    os.chmod(path, 0)
    with pytest.raises(InputError, match="can't be read: Permission denied"):
        read(path)


def test_file_that_fails_while_it_is_read(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any failure of the system is a message with the file in front."""

    def fail(*_: Any) -> None:
        raise OSError(5, "Input/output error")

    path = write(OWN)
    monkeypatch.setattr("builtins.open", fail)
    with pytest.raises(InputError, match=re.escape(f"{path}: can't be read: Input/output error")):
        read(path)


def test_place_of_a_key(write: Any) -> None:
    """A key's place is the file with line and column, or the file alone where JSON gives none."""
    path = write(OWN)
    assert (read(path).at("d_model"), read(path).at("n_heads")) == (f"{path}: line 2, column 1", path)


def test_folder_of_configs_is_there() -> None:
    """The bundled configs are found beside the package."""
    assert (Path(bundled.FOLDER) / "llama-7b.yaml").is_file()
