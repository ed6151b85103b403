"""Writes invalid language models: variants of a model of families.py.

usage: errors.py FOLDER
"""

import json
import pathlib
import sys

import families
import gguf
import numpy as np


def main():
    folder = pathlib.Path(sys.argv[1])

    def write(name, change=lambda o, w: None):
        o, weights = families.make("llama")
        change(o, weights)
        families.write_gguf(folder / f"{name}.gguf", o, weights)

    write("valid")
    write("mamba", lambda o, w: o.update(arch="mamba"))
    write("missing", lambda o, w: w.pop("blk.1.ffn_up.weight"))
    write("shape", lambda o, w: w.update({"blk.2.ffn_up.weight": w["blk.2.ffn_up.weight"][:-1]}))
    write("extra", lambda o, w: w.update({"blk.0.attn_q.scale": w["output_norm.weight"][:1]}))
    write("nan", lambda o, w: w["output_norm.weight"].fill(np.nan))
    write("odd", lambda o, w: o.update(head_size=15))

    # Metadata that no model of these families has.
    for name, add in {
        "experts": lambda writer: writer.add_expert_count(4),
        "bidirectional": lambda writer: writer.add_bool("llama.attention.causal", False),
        "heads": lambda writer: writer.add_head_count([4, 4, 2, 4]),
        "layers": lambda writer: writer.add_block_count(1 << 30),
    }.items():
        writer = gguf.GGUFWriter(folder / f"{name}.gguf", "llama")
        writer.add_context_length(families.CONTEXT)
        if name != "layers":
            writer.add_block_count(families.LAYERS)
        writer.add_embedding_length(families.WIDTH)
        writer.add_feed_forward_length(families.HIDDEN)
        add(writer)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    for name, config in {
        "bert": dict(model_type="bert"),
        "relu": dict(model_type="llama", hidden_act="relu", max_position_embeddings=64),
        "encoder": dict(
            model_type="gemma3_text", use_bidirectional_attention=True, max_position_embeddings=64
        ),
    }.items():
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps(config))
        (folder / name / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")


main()
