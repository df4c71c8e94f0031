"""ffncalc: what a Transformer costs, exactly, from its config alone."""

__version__ = "0.1.0"
