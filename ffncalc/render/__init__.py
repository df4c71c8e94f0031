"""What a person reads: tables of numbers, on a terminal, in a pipe, as Markdown or CSV."""
