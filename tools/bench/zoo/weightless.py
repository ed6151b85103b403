"""ONNX files without weights: for large float tensors only shape, mean and standard deviation are stored; the values are generated again with a seed."""

import hashlib
import lzma
import os

import numpy as np
import onnx
from onnx import numpy_helper

KEPT = 32  # number of elements up to which tensors are stored unchanged


def iterate_tensors(graph):
    """Yields all stored tensors of an ONNX graph: initializers and constants, including those of subgraphs."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            if attribute.HasField("g"):
                yield from iterate_tensors(attribute.g)


def write_without_weights(model, path, kept=KEPT):
    """Removes the weights and the source locations of nodes, and writes the compressed model to `path`. Returns the number of bytes."""
    for tensor in iterate_tensors(model.graph):
        if tensor.data_type not in (
            onnx.TensorProto.FLOAT,
            onnx.TensorProto.FLOAT16,
            onnx.TensorProto.DOUBLE,
        ):
            continue
        values = numpy_helper.to_array(tensor)
        if values.size <= kept or values.min() == values.max():
            continue
        if not np.abs(values).max() < 1e4:  # large values are those of masks, not of weights
            continue
        mean, deviation = float(values.mean(dtype=np.float64)), float(values.std(dtype=np.float64))
        for field in ("raw_data", "float_data", "int32_data", "double_data"):
            tensor.ClearField(field)
        tensor.doc_string = f"normal {mean:.6g} {deviation:.6g}"
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    for value in list(model.graph.value_info):
        del value.metadata_props[:]
    del model.metadata_props[:]
    del model.graph.metadata_props[:]
    data = lzma.compress(
        model.SerializeToString(deterministic=True), preset=9 | lzma.PRESET_EXTREME
    )
    with open(path + ".part", "wb") as file:
        file.write(data)
    os.rename(path + ".part", path)
    return len(data)


def read(path):
    """Reads a model and generates its weights. They depend only on the name of the tensor, so they are the same on every machine."""
    with lzma.open(path) as file:
        model = onnx.load_model_from_string(file.read())
    for index, tensor in enumerate(iterate_tensors(model.graph)):
        if not tensor.doc_string.startswith("normal "):
            continue
        mean, deviation = map(float, tensor.doc_string.split()[1:])
        seed = int.from_bytes(
            hashlib.sha256(f"{os.path.basename(path)} {index}".encode()).digest()[:8], "little"
        )
        values = np.random.Generator(np.random.PCG64(seed)).normal(
            mean, deviation, tuple(tensor.dims)
        )
        tensor.raw_data = values.astype(
            onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
        ).tobytes()
        tensor.doc_string = ""
    return model


def random_inputs(model, seed=0):
    """Returns random inputs by name: floats from a normal distribution, and integers below a bound.
    The bound is in the input's doc string (`below N`), otherwise it is 1,000."""
    rng, made = np.random.default_rng(seed), {}
    known = {weight.name for weight in model.graph.initializer}
    for value in model.graph.input:
        if value.name in known:
            continue
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        below = int(value.doc_string.split()[1]) if value.doc_string.startswith("below ") else 1000
        made[value.name] = (
            rng.standard_normal(shape) if dtype.kind == "f" else rng.integers(0, below, shape)
        ).astype(dtype)
    return made
