"""Checks of error messages, and the models, arrays and programs that the cases of test_mistakes.py use."""

import os
import re
import subprocess

import models
import numpy as np

#: Terms of docs/vocabulary.md that only dlc uses: a user who has not read the page cannot act on them.
PRIVATE = [
    "arena",
    "bound value",
    "bucket",
    "candidate",
    "contraction",
    "eager share",
    "fusion",
    "grain",
    "index map",
    "lane",
    "lane kernels",
    "launch",
    "nest",
    "panel",
    "prologue",
    "provider",
    "refused",
    "reorder",
    "schedule",
    "specialization",
    "streamed weights",
    "tiles",
]
#: Names of libraries, C++ types, addresses and temporary files, which a message must not have in its first line. The wheel test installs dlc in /tmp/dlc-wheel-*.
INTERNAL = r"mlir::|llvm::|std::|google::|protobuf|ModelProto|\bbasic_string\b|0x[0-9a-f]{4,}|:0:0\b|<unknown>|Assertion|/tmp/dlc-(?!wheel)"


def matches(expected, found):
    """Returns whether a text is the expected one, in which `...` stands for any text."""
    return re.fullmatch(".*".join(map(re.escape, expected.split("..."))), found, re.S) is not None


def check(expected, found):
    """Checks a message: its whole text, and words that a user cannot know."""
    assert matches(expected, found), f"required:\n{expected}\nfound:\n{found}"
    words = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", "''", found).lower()
    private = [word for word in PRIVATE if re.search(rf"\b{word}s?\b", words)]
    assert not private, f"a word that only dlc uses, {private}, in: {found}"
    assert not re.search(INTERNAL, found.splitlines()[0]), (
        f"a name of the implementation in: {found}"
    )


def network(weight, width):
    """y = x @ weight, of any number of rows."""
    return models.made(
        [("MatMul", ["x", weight], ["y"], {})],
        {"x": (models.F32, ["batch", 3])},
        {"y": (models.F32, ["batch", width])},
        {weight: np.linspace(-1, 1, 3 * width, dtype="float32").reshape(3, width)},
    )


def unsupported():
    return models.made(
        [("Frobnicate", ["x"], ["y"], {})], {"x": (models.F32, [2, 3])}, {"y": (models.F32, [2, 3])}
    )


def unequal():
    """A matmul of matrices whose inner sizes differ."""
    return models.made(
        [("MatMul", ["x", "w"], ["y"], {})],
        {"x": (models.F32, [2, 3])},
        {"y": (models.F32, [2, 5])},
        {"w": np.ones((4, 5), "float32")},
    )


MLIR = """func.func @main(%x: tensor<2x3xf32{x}>, %y: tensor<2x3xf32{y}>) -> tensor<2x3xf32{x}> {{
  %sum = dlc.{op} %x, %y : (tensor<2x3xf32{x}>, tensor<2x3xf32{y}{end}) -> tensor<2x3xf32{x}>
  return %sum : tensor<2x3xf32{x}>
}}
"""


def write(folder, tool):
    """Writes the files that the commands of the cases read. `tool` is the path of dlc."""
    for name in ("folder", "cache"):
        os.mkdir(folder / name)
    two = models.two()
    for name, data in {
        "two.onnx": two,
        "batch.onnx": models.open_batch(),
        "network.onnx": network("w", 5),
        "cut.onnx": two[:60],
        "picture.onnx": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "model.pt": b"PK\3\4",
        "unsupported.onnx": unsupported(),
        "unequal.onnx": unequal(),
        "syntax.mlir": MLIR.format(op="add", x="", y="", end="").encode(),
        "unknown.mlir": MLIR.format(op="addition", x="", y="", end=">").encode(),
        "devices.mlir": MLIR.format(
            op="add", x=", #dlc.on<cpu>", y=", #dlc.on<cpu:1>", end=">"
        ).encode(),
        "notes.npy": b"1 2 3\n4 5 6\n",
    }.items():
        (folder / name).write_bytes(data)
    np.save(folder / "f32.npy", np.ones((2, 3), "float32"))
    np.save(folder / "f64.npy", np.ones((2, 3), "float64"))
    x, target = np.ones((8, 3), "float32"), np.ones(8, "int64")
    np.savez(folder / "good.npz", x=x, target=target)
    np.savez(folder / "no-target.npz", x=x)
    np.savez(folder / "few.npz", x=x[:2], target=target[:2])
    for command in (
        "compile two.onnx -o two.dlcx",
        "compile network.onnx --train --batch 4 -o step.dlcx",
    ):
        done = run(folder, tool, command)
        assert done.returncode == 0, done.stderr
    # A checkpoint of another network.
    (folder / "other.onnx").write_bytes(network("v", 7))
    for command in (
        "compile other.onnx --train --batch 4 -o other.dlcx",
        "train other.dlcx --data good.npz --checkpoint other.safetensors",
    ):
        done = run(folder, tool, command)
        assert done.returncode == 0, done.stderr
    program = (folder / "two.dlcx").read_bytes()
    (folder / "cut.dlcx").write_bytes(program[:3000])
    (folder / "version.dlcx").write_bytes(program[:8] + bytes([program[8] + 1]) + program[9:])
    (folder / "damaged.dlcx").write_bytes(
        program[:300] + bytes([program[300] ^ 255]) + program[301:]
    )


def run(folder, tool, command):
    """Runs a command of dlc in a folder, without a GPU driver."""
    environment = {
        **os.environ,
        "DLC_CACHE_DIR": str(folder / "cache"),
        "DLC_CUDA_DRIVER": "/none/libcuda.so.1",
    }
    return subprocess.run(
        [tool, *command.split()],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
