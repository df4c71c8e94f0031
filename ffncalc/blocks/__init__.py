"""The closed vocabulary of blocks: each a short generator that lists its operations in execution order, one line
each."""
