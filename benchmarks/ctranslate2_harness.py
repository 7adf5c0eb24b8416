"""attendo for a harness that compares a translator with CTranslate2 on weights that the harness itself has drawn.

    python HARNESS run --inter 2 --threads 2 --py benchmarks.ctranslate2_harness:int8    (or :float32)

run in this folder's parent. The harness calls `int8(path, threads)` once, which gives a function of source ids, without
`</s>`, beam size, batch size and the number of target tokens that each translation is forced to have.

The weights are an .npz of float32 arrays, matrices `(out, in)`: `embed` for source, target and output; `pos`, the table
of positions; `{enc,dec}.I.{self,cross}.{q,k,v,o}.{w,b}`, `{enc,dec}.I.{fc1,fc2}.{w,b}` and
`{enc,dec}.I.norm{1,2,3}.{w,b}`; `meta`: layers, heads and the ids of `<s>`, `</s>` and `<unk>`. The decoder starts with
`<s>`.
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from attendo.bench.systems import best, id_search
from attendo.bench.work import Work
from attendo.decoding.backends.models import decoding_model
from attendo.decoding.backends.native_model import Dtype
from attendo.model.config import ModelConfig
from attendo.model.positions import sinusoids
from attendo.model.transformer import Transformer
from attendo.text.subwords.tokenization import EOS_ID

Arrays = Mapping[str, npt.NDArray[np.float32]]
Translate = Callable[[list[list[int]], int, int, int], list[list[int]]]


def float32(path: str, threads: int) -> Translate:
    """A translator in float32."""
    return translator(path, threads, "float32")


def int8(path: str, threads: int) -> Translate:
    """A translator in int8."""
    return translator(path, threads, "int8")


def translator(path: str, threads: int, dtype: Dtype) -> Translate:
    """Loads the harness's weights and gives what it calls."""
    with np.load(path) as arrays:
        model = read_model({name: arrays[name] for name in arrays.files})
    decoding = decoding_model(model, dtype=dtype, device=torch.device("cpu"))

    def translate(sources: list[list[int]], beam: int, batch: int, length: int) -> list[list[int]]:
        work = Work(
            model=model,
            sources=tuple((*source, EOS_ID) for source in sources),
            length=length,
            length_penalty=0.0,
            max_len_offset=0,
            description="the harness's own",
        )
        search = id_search(decoding, work, beam=beam, batch=batch, threads=threads)
        return [list(best(found, length)) for found in search.search(work.sources, work.rules(work.sources))]

    return translate


def read_model(arrays: Arrays) -> Transformer:
    """The harness's weights as one of our models."""
    num_layers, num_heads, start, end = (int(number) for number in arrays["meta"][:4])
    vocab_size, d_model = arrays["embed"].shape
    assert end == EOS_ID, f"</s> is {end} here, but {EOS_ID} in attendo"
    table = sinusoids(len(arrays["pos"]), d_model, "interleaved").numpy()
    assert np.abs(table - arrays["pos"]).max() < 1e-5, "the positions are not the paper's sinusoids"
    config = ModelConfig(
        d_model=d_model,
        d_ff=len(arrays["enc.0.fc1.b"]),
        num_layers=num_layers,
        num_heads=num_heads,
        attention_bias=True,
        start=start,
    )
    model = Transformer(config, vocab_size, vocab_size)
    shared = torch.from_numpy(arrays["embed"])
    weights = {"source_embedding.weight": shared, "target_embedding.weight": shared, "output_weight": shared}
    for stack, name in (("enc", "encoder_layers"), ("dec", "decoder_layers")):
        for number in range(num_layers):
            layer = layer_weights(arrays, f"{stack}.{number}", across=stack == "dec")
            weights |= {f"{name}.{number}.{key}": value for key, value in layer.items()}
    model.load_state_dict(weights)
    return model.eval()


def layer_weights(arrays: Arrays, layer: str, *, across: bool) -> dict[str, Tensor]:
    """A layer's tensors by our names within it; `across`: it has encoder-decoder attention."""
    norms = ["self_attention_norm", "encoder_attention_norm", "feed_forward_norm"]
    names = {
        "self_attention.query_key_value": ["self.q", "self.k", "self.v"],
        "self_attention.output": ["self.o"],
        "feed_forward.inner": ["fc1"],
        "feed_forward.outer": ["fc2"],
    }
    if across:
        names |= {
            "encoder_attention.query": ["cross.q"],
            "encoder_attention.key_value": ["cross.k", "cross.v"],
            "encoder_attention.output": ["cross.o"],
        }
    else:
        del norms[1]
    names |= {f"{norm}.norm": [f"norm{number}"] for number, norm in enumerate(norms, start=1)}
    return {
        f"{ours}.{part}": torch.from_numpy(np.concatenate([arrays[f"{layer}.{name}.{part[0]}"] for name in theirs]))
        for ours, theirs in names.items()
        for part in ("weight", "bias")
    }
