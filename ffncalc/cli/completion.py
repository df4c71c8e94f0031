"""Shell completion, answered without Typer, whose import takes six times a bare Python start.

The names come from the table of commands, from the folder of configs, and from the declarations in a command's source.
A shell's script calls `ffncalc` with FFNCALC_COMPLETE set and, as arguments, the words up to the cursor; the answer is
one candidate a line. No candidate means that the shell completes file names.
"""

import os
import re

from ffncalc.cli.commands import command_of, module_of, under

BASH = r"""# bash completion of ffncalc: put  eval "$(ffncalc completion bash)"  into ~/.bashrc
_ffncalc() {
    local IFS=$'\n'
    COMPREPLY=($(FFNCALC_COMPLETE=bash "$1" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _ffncalc ffncalc
"""
ZSH = r"""#compdef ffncalc
# zsh completion of ffncalc: put  eval "$(ffncalc completion zsh)"  into ~/.zshrc, after compinit
_ffncalc() {
    local -a found
    found=("${(@f)$(FFNCALC_COMPLETE=zsh "${words[1]}" "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -a found; else _files; fi
}
if [[ "${funcstack[1]}" = _ffncalc ]]; then _ffncalc "$@"; else compdef _ffncalc ffncalc; fi
"""
FISH = r"""# fish completion of ffncalc: ffncalc completion fish > ~/.config/fish/completions/ffncalc.fish
function __ffncalc
    set -l words (commandline -opc)
    FFNCALC_COMPLETE=fish $words[1] $words[2..-1] (commandline -ct | string collect --allow-empty) 2>/dev/null
end
complete -c ffncalc -a '(__ffncalc)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}

DECLARED = re.compile(r'typer\.(Option|Argument)\(\s*(?:"(-[^"]+)"(?:,\s*|\s*\)))?(?:metavar="([^"]*)")?')


def candidates(words: list[str]) -> list[str]:
    """What the last word may become, given those before it."""
    before, current = words[:-1], words[-1] if words else ""
    return [word for word in possible(before, current) if word.startswith(current)]


def possible(before: list[str], current: str) -> list[str]:
    """Every word that may stand after those before it."""
    words = [word for word in before if not word.startswith("-")]
    group = " ".join(words)
    if not words or under(group):
        return ["--help", *([] if words else ["--version"])] if current.startswith("-") else under(group)
    options, positional = declared(command_of(words))
    if before[-1] in options and options[before[-1]]:
        return choices(options[before[-1]])
    return [*options, "--help"] if current.startswith("-") else choices(positional)


def choices(metavar: str) -> list[str]:
    """The words that a metavar stands for; none where it stands for a number, a file or free text."""
    if metavar in ("MODEL", "MODEL|VARIANT", "OLD", "NEW"):
        from ffncalc import bundled

        return bundled.names()
    if metavar == "FAMILY":
        from ffncalc import families

        return families.names()
    return metavar.split("|") if "|" in metavar else []


def declared(command: str) -> tuple[dict[str, str], str]:
    """A command's options, each with its metavar ("" for a flag), and the metavar of its first argument."""
    options: dict[str, str] = {}
    positional = ""
    for kind, names, metavar in declarations(command):
        if kind == "Argument":
            positional = positional or metavar
        else:
            options |= dict.fromkeys(names.split("/"), metavar)
    return options, positional


def declarations(command: str) -> list[tuple[str, str, str]]:
    """Kind, names and metavar of each parameter, as a command's source and the shared declarations it uses say them."""
    own, shared = source(module_of(command)), source("options")
    used = [text for text in re.split(r"\n(?=\w+ = )", shared) if re.search(rf": {text.split(' ', 1)[0]}\b", own)]
    return [found for text in (own, *used) for found in DECLARED.findall(text)]


def source(module: str) -> str:
    """The source of a module of the command line; empty where only compiled files were installed."""
    try:
        with open(f"{os.path.dirname(__file__)}/{module}.py", encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""
