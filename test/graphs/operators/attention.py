"""Specifications of attention, rotary embeddings, and recurrences similar to attention."""

import numpy as np
from graph import NoOperand, spec
from onnx import helper


def heads_of(g, x):
    """x as [B, H, T, D], packed or not: (B, H, T, D, packed)."""
    if x.rank == 4:
        return (*x.shape, False)
    heads = g.divisor(x.shape[2])
    return x.shape[0], heads, x.shape[1], x.shape[2] // heads, True


def mask_of(g, shape):
    """A mask that broadcasts to the shape; each query sees the first key."""
    part = tuple(d if i >= 2 or g.chance(0.5) else 1 for i, d in enumerate(shape))[
        g.integer(0, 2) :
    ]
    if g.chance(0.5):
        return g.constant((g.rng.random(part) < 0.7) | (np.arange(part[-1]) == 0))
    return g.shaped(part)


@spec("Attention")
def attention(g, operator):
    q = g.ranked(3, 4, fits=lambda v: v.size <= 1500)
    B, H, T, D, packed = heads_of(g, q)
    groups, size = g.divisor(H), D if g.chance(0.7) else g.integer(1, 9)
    S, past = (
        T if g.chance(0.5) else int(g.one([1, 3, 8, 17])),
        g.integer(1, 5) if g.chance(0.25) else 0,
    )
    if B * H * T * (S + past) > 3000:
        raise NoOperand
    shape = (lambda d: (B, S, groups * d)) if packed else (lambda d: (B, groups, S, d))
    inputs = [q, g.shaped(shape(D)), g.shaped(shape(size))]
    causal = g.chance(0.3) and (not past or S == T)  # ONNX Runtime counts from the end of the keys
    inputs.append(mask_of(g, (B, H, T, S + past)) if g.chance(0.4) else None)
    inputs += (
        [g.shaped((B, groups, past, D)), g.shaped((B, groups, past, size))]
        if past
        else [None, None]
    )
    seen = g.opsets[""] >= 24 and not past and not causal and g.chance(0.2)
    if seen:
        inputs.append(g.ints(g.rng.integers(1, S + 1, B)))
    more = {"is_causal": 1} if causal else {}
    if packed:
        more.update(q_num_heads=H, kv_num_heads=groups)
    if g.chance(0.3):
        more["scale"] = float(g.one([0.25, 1.0]))
    if g.chance(0.2):
        more["softcap"] = 2.0
    results = 3 if past else 1
    if not past and not seen and g.chance(0.15):
        results, more["qk_matmul_output_mode"] = 4, g.one([0, 3])
    while inputs[-1] is None:
        inputs.pop()
    y = (B, T, H * size) if packed else (B, H, T, size)
    cache = [(B, groups, S + past, D), (B, groups, S + past, size), (B, H, T, S + past)]
    g.emit(
        operator,
        inputs,
        False,
        results,
        types=[("f32", each) for each in [y, *cache][:results]],
        **more,
    )


@spec("FlexAttention")
def flex_attention(g, operator):
    q = g.ranked(4, fits=lambda v: v.size <= 1500)
    B, H, T, D = q.shape
    groups, S = g.divisor(H), g.integer(1, 9)
    if B * H * T * S > 3000:
        raise NoOperand
    more = {}
    for name in ("score_mod", "prob_mod"):
        if g.chance(0.5):
            kind = helper.make_tensor_value_info(name, 1, (B, H, T, S))
            node = helper.make_node(g.one(["Tanh", "Sin", "Neg"]), [name], [name + "_result"])
            more[name] = helper.make_graph(
                [node],
                name,
                [kind],
                [helper.make_tensor_value_info(name + "_result", 1, (B, H, T, S))],
            )
    g.emit(
        operator,
        [q, g.shaped((B, groups, S, D)), g.shaped((B, groups, S, D))],
        domain="ai.onnx.preview",
        types=[("f32", q.shape)],
        **more,
    )


@spec("RotaryEmbedding")
def rotary(g, operator):
    x = g.ranked(3, 4, fits=lambda v: v.shape[-1] % 2 == 0)
    B, H, T, D, packed = heads_of(g, x)
    if D % 2:
        H, D = 1, H * D
    rotary_size = D if g.chance(0.6) else 2 * g.integer(1, D // 2)
    rows = g.integer(T, T + 4)
    positions = g.chance(0.6)
    angle = g.rng.random((rows, rotary_size // 2) if positions else (B, T, rotary_size // 2)) * 3
    inputs = [
        x,
        g.constant(np.cos(angle).astype(np.float32)),
        g.constant(np.sin(angle).astype(np.float32)),
    ]
    if positions:
        inputs.append(g.constant(g.rng.integers(0, rows, (B, T))))
    more = {"interleaved": g.integer(0, 1)}
    if packed or rotary_size < D:
        more["num_heads"] = H
    if rotary_size < D:
        more["rotary_embedding_dim"] = rotary_size
    g.emit(operator, inputs, types=[("f32", x.shape)], **more)


@spec("LinearAttention")
def linear_attention(g, operator):
    B, T, groups, D, size = (
        g.integer(1, 2),
        g.integer(1, 6),
        g.integer(1, 2),
        g.integer(1, 5),
        g.integer(1, 5),
    )
    H, rule = groups * g.integer(1, 2), g.one(["linear", "gated", "delta", "gated_delta"])
    inputs = [
        g.shaped((B, T, H * D)),
        g.weight((B, T, groups * D), 0.3),
        g.shaped((B, T, groups * size)),
        None,
        None,
        None,
    ]
    if g.chance(0.4):
        inputs[3] = g.shaped((B, groups, D, size))
    if "gated" in rule:
        inputs[4] = g.constant(
            -g.rng.random((B, T, g.one([groups, groups * D]))).astype(np.float32)
        )
    if "delta" in rule:
        inputs[5] = g.constant(g.rng.random((B, T, groups)).astype(np.float32))
    types = [("f32", (B, T, H * size)), ("f32", (B, groups, D, size))]
    g.emit(
        operator,
        inputs,
        False,
        2,
        types=types,
        q_num_heads=H,
        kv_num_heads=groups,
        update_rule=rule,
    )


@spec("CausalConvWithState")
def causal_conv(g, operator):
    x, k = g.ranked(3), g.integer(2, 4)
    inputs = [
        x,
        g.weight((x.shape[1], 1, k)),
        g.weight((x.shape[1],), 0.5) if g.chance(0.5) else None,
    ]
    if g.chance(0.5):
        inputs.append(g.shaped((*x.shape[:2], k - 1)))
    g.emit(
        operator,
        inputs,
        False,
        2,
        types=[("f32", x.shape), ("f32", (*x.shape[:2], k - 1))],
        activation=g.one(["none", "silu", "swish"]),
    )


@spec("SwiGLU")
def swiglu(g, operator):
    x = g.any()
    g.emit(operator, [x, g.shaped(x.shape)], alpha=float(g.one([1, 1.7])))
