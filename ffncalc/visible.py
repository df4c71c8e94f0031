"""Text from files and command lines, made safe to print."""


def visible(text: str) -> str:
    r"""The text on one line, whatever can't be seen or would drive a terminal spelled out (an escape is \x1b)."""
    return text if text.isprintable() else "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
