"""Small experiments on the feed-forward network, as plain functions: what `ffncalc lab` runs and draws."""
