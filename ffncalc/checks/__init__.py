"""Sizing checks: what must hold of a model's numbers, in an expression or in a file, and whether it does."""
