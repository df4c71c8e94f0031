"""`python -m ffncalc` is the command `ffncalc`."""

from ffncalc.cli import main

main()
