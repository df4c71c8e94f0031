"""A progress bar on standard error, for what takes longer than a second."""

import sys
import time

WIDTH = 30
EVERY = {True: 0.2, False: 10.0}  # seconds between two, on a terminal and elsewhere


class Progress:
    """Shows how far something is: a bar that is drawn over on a terminal, now and then a line in a log."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.terminal = sys.stderr.isatty()
        self.start = time.monotonic()
        self.next = self.start + 1
        self.shown = False

    def __call__(self, done: int, of: int) -> None:
        """Take note of how far it is; show it where a second has passed."""
        now = time.monotonic()
        if now < self.next or not of:
            return
        self.next = now + EVERY[self.terminal]
        share = done / of
        bar = f"[{'#' * int(share * WIDTH):{WIDTH}}] {share:4.0%}  {done:,} of {of:,} {self.what}"
        print(f"\r{bar}" if self.terminal else bar, end="" if self.terminal else "\n", file=sys.stderr, flush=True)
        self.shown = True

    def finish(self) -> None:
        """Leave the terminal's line as it was."""
        if self.shown and self.terminal:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
