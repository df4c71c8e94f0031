"""A config as it is at a revision of the git repository around: `HEAD~1:model.yaml`."""

from __future__ import annotations

import os
import re
import subprocess

from ffncalc.config import Config, name_of, of_bytes, too_large
from ffncalc.errors import InputError
from ffncalc.text import MAX_BYTES

_REVISION = re.compile(r"(?P<revision>[^-:][^:]*):(?P<path>.+)", re.DOTALL)
# Nothing but the repository is asked: no prompt, no download into a partial clone, no messages in other languages.
_ENV = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def is_revision(model: str) -> bool:
    """Whether MODEL means a path at a revision: it has the form of one, and no file has that name."""
    return "\0" not in model and _REVISION.fullmatch(model) is not None and not os.path.lexists(model)


def read(model: str) -> Config:
    """The config that `REVISION:path` means, as `git show` has it: from the repository's root, or from this folder.

    Raises InputError where there is no git, no repository, no such revision or no such file in it.
    """
    found = _REVISION.fullmatch(model)
    if not found:
        raise InputError(f"{model}: not of the form REVISION:path, such as HEAD~1:model.yaml")
    revision, path = found["revision"], found["path"]
    _git(
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        f"{revision}^{{commit}}",
        wrong=f"{revision} is no revision here",
    )
    data = _blob(f"{revision}:{path}")
    if data is None and not path.startswith((".", "/")):
        data = _blob(f"{revision}:./{path}")
    if data is None:
        raise InputError(f"{model}: {path} is no file in {revision}")
    return of_bytes(data, model, name_of(path))


def _blob(name: str) -> bytes | None:
    """The contents of a file in the repository; None where there is none of that name."""
    kind = _run("cat-file", "-t", name)
    if kind.returncode or kind.stdout.strip() != b"blob":
        return None
    if int(_git("cat-file", "-s", name, wrong=f"{name} can't be read")) > MAX_BYTES:
        raise too_large(name)
    return _git("cat-file", "blob", name, wrong=f"{name} can't be read")


def _git(*args: str, wrong: str) -> bytes:
    done = _run(*args)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").splitlines()
        reason = said[0].removeprefix("fatal: ").split(" (or any")[0][:200] if said else "git does not know it"
        raise InputError(f"{wrong}: {reason}")
    return done.stdout


def _run(*args: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", *args], capture_output=True, check=False, env=os.environ | _ENV, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise InputError("git is not installed; a revision can't be read without it") from None
    except (OSError, ValueError) as error:
        raise InputError(f"git can't be run: {error}") from None
