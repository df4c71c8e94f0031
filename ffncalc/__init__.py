"""ffncalc: what a Transformer costs, exactly, from its config alone.

    >>> from ffncalc import flops, load, params
    >>> model = load("llama-7b")
    >>> params(model).total.value
    6738415616
    >>> flops(model).crossover_seq_len
    8320.0

Importing the package imports none of its modules; each name is fetched when it is first used.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # typing is not imported: `ffncalc --version` would cost a third more

if TYPE_CHECKING:
    from ffncalc.api import flops as flops
    from ffncalc.api import load as load
    from ffncalc.api import params as params
    from ffncalc.errors import CheckFailed as CheckFailed
    from ffncalc.errors import FfncalcError as FfncalcError
    from ffncalc.errors import InputError as InputError
    from ffncalc.hidden import llama_hidden_dim as llama_hidden_dim
    from ffncalc.numeric import ffn as ffn
    from ffncalc.numeric import ffn_memories as ffn_memories
    from ffncalc.numeric import gelu as gelu
    from ffncalc.numeric import gelu_sigmoid as gelu_sigmoid
    from ffncalc.numeric import gelu_tanh as gelu_tanh
    from ffncalc.numeric import glu_ffn as glu_ffn
    from ffncalc.numeric import relu as relu
    from ffncalc.numeric import relu_squared as relu_squared
    from ffncalc.numeric import silu as silu
    from ffncalc.numeric import swiglu_backward as swiglu_backward
    from ffncalc.numeric import swiglu_ffn as swiglu_ffn
    from ffncalc.numeric import swish as swish
    from ffncalc.report.hidden import ffn_param_count as ffn_param_count
    from ffncalc.search.budget import size as size
    from ffncalc.search.table import sweep as sweep

_HOMES = {
    "load": "api",
    "params": "api",
    "flops": "api",
    "llama_hidden_dim": "hidden",
    "ffn_param_count": "report.hidden",
    "ffn": "numeric",
    "ffn_memories": "numeric",
    "gelu": "numeric",
    "gelu_sigmoid": "numeric",
    "gelu_tanh": "numeric",
    "glu_ffn": "numeric",
    "relu": "numeric",
    "relu_squared": "numeric",
    "silu": "numeric",
    "swiglu_backward": "numeric",
    "swiglu_ffn": "numeric",
    "swish": "numeric",
    "size": "search.budget",
    "sweep": "search.table",
    "FfncalcError": "errors",
    "InputError": "errors",
    "CheckFailed": "errors",
}
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'ffncalc' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"ffncalc.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
