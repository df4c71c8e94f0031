"""Writing a file so that a reader finds the old contents or the new ones, and never a part."""

from __future__ import annotations

import contextlib
import os

from ffncalc.errors import InputError


def write(path: str, data: str | bytes) -> None:
    """Write a file, a link's target in its place; a device is written to as it is. Raises InputError."""
    contents = data.encode() if isinstance(data, str) else data
    target = os.path.realpath(path)
    beside = f"{target}.{os.getpid()}.part"
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as file:
                file.write(contents)
            return
        with open(beside, "xb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(beside, os.stat(target).st_mode & 0o7777)
        os.replace(beside, target)
    except OSError as error:
        raise InputError(f"{path}: can't be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            os.remove(beside)
