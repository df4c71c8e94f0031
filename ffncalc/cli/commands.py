"""The commands there are, in the order that help lists them.

`ffncalc hidden-dim` is the function `command` of the module `ffncalc.cli.hidden_dim_command`, which is imported only
when that command is asked for; help and shell completion need nothing but this table. A name of two words is a command
of a group: "lab x" is `ffncalc lab x`, in `ffncalc.cli.lab_x_command`, and the group "lab" has a row and no module.
"""

COMMANDS = {
    "params": "Count the parameters, by component and by kind of layer.",
    "flops": "Count the FLOPs of a token and of a sequence: FFN, projections, scores, head.",
    "hidden-dim": "Work out the hidden width of an FFN, step by step.",
    "compare": "Set two or more models side by side.",
    "check": "Hold sizing checks against their models, for CI.",
    "diff": "Say which sizes changed between two configs, and what that did to every number.",
    "size": "Find the configs that are nearest to a budget of parameters or FLOPs.",
    "sweep": "Count over a grid of sizes.",
    "plot": "Draw pictures: as SVG, PNG or HTML with --out, else as text.",
    "plot flops": "Draw what a token costs over the context length: FFN against attention.",
    "plot params": "Draw the parameters by component: of one layer and in total.",
    "plot sweep": "Draw a number over a size, from a file that `ffncalc sweep` wrote.",
    "forward": "Run a model's blocks or one FFN on small arrays, and hold it against the counts.",
    "lab": "Small experiments on the feed-forward network.",
    "lab variants": "Run the eight matched FFN variants side by side, and say who uses what.",
    "lab gelu": "See a random mask's mean close in on GELU.",
    "lab facts": "Ask an FFN of three hand-built facts, or rewrite one.",
    "lab collapse": "See attention alone collapse with depth, and what prevents it.",
    "lab activations": "Tabulate and draw the activations, and measure GELU's approximations.",
    "configs": "List the bundled configs, or print one.",
    "families": "List the architectures that are understood, or show one.",
    "completion": "Print the completion script of a shell.",
}


def under(group: str) -> list[str]:
    """The last words of the commands that stand directly under a group; those of `ffncalc` itself are under ""."""
    start = f"{group} ".lstrip()
    return [rest for name in COMMANDS if name.startswith(start) and " " not in (rest := name.removeprefix(start))]


def module_of(name: str) -> str:
    """The last part of the name of the module that implements a command."""
    return name.replace("-", "_").replace(" ", "_") + "_command"


def command_of(words: list[str]) -> str:
    """The command that a command line starts with, or "" if there is none."""
    starts = (" ".join(words[:n]) for n in (2, 1))
    return next((name for name in starts if name in COMMANDS), "")
