"""Checks whether ONNX Runtime's sums of 8-bit integers are exact on this processor.

On processors without VNNI its sums of unsigned by signed integers saturate at 16 bits, unless the signed ones have only seven bits.
"""

import functools


def sums_integers(operator):
    return "Integer" in operator or (
        operator.startswith(("Q", "DynamicQuantize")) and not operator.endswith("QuantizeLinear")
    )


@functools.cache
def sums_exactly():
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    depth, x, w = 4, 255, 127
    weights = numpy_helper.from_array(np.full((depth, 1), w, np.int8), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["x", "w"], ["y"])],
        "sums",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, depth])],
        [helper.make_tensor_value_info("y", TensorProto.INT32, [1, 1])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"x": np.full((1, depth), x, np.uint8)})[0].item() == depth * x * w
