"""The command line in this very process, fed by a fuzzer: what it answered, and whether that is an answer at all."""

import io
import json
import sys
import time
from typing import NamedTuple

from ffncalc.cli import start

SECONDS = 2.0
MESSAGE = start.MAX_MESSAGE + 40
PARTS = ("embedding", "attention", "ffn", "norm", "head", "other")


class Answer(NamedTuple):
    """What one command line did, and the CPU time it took."""

    code: int
    out: str
    err: str
    seconds: float


def run(*args: str, stdin: bytes = b"") -> Answer:
    """Carry out `ffncalc ARGS` as `main` does, without ending the process."""
    saved = sys.stdin, sys.stdout, sys.stderr
    out, err = io.StringIO(), io.StringIO()
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(stdin)), out, err
    begun = time.process_time()
    try:
        code = start.run(list(args))
    except Exception as error:
        code = start.explain(error)
    finally:
        seconds = time.process_time() - begun
        sys.stdin, sys.stdout, sys.stderr = saved
    return Answer(code, out.getvalue(), err.getvalue(), seconds)


def complaint(answer: Answer) -> str | None:
    """What is wrong with an answer, if anything: the promises that hold for every input there is."""
    errors = [line for line in answer.err.splitlines() if not line.startswith("ffncalc: warning: ")]
    if answer.code not in (0, 1, 2):
        return f"exit code {answer.code}: {answer.err[:300]}"
    if answer.seconds > SECONDS:
        return f"{answer.seconds:.1f} s"
    if any(len(line) > MESSAGE for line in answer.err.splitlines()) or len(answer.err.splitlines()) > 40:
        return f"a flood of messages: {len(answer.err):,} characters"
    if answer.code == 2 and (len(errors) != 1 or answer.out):
        return f"exit code 2 with {len(errors)} messages and {len(answer.out)} characters of output"
    if answer.code == 0 and errors:
        return f"exit code 0 with {errors[0]}"
    seen = answer.out + answer.err
    driven = next((char for char in seen if char != "\n" and not char.isprintable()), None)
    return f"{driven!r} was printed" if driven else None


def sums_up(answer: Answer) -> str | None:
    """What is wrong with the numbers of `params --json`: components must add up to the total, layers to components."""
    if answer.code != 0:
        return None
    params = json.loads(answer.out)["params"]
    known = [params[part] for part in PARTS]
    if any(value is not None and value < 0 for value in params.values()):
        return f"a negative number: {params}"
    if params["total"] is not None and sum(known) != params["total"]:
        return f"components don't add up: {params}"
    if params["total"] is not None and not params["active"] <= params["total"] <= params["stored"]:
        return f"active, total and stored are out of order: {params}"
    return None
