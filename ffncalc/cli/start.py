"""The entry point: what a process needs around a command.

Exit codes: 0 fine · 1 a check failed · 2 the command or its input is wrong · 3 a fault of ffncalc's own · 130 Ctrl-C ·
141 a closed pipe (128 + SIGPIPE, as the shell reports it).

The order of imports is the start-up budget: `--version` and shell completion are answered with `sys` and `os` alone,
and everything else waits until `main` can catch a Ctrl-C. A command prints after it has computed everything, so that
an error leaves standard output empty.
"""

import codecs
import gc
import os
import sys

from ffncalc import __version__
from ffncalc.errors import FfncalcError

ASCII = {
    "×": "x", "·": "*", "÷": "/", "−": "-", "±": "+-", "≈": "~", "≤": "<=", "≥": ">=", "≠": "!=", "∞": "inf",
    "√": "sqrt", "²": "^2", "³": "^3", "⁄": "/", "⅓": "1/3", "⅔": "2/3", "Σ": "sum", "–": "-", "—": "-", "…": "...",
    "→": "->", "←": "<-", "‘": "'", "’": "'", "“": '"', "”": '"', "•": "*", "✓": "ok", "✗": "x",
    "\u00a0": " ", "\u2009": " ", "\u202f": " ",
}  # fmt: skip


MAX_MESSAGE = 1000  # a name that a message repeats may be of any length


def ascii_form(char: str) -> str:
    """What to write where the stream has no such character."""
    if "─" <= char <= "╿":  # box drawing
        return {"─": "-", "━": "-", "═": "=", "│": "|", "┃": "|", "║": "|"}.get(char, "+")
    return "#" if "▀" <= char <= "▟" else ASCII.get(char, "?")


def in_ascii(error: UnicodeError) -> tuple[str, int]:
    """A codec error handler: spell what the encoding lacks, so that no locale can stop a result."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(ascii_form, error.object[error.start : error.end])), error.end


def prepare_streams() -> None:
    """Make both streams write any text, and give a process started without them (`>&-`) ones that behave."""
    codecs.register_error("ffncalc", in_ascii)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # print() would be silent about stdout and put stderr's text into stdout
            setattr(sys, name, open(os.devnull, "r" if name == "stdout" else "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="ffncalc")


def prepare_signals() -> None:
    """Let a closed pipe end the process as it ends any filter, and Ctrl-C at once, also inside an import."""
    import signal

    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # nohup and background jobs ignore it
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))


def complain(kind: str, message: str) -> None:
    """Write one line, `ffncalc: KIND: message`, to standard error; what came from outside can't drive the terminal."""
    from ffncalc.visible import visible

    shown = visible(message)
    print(f"ffncalc: {kind}: {shown if len(shown) <= MAX_MESSAGE else f'{shown[:MAX_MESSAGE]} ...'}", file=sys.stderr)


def quick_answer(argv: list[str]) -> str | None:
    """The output of what is answered before Typer is imported, or None."""
    if argv == ["--version"]:
        return f"ffncalc {__version__}\n"
    if "FFNCALC_COMPLETE" in os.environ:
        from ffncalc.cli.completion import candidates

        return "".join(f"{word}\n" for word in candidates(argv))
    return None


def run(argv: list[str]) -> int:
    """Carry out one command line, its whole output written and flushed, and give the exit code."""
    quick = quick_answer(argv)
    if quick is not None:
        sys.stdout.write(quick)
        code = 0
    else:
        prepare_signals()
        sys.set_int_max_str_digits(0)  # a result may be longer than any number that is read; readers bound theirs
        from ffncalc.cli.app import run_command

        code = run_command(argv)
    sys.stdout.flush()
    return code


def explain(error: Exception) -> int:
    """Say what went wrong, in one message, and give the exit code."""
    if isinstance(error, FfncalcError):
        complain("error", str(error))
        return error.exit_code
    if isinstance(error, BrokenPipeError):  # where there is no SIGPIPE, or before it was set
        return 141
    if isinstance(error, OSError):  # a full disk, mostly: files are read by code that says more
        complain("error", f"{error.filename or 'standard output'}: {error.strerror or error}")
        return 2
    first_line = next(iter(str(error).splitlines()), "")[:200]
    complain("internal error", f"{type(error).__name__}: {first_line} (please report it, with the command)")
    return 3


def main() -> None:
    """Run `ffncalc` on the process's arguments and end the process.

    The process ends without tearing the interpreter down, and collects no garbage: together a fifth of `import typer`.
    """
    gc.disable()
    try:
        prepare_streams()
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        code = explain(error)
        if os.environ.get("FFNCALC_DEBUG"):
            sys.excepthook(type(error), error, error.__traceback__)
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(code)
