"""Writes small language models with random weights: one GGUF file per family and variant, and Hugging Face folders.

usage: families.py FOLDER [--formats]

Each model is a dictionary of weights in the layout of GGUF files and a configuration. decoder.py computes its logits.
"""

import json
import pathlib
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Q

WIDTH, HIDDEN, LAYERS, HEADS, KV, VOCABULARY, CONTEXT = 64, 96, 4, 4, 2, 96, 64
# A model without value_length. llama.cpp requires heads of keys and of values of the same size for llama.
VALUES = dict(neighbours=True, head_size=32, value_size=WIDTH // HEADS)
BLOCKS = "F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 MXFP4".split()
# Per family: what decoder.py needs to know.
FAMILIES = {
    "llama": dict(neighbours=True),
    "llama-factors": dict(neighbours=True, factors=True, own_output=True, biases=True),
    "llama-linear": dict(neighbours=True, scaling=("linear", 4.0)),
    "llama-yarn": dict(neighbours=True, scaling=("yarn", 4.0)),
    "mistral": dict(neighbours=True, own_output=True, head_size=32),
    "qwen2": dict(biases=True),
    "qwen3": dict(qk_norms=True, head_size=24),
    "gemma2": dict(gelu=True, post=True, scaled=True, window=5, period=2, caps=(5.0, 3.0)),
    "gemma3": dict(
        gelu=True, post=True, scaled=True, window=5, period=2, qk_norms=True, local=True
    ),
    "phi3": dict(fused=True, own_output=True),
    "phi3-long": dict(fused=True, own_output=True, long=True),
    "smollm3": dict(neighbours=True, no_rope=4),
}


def make(name, seed=3):
    """Returns the options and the f32 weights of a model."""
    o = dict(
        FAMILIES.get(name, VALUES), name=name, arch=name.split("-")[0].replace("mistral", "llama")
    )
    o.setdefault("head_size", WIDTH // HEADS)
    generator = np.random.default_rng(seed)

    def normal(*shape, scale=None):
        scale = scale or 2 / np.sqrt(shape[-1])
        return (generator.standard_normal(shape) * scale).astype(np.float32)

    def norm(size):
        return (1 + 0.2 * generator.standard_normal(size)).astype(np.float32)

    size, w = o["head_size"], {}
    w["token_embd.weight"] = normal(VOCABULARY, WIDTH, scale=1 / 8 if o.get("scaled") else 1)
    w["output_norm.weight"] = norm(WIDTH)
    if o.get("own_output"):
        w["output.weight"] = normal(VOCABULARY, WIDTH)
    if o.get("factors"):
        w["rope_freqs.weight"] = (1 + np.arange(size // 2) % 3).astype(np.float32)
    if o.get("long"):
        for kind in ("short", "long"):
            w[f"rope_factors_{kind}.weight"] = (1 + generator.random(size // 2)).astype(np.float32)
    q, kv, values = HEADS * size, KV * size, o.get("value_size", size)
    for layer in range(LAYERS):
        p = f"blk.{layer}."
        w[p + "attn_norm.weight"], w[p + "ffn_norm.weight"] = norm(WIDTH), norm(WIDTH)
        if o.get("fused"):
            w[p + "attn_qkv.weight"] = normal(q + 2 * kv, WIDTH)
            w[p + "ffn_up.weight"] = normal(2 * HIDDEN, WIDTH)
        else:
            for key, rows in (("q", q), ("k", kv), ("v", KV * values)):
                w[p + f"attn_{key}.weight"] = normal(rows, WIDTH)
                if o.get("biases"):
                    w[p + f"attn_{key}.bias"] = normal(rows, scale=0.5)
            w[p + "ffn_gate.weight"], w[p + "ffn_up.weight"] = (
                normal(HIDDEN, WIDTH),
                normal(HIDDEN, WIDTH),
            )
        w[p + "attn_output.weight"] = normal(WIDTH, HEADS * values)
        w[p + "ffn_down.weight"] = normal(WIDTH, HIDDEN)
        if o.get("qk_norms"):
            w[p + "attn_q_norm.weight"], w[p + "attn_k_norm.weight"] = norm(size), norm(size)
        if o.get("post"):
            w[p + "post_attention_norm.weight"], w[p + "post_ffw_norm.weight"] = (
                norm(WIDTH),
                norm(WIDTH),
            )
    return o, w


def add_scaling(writer, o):
    if "scaling" in o:
        kind, factor = o["scaling"]
        writer.add_rope_scaling_type(gguf.RopeScalingType(kind))
        writer.add_rope_scaling_factor(factor)
        writer.add_rope_scaling_orig_ctx_len(int(CONTEXT / factor))
    if o.get("long"):
        writer.add_rope_scaling_type(gguf.RopeScalingType.LONGROPE)
        writer.add_rope_scaling_orig_ctx_len(CONTEXT // 2)
        writer.add_rope_scaling_attn_factors(1.1)


def write_gguf(path, o, weights, kind="F32"):
    """Writes the model and returns its weights as stored: matrices are quantized to `kind`."""
    writer = gguf.GGUFWriter(path, o["arch"])
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV)
    writer.add_key_length(o["head_size"])
    if "value_size" not in o:
        writer.add_value_length(o["head_size"])
    writer.add_rope_dimension_count(o["head_size"])
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("none")
    if "window" in o:
        writer.add_sliding_window(o["window"])
        writer.add_uint32(f"{o['arch']}.attention.sliding_window_pattern", o["period"])
    if o.get("local"):
        writer.add_float32(f"{o['arch']}.rope.freq_base_swa", 500.0)
    if "caps" in o:
        writer.add_attn_logit_softcapping(o["caps"][0])
        writer.add_final_logit_softcapping(o["caps"][1])
    add_scaling(writer, o)
    stored = {}
    for name, value in weights.items():
        stored[name] = value
        if value.ndim == 2 and kind != "F32":
            blocks = gguf.quants.quantize(value, Q[kind])
            stored[name] = gguf.quants.dequantize(blocks, Q[kind])
            writer.add_tensor(name, blocks, raw_dtype=Q[kind])
        else:
            writer.add_tensor(name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return stored


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in [*FAMILIES, *(["llama-values"] if "--formats" in sys.argv else [])]:
        o, weights = make(name)
        stored = write_gguf(folder / f"{name}.gguf", o, weights)
        np.savez(folder / f"{name}.npz", **stored)
        (folder / f"{name}.json").write_text(json.dumps(o))
    for kind in BLOCKS if "--formats" in sys.argv else ():
        o, weights = make("llama")
        stored = write_gguf(folder / f"llama-{kind}.gguf", o, weights, kind)
        np.savez(folder / f"llama-{kind}.npz", **stored)
        (folder / f"llama-{kind}.json").write_text(json.dumps(o))


if __name__ == "__main__":
    main()
