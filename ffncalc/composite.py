"""An encoder and a decoder of any two families put together: files of the type `encoder-decoder`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ffncalc.config import Config
from ffncalc.errors import InputError
from ffncalc.expr import Expr
from ffncalc.model import LayerOps, Model
from ffncalc.ops import SOURCE, TOKEN, Op, linear
from ffncalc.view import Options

Build = Callable[[Config, Options], Model]


def encoder_decoder(config: Config, options: Options, build: Build) -> Model:
    """Both models: the encoder without a language-model head, the decoder with cross-attention and the causal head.

    Where their widths differ a matrix leads from the one to the other. Raises InputError where a config is missing.
    """
    encoder = build(_part(config, "encoder", "Model", {}), Options())
    decoding = {"is_decoder": True, "add_cross_attention": True}
    head = None if options.head == "seq2seq" else options.head
    decoder = build(_part(config, "decoder", "ForCausalLM", decoding), options._replace(head=head))
    own = (*_stacks(encoder, "encoder"), *_stacks(decoder, "decoder"))
    spec = decoder.spec._replace(
        name=config.name,
        family="encoder-decoder",
        source=f"transformers EncoderDecoderModel of {encoder.spec.family} and {decoder.spec.family}",
        stacks=(
            *(stack._replace(name="encoder", is_source=True) for stack in encoder.spec.stacks),
            *(stack._replace(name="decoder") for stack in decoder.spec.stacks),
        ),
        flops=encoder.spec.flops or decoder.spec.flops,
        warnings=(*encoder.spec.warnings, *decoder.spec.warnings),
    )
    return Model(spec, own, (*_on_source(encoder.outer), *_bridge(config, encoder, decoder), *decoder.outer))


def _part(config: Config, name: str, ending: str, more: dict[str, Any]) -> Config:
    inner = config.values.get(name) or {"model_type": "bert"}  # what the class takes for either
    if not isinstance(inner, dict) or not isinstance(inner.get("model_type"), str):
        raise InputError(
            f"{config.at(name)}: {name} is no config with a model_type; an encoder-decoder holds those of both"
        )
    values = {**inner, **more, "architectures": [ending]}
    return config._replace(values=values, places=config.places_in(name), name=f"{config.name}.{name}")


def _stacks(model: Model, name: str) -> Iterator[LayerOps]:
    return (kind._replace(stack=name, is_source=name == "encoder") for kind in model.layers)


def _on_source(ops: tuple[Op, ...]) -> Iterator[Op]:
    """The encoder's tables, norms and poolers, on the source rows."""
    return (op._replace(name=f"encoder.{op.name}", rows=SOURCE if op.rows == TOKEN else op.rows) for op in ops)


def _bridge(config: Config, encoder: Model, decoder: Model) -> Iterator[Op]:
    wide, narrow = encoder.spec.d_model, decoder.spec.d_model
    stated = (config.values.get("decoder") or {}).get("cross_attention_hidden_size")
    if _differ(wide, narrow) and stated is None:
        yield linear("other", "enc_to_dec_proj", wide, narrow, bias=True, rows=SOURCE)


def _differ(a: Expr, b: Expr) -> bool:
    return a.value != b.value
