"""MODEL -> the model as operations: read the file, find its family's row, resolve it, write it out."""

from __future__ import annotations

from typing import Any

from ffncalc import config as configs
from ffncalc import families
from ffncalc.families.row import Row
from ffncalc.model import Model, expand
from ffncalc.nested import text_part
from ffncalc.recurrent import refuse
from ffncalc.resolve import head_of_class, resolve
from ffncalc.view import Options


def load(
    model: str | dict[str, Any] | configs.Config,
    head: str | None = None,
    n_vocab: int | None = None,
    tied: bool | None = None,
) -> Model:
    """The model that `model` names: a bundled name, a path (a file or a folder), `-` for standard input, a dict,
    or a config that was read.

    `head` is causal, mlm, seq2seq, pooler or none (default: what the config names, else the family's language-model
    head); `n_vocab` and `tied` go over what the config says. Raises InputError.
    """
    return build(configs.read(model), Options(head, n_vocab, tied))


def build(config: configs.Config, options: Options) -> Model:
    """The model of a config that was read."""
    if config.kind == "hf" and config.values.get("model_type") == "encoder-decoder":  # two configs in one file
        from ffncalc.composite import encoder_decoder

        return encoder_decoder(config, options, build)
    config, options, notes = text_part(config, options)
    refuse(config)
    row = row_of(config, options)
    spec = resolve(config, row, options)
    return expand(spec._replace(warnings=(*notes, *spec.warnings)), row.heads.get(spec.head))


def row_of(config: configs.Config, options: Options) -> Row:
    """The row that reads a config; with another head it may be another one."""
    if config.kind == "meta":
        return families.find("meta-llama", config.file, "params.json")
    key = "family" if config.kind == "own" else "model_type"
    row = families.find(config.values[key], config.at(key), key)
    wanted = options.head or head_of_class(config.values.get("architectures"), {**row.heads, **row.by_head})
    return row.by_head.get(wanted or "", row)
