"""Writes GGUF files with the package gguf, and compares what dlc reads with the package's values, bit for bit.

usage: gguf_files.py DUMP-PROGRAM FOLDER
"""

import pathlib
import subprocess
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Q

QUANTIZED = "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS MXFP4".split()
ROWS, BLOCKS = 7, 5


def random_blocks(generator, kind):
    """Random bytes. All bit patterns are valid blocks; scales that are infinite or NaN are left out."""
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    while True:
        rows = generator.integers(0, 256, (ROWS, BLOCKS * size), dtype=np.uint8)
        with np.errstate(invalid="ignore", over="ignore"):
            for block in range(ROWS * BLOCKS):
                flat = rows.reshape(-1, size)
                while not np.isfinite(gguf.quants.dequantize(flat[block : block + 1], kind)).all():
                    flat[block] = generator.integers(0, 256, size, dtype=np.uint8)
        return rows


def tensors():
    generator = np.random.default_rng(5)
    x = generator.standard_normal((ROWS, BLOCKS * 32)).astype(np.float32)
    yield "F32", x, Q.F32, x
    yield "F16", x.astype(np.float16), Q.F16, x.astype(np.float16).astype(np.float32)
    bf16 = gguf.quants.quantize(x, Q.BF16)
    yield "BF16", bf16, Q.BF16, gguf.quants.dequantize(bf16, Q.BF16)
    for name in QUANTIZED:
        blocks = random_blocks(generator, Q[name])
        yield name, blocks, Q[name], gguf.quants.dequantize(blocks, Q[name])
    for name in ("Q4_0", "Q8_0", "Q5_1", "MXFP4"):
        blocks = gguf.quants.quantize(x, Q[name])
        yield "of_" + name, blocks, Q[name], gguf.quants.dequantize(blocks, Q[name])


def write(path, every, split=0):
    writer = gguf.GGUFWriter(
        path, "llama", split_max_tensors=split, use_temp_file=False, small_first_shard=False
    )
    writer.add_block_count(3)
    writer.add_array("lists.names", ["a", "ü", ""])
    writer.add_array("lists.numbers", [1.5, -2.5])
    for name, data, kind, _ in every:
        writer.add_tensor(name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def check(dump, path, folder, every):
    folder.mkdir()
    text = subprocess.run([dump, path, folder], check=True, capture_output=True, text=True).stdout
    assert "general.architecture: 'llama'\n" in text, text
    assert "llama.block_count: 3\n" in text, text
    assert "lists.names:[3] 'a' 'ü' ''\n" in text, text
    assert "lists.numbers:[2] 1.5 -2.5\n" in text, text
    for name, _, _, expected in every:
        found = np.load(folder / (name + ".npy"))
        assert found.shape == expected.shape and found.dtype == np.float32, (name, found.shape)
        differ = (found.view(np.uint32) != expected.view(np.uint32)).sum()
        assert differ == 0, f"{name}: {differ} of {found.size} elements differ"
    assert len(list(folder.iterdir())) == len(every)


def main():
    dump, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    every = list(tensors())
    write(folder / "whole.gguf", every)
    check(dump, folder / "whole.gguf", folder / "whole", every)
    write(folder / "parts.gguf", every, split=6)
    parts = sorted(folder.glob("parts-*.gguf"))
    assert len(parts) == -(-len(every) // 6), parts
    check(dump, parts[0], folder / "parts", every)
    print(f"{len(every)} tensors equal, {len(parts)} parts")


main()
