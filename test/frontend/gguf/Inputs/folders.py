"""Writes the models of families.py as Hugging Face folders: config.json and .safetensors.

usage: folders.py FOLDER
"""

import json
import pathlib
import sys

import families
import numpy as np

NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_qkv": "self_attn.qkv_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
GEMMA = {
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
# Members of MODELS that are options of decoder.py.
OPTIONS = ("window", "period", "windowed", "scalar", "caps", "base", "local_base")
# Value of a member that config.json does not contain.
MISSING = ()
SLIDING, FULL = "sliding_attention", "full_attention"
# Per folder: the model of families.py, and members of config.json. All windows and divisors of the model must be here again.
MODELS = {
    "llama": ("llama", {}),
    "llama3": (
        "llama",
        dict(
            rope_scaling=dict(
                rope_type="llama3",
                factor=4.0,
                low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_max_position_embeddings=16,
            )
        ),
    ),
    "linear": ("llama-linear", dict(rope_scaling=dict(type="linear", factor=4.0))),
    "yarn": (
        "llama-yarn",
        dict(
            rope_parameters=dict(
                rope_type="yarn",
                rope_theta=10000.0,
                factor=4.0,
                original_max_position_embeddings=16,
            )
        ),
    ),
    "mistral-defaults": ("mistral", dict(model_type="mistral")),
    "mistral-null": ("mistral", dict(model_type="mistral", sliding_window=None)),
    "mistral": ("mistral", dict(model_type="mistral", sliding_window=6, window=6, period=0)),
    "qwen2": ("qwen2", dict(use_sliding_window=False, sliding_window=4, max_window_layers=2)),
    "qwen3": ("qwen3", dict(sliding_window=4)),
    "gemma2": (
        "gemma2",
        dict(
            sliding_window=5,
            hidden_activation="gelu_pytorch_tanh",
            query_pre_attn_scalar=16,
            attn_logit_softcapping=5.0,
            final_logit_softcapping=3.0,
        ),
    ),
    "gemma2-defaults": ("gemma2", dict(sliding_window=5, scalar=256, caps=(50.0, 30.0))),
    "gemma2-uncapped": (
        "gemma2",
        dict(
            sliding_window=5,
            query_pre_attn_scalar=16,
            attn_logit_softcapping=None,
            final_logit_softcapping=None,
            caps=None,
        ),
    ),
    "gemma3-defaults": (
        "gemma3",
        dict(
            model_type="gemma3_text",
            sliding_window=5,
            sliding_window_pattern=2,
            rope_theta=MISSING,
            scalar=256,
            base=1e6,
            local_base=10000.0,
        ),
    ),
    "gemma3": (
        "gemma3",
        dict(
            model_type="gemma3_text",
            sliding_window=5,
            layer_types=[SLIDING, FULL, SLIDING, FULL],
            hidden_activation="gelu_pytorch_tanh",
            query_pre_attn_scalar=16,
            rope_local_base_freq=500.0,
        ),
    ),
    "gemma3-current": (
        "gemma3",
        dict(
            model_type="gemma3_text",
            sliding_window=5,
            layer_types=[SLIDING, FULL, SLIDING, FULL],
            query_pre_attn_scalar=16,
            rope_parameters={
                SLIDING: dict(rope_type="default", rope_theta=500.0),
                FULL: dict(rope_type="default", rope_theta=10000.0),
            },
        ),
    ),
    "llama-window": ("llama", dict(sliding_window=4)),
    "qwen2-window": ("qwen2", dict(use_sliding_window=True, sliding_window=4)),
    "qwen3-window": (
        "qwen3",
        dict(
            use_sliding_window=True,
            sliding_window=4,
            max_window_layers=2,
            window=4,
            windowed=[2, 3],
        ),
    ),
    "smollm3-defaults": ("smollm3", dict(rope_theta=MISSING, base=2e6)),
    "smollm3-window": (
        "smollm3",
        dict(use_sliding_window=True, sliding_window=4, window=4, windowed=[3]),
    ),
    "phi3": ("phi3", {}),
    "smollm3": ("smollm3", dict(no_rope_layers=[1, 1, 1, 0])),
}


def llama3_divisors(size, s):
    """The divisors of Llama 3's scaling, as the converter of llama.cpp computes them."""
    out = []
    for f in 10000.0 ** (-2 * np.arange(size // 2) / size):
        wave, old = 2 * np.pi / f, s["original_max_position_embeddings"]
        if wave < old / s["high_freq_factor"]:
            out.append(1.0)
        elif wave > old / s["low_freq_factor"]:
            out.append(s["factor"])
        else:
            smooth = (old / wave - s["low_freq_factor"]) / (
                s["high_freq_factor"] - s["low_freq_factor"]
            )
            out.append(1 / ((1 - smooth) / s["factor"] + smooth))
    return np.array(out)


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, (kind, array) in tensors.items():
        header[name] = dict(
            dtype=kind, shape=array.shape, data_offsets=[len(data), len(data) + array.nbytes]
        )
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def write(folder, name, model, members):
    o, weights = families.make(model)
    o["neighbours"] = False
    members = dict(members)
    o.update({k: members.pop(k) for k in OPTIONS if k in members})
    if name == "llama3":
        o["factors"] = True
        divisors = llama3_divisors(o["head_size"], members["rope_scaling"])
    config = dict(
        model_type=o["arch"],
        num_hidden_layers=families.LAYERS,
        max_position_embeddings=families.CONTEXT,
        hidden_size=families.WIDTH,
        intermediate_size=families.HIDDEN,
        num_attention_heads=families.HEADS,
        num_key_value_heads=families.KV,
        head_dim=o["head_size"],
        rms_norm_eps=1e-5,
        rope_theta=10000.0,
        tie_word_embeddings="output.weight" not in weights,
    )
    config.update(members)
    config = {k: v for k, v in config.items() if v is not MISSING}
    names, tensors, stored = dict(NAMES, **(GEMMA if o.get("post") else {})), {}, {}
    if o.get("fused"):
        names["ffn_up"] = "mlp.gate_up_proj"
    for key, value in weights.items():
        stem, end = key.rsplit(".", 1)
        prefix = ""
        if stem.startswith("blk."):
            _, layer, stem = stem.split(".")
            prefix = f"model.layers.{layer}."
        stored[key] = value
        added = np.float32(1 if o.get("post") and value.ndim == 1 and end == "weight" else 0)
        kind, array = "F32", value - added
        if value.ndim == 2 and name == "llama":
            kind, array = "F16", value.astype(np.float16)
            stored[key] = array.astype(np.float32)
        elif value.ndim == 2 and name == "qwen2":
            kind, array = "BF16", (value.view(np.uint32) >> 16).astype(np.uint16)
            stored[key] = (array.astype(np.uint32) << 16).view(np.float32)
        elif added:
            stored[key] = array + added
        tensors[prefix + names[stem] + "." + end] = (kind, array)
    if name == "llama3":
        stored["rope_freqs.weight"] = divisors
    path = folder / name
    path.mkdir()
    (path / "config.json").write_text(json.dumps(config))
    first = dict(list(tensors.items())[: len(tensors) // 2])
    rest = {k: v for k, v in tensors.items() if k not in first}
    if name == "phi3":  # a folder with two files
        write_safetensors(path / "model-1.safetensors", first)
        write_safetensors(path / "model-2.safetensors", rest)
        index = {k: "model-1.safetensors" for k in first} | {k: "model-2.safetensors" for k in rest}
        (path / "model.safetensors.index.json").write_text(json.dumps(dict(weight_map=index)))
    else:
        write_safetensors(path / "model.safetensors", tensors)
    np.savez(folder / f"{name}.npz", **stored)
    (folder / f"{name}.json").write_text(json.dumps(o))


def main():
    for name, (model, members) in MODELS.items():
        write(pathlib.Path(sys.argv[1]), name, model, members)


main()
