"""Direct calls of PyTorch operators for gradients.py, for overloads that dlc imports and that the OpInfo database has no sample for. Gradients with respect to
every floating-point tensor are compared."""

import torch

aten, prims = torch.ops.aten, torch.ops.prims


def r(*shape):
    return torch.randn(shape)


def recurrent(gates):
    return [r(gates * 3, 4), r(gates * 3, 3), r(gates * 3), r(gates * 3)]


def indices(*values):
    return torch.tensor(values)


def calls():
    """For each overload: the arguments of a call, in the order of its schema."""
    torch.manual_seed(0)
    x, image, line, cube, y = r(3, 4), r(2, 3, 6, 6), r(2, 3, 8), r(1, 2, 4, 4, 4), r(4, 3)
    mask = torch.tensor([[True, False, True, False]] * 3)
    norm = (r(2, 3, 4), r(3), r(3), r(3), r(3).abs() + 0.5)
    states = [r(1, 2, 3), r(1, 2, 3)]
    bag = (r(5, 3), indices(0, 1, 1, 4), indices(0, 2))
    return {
        "_embedding_bag.default": bag,
        "special_xlog1py.other_scalar": (x, 0.5),
        "special_xlog1py.self_scalar": (0.5, x.abs()),
        "xlogy.Scalar_Other": (x, 0.5),
        "xlogy.Scalar_Self": (0.5, x.abs() + 0.5),
        "_logcumsumexp.default": (x, 1),
        "_native_batch_norm_legit_no_training.default": (*norm, 0.1, 1e-5),
        "_reshape_copy.default": (x, [2, 6]),
        "_upsample_bicubic2d_aa.default": (image, [3, 4], False),
        "_upsample_lanczos2d_aa.default": (image, [3, 4], False),
        "_upsample_nearest_exact2d.vec": (image, [4, 9], None),
        "_upsample_nearest_exact3d.default": (cube, [2, 5, 3]),
        "adaptive_avg_pool1d.default": (line, [3]),
        "avg_pool1d.default": (line, [3], [2], [1]),
        "clamp_max.default": (x, 0.5),
        "contiguous.default": (x,),
        "conv1d.default": (line, r(4, 3, 3), r(4)),
        "conv2d.default": (image, r(4, 3, 3, 3), r(4), [2, 2], [1, 1]),
        "conv3d.default": (cube, r(3, 2, 2, 2, 2), r(3)),
        "div.Scalar_mode": (x, 2.0),
        "embedding.default": (r(5, 3), indices(0, 2, 2), 2),
        "fill.Tensor": (x, r()),
        "flatten.using_ints": (image, 1),
        "fmod.Scalar": (x, 0.7),
        "linear.default": (x, r(5, 4), r(5)),
        "log_sigmoid.default": (x,),
        "log_softmax.int": (x, 1),
        "matmul.default": (x, y),
        "max_pool1d_with_indices.default": (line, [3], [2]),
        "narrow.default": (x, 1, 1, 2),
        "native_dropout.default": (x, 0.0, True),
        "positive.default": (x,),
        "prelu.default": (r(2, 3, 4), r(3)),
        "prims::convert_element_type.default": (x, torch.float64),
        "prims::fma.default": (x, r(3, 4), r(3, 4)),
        "remainder.Scalar_Tensor": (2.5, x.abs() + 0.5),
        "reshape.default": (x, [2, 6]),
        "scaled_dot_product_attention.default": (r(2, 2, 4, 3), r(2, 2, 5, 3), r(2, 2, 5, 3)),
        "scatter.value": (x, 1, indices([0, 2], [1, 3]), 2.0),
        "scatter.value_reduce": (x, 1, indices([0, 2], [1, 3]), 2.0),
        "softmax.int": (x, 1),
        "split_with_sizes.default": (x, [1, 3], 1),
        "square.default": (x,),
        "squeeze.dims": (r(1, 3, 1, 4), [0, 2]),
        "t.default": (x,),
        "transpose.int": (x, 0, 1),
        "to.dtype": (x, torch.float64),
        "unfold.default": (line, 2, 3, 2),
        "upsample_bicubic2d.vec": (image, [4, 9], False, None),
        "upsample_bilinear2d.vec": (image, [4, 9], True, None),
        "upsample_linear1d.vec": (line, [5], False, None),
        "upsample_nearest1d.vec": (line, [5], None),
        "upsample_nearest2d.vec": (image, [4, 9], None),
        "upsample_nearest3d.vec": (cube, [2, 5, 3], None),
        "upsample_trilinear3d.vec": (cube, [2, 5, 3], False, None),
        "var.default": (x,),
        "var.dim": (x, [1]),
        "var_mean.dim": (x, [1]),
        "where.Scalar": (mask, 1.0, 2.0),
        "where.ScalarOther": (mask, x, 2.0),
        "where.ScalarSelf": (mask, 2.0, x),
        "lstm.input": (r(5, 2, 4), states, recurrent(4), True, 1, 0.0, False, False, False),
        "gru.input": (r(5, 2, 4), states[0], recurrent(3), True, 1, 0.0, False, False, False),
        "rnn_tanh.input": (r(5, 2, 4), states[0], recurrent(1), True, 1, 0.0, False, False, False),
        "rnn_relu.input": (r(5, 2, 4), states[0], recurrent(1), True, 1, 0.0, False, False, False),
    }


#: Arguments by name.
NAMED = {
    "div.Scalar_mode": {"rounding_mode": "floor"},
    "scatter.value_reduce": {"reduce": "add"},
    "scaled_dot_product_attention.default": {"is_causal": True},
}


def operator_of(overload):
    space, _, name = overload.rpartition("::")
    packet, kind = name.split(".")
    return getattr(getattr(getattr(torch.ops, space or "aten"), packet), kind)
