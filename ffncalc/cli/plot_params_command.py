"""`ffncalc plot params MODEL...`."""

from ffncalc.cli.options import Models, Out


def command(models: Models, out: Out = None) -> None:
    """Components stacked, models side by side: of one layer (the most frequent kind) and in total."""
    from ffncalc.plot import data, draw, terminal

    if out is not None:
        draw.checked(out)
    stacks = [data.stacked(base) for base in data.bases(models)]
    if out is not None:
        draw.save(draw.params(stacks), out)
    else:
        print(terminal.params(stacks), end="")
