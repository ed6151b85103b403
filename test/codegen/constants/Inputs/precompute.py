"""Makes a model whose weights are multiplied with each other, and checks the results of its program (precompute.test)."""

import json
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[2]
generator = np.random.default_rng(3)
a, b = (generator.standard_normal(shape).astype(np.float32) for shape in ((900, 512), (512, 300)))
column, row = (
    generator.standard_normal(shape).astype(np.float32) for shape in ((5000, 1), (1, 1000))
)
x = generator.standard_normal((7, 900)).astype(np.float32)
if sys.argv[1] == "write":
    nodes = [
        helper.make_node("MatMul", ["a", "b"], ["table"]),
        helper.make_node("MatMul", ["x", "table"], ["projected"]),
        # 20 MB of 24 KB: a kernel makes it on the way.
        helper.make_node("Mul", ["column", "row"], ["product"]),
        helper.make_node("ReduceMax", ["product"], ["outer"], keepdims=0),
    ]
    weights = [
        numpy_helper.from_array(value, name)
        for name, value in (("a", a), ("b", b), ("column", column), ("row", row))
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [
            helper.make_tensor_value_info("projected", TensorProto.FLOAT, (7, 300)),
            helper.make_tensor_value_info("outer", TensorProto.FLOAT, ()),
        ],
        weights,
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10),
        f"{folder}/model.onnx",
    )
    np.save(f"{folder}/x.npy", x)
else:

    def close(name, wanted):
        found = np.load(f"{folder}/out/{name}.npy")
        print(
            f"{name}: {'right' if np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max() else 'wrong'}"
        )

    close("projected", x.astype(np.float64) @ (a.astype(np.float64) @ b))
    close("outer", (column * row).max())
    with open(f"{folder}/about.json") as file:
        about = json.load(file)
    products = sum(c.get("flops", 0) >= 2 * 7 * 900 * 300 for c in about["commands"])
    fewer = about["constant_bytes"] < a.nbytes + b.nbytes
    print(
        f"products {products}, bytes of constants {'fewer' if fewer else 'more'} than the weights'"
    )
