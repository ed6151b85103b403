"""Random cases of the operators of the domain com.microsoft: one function for each operator, from a random generator to a case."""

import math

import numpy as np
from contrib_quantized_cases import (
    dequantize_four_bits,
    dequantize_linear,
    dynamic_quantize_lstm,
    dynamic_quantize_mat_mul,
    gather_block_quantized,
    gather_four_bits,
    mat_mul_bnb4,
    mat_mul_integer_to_float,
    mat_mul_n_bits,
    moe,
    q_gemm,
    q_linear_average_pool,
    q_linear_binary,
    q_linear_concat,
    q_linear_conv,
    q_linear_global_average_pool,
    q_linear_reduce_mean,
    q_linear_softmax,
    q_linear_unary,
    q_linear_where,
    q_moe,
    quantize_linear,
)
from random_case import (
    F,
    I32,
    I64,
    U8,
    around_one,
    Case,
    floats,
    integers,
    kind_of,
    maybe,
    shape_of,
    step,
    vector,
    window,
)


# --- activations --------------------------------------------------------------


def bias_gelu(rng):
    shape = shape_of(rng)
    return Case([floats(rng, *shape, scale=2), vector(rng, shape[-1])])


def fast_gelu(rng):
    shape = shape_of(rng)
    return Case([floats(rng, *shape, scale=2), maybe(rng, vector(rng, shape[-1]))])


def gelu(rng):
    return Case([floats(rng, *shape_of(rng), scale=2)])


def quick_gelu(rng):
    return Case(
        [floats(rng, *shape_of(rng), scale=2)],
        attributes={"alpha": float(rng.uniform(0.5, 2))} if rng.random() < 0.5 else {},
    )


def bias_split_gelu(rng):
    n, s, d = (int(v) for v in rng.integers(1, 5, 3))
    x, bias = floats(rng, n, s, 2 * d), vector(rng, 2 * d)
    y = (x + bias).astype(np.float64)
    right = y[..., d:]
    wanted = y[..., :d] * right * 0.5 * (1 + np.vectorize(math.erf)(right / math.sqrt(2)))
    return Case([x, bias], expected=[wanted.astype(F)])


def scaled_silu(rng):
    scale = maybe(rng, F(rng.uniform(0.5, 2)))
    return Case(
        [floats(rng, *shape_of(rng), scale=2), scale],
        attributes={"alpha": float(rng.uniform(0.5, 2))},
    )


def gated_add(rng):
    shape = shape_of(rng)
    return Case([floats(rng, *shape), floats(rng, *shape), floats(rng, *shape[:-1], 1)])


def linear_attention_gate(rng):
    shape = shape_of(rng, 3, 3)
    rate = maybe(rng, floats(rng, *shape))
    return Case(
        [floats(rng, *shape, scale=4), vector(rng, shape[-1]), vector(rng, shape[-1]), rate],
        outputs=1 if rate is None else 2,
    )


# --- products -----------------------------------------------------------------


def fused_mat_mul(rng, batch_attributes=True):
    batch = [int(d) for d in rng.integers(1, 4, rng.integers(0, 3))]
    m, k, n = (int(d) for d in rng.integers(1, 7, 3))
    flags = {name: int(rng.integers(2)) for name in ("transA", "transB")}
    if batch_attributes:
        both = int(rng.integers(2)) if len(batch) else 0
        flags.update({"transBatchA": both, "transBatchB": both})

    def operand(rows, columns, last, batched):
        tail = [columns, rows] if flags[last] else [rows, columns]
        return floats(rng, *([tail[0], *batch, tail[1]] if flags.get(batched) else [*batch, *tail]))

    attributes = dict(flags)
    if rng.random() < 0.5:
        attributes["alpha"] = float(rng.uniform(-2, 2))
    return Case(
        [operand(m, k, "transA", "transBatchA"), operand(k, n, "transB", "transBatchB")],
        attributes=attributes,
    )


def transpose_mat_mul(rng):
    return fused_mat_mul(rng, False)


def fused_gemm(rng):
    m, k, n = (int(d) for d in rng.integers(1, 7, 3))
    attributes = {
        "transA": int(rng.integers(2)),
        "transB": int(rng.integers(2)),
        "alpha": float(rng.uniform(0.5, 2)),
        "beta": float(rng.uniform(0.5, 2)),
    }
    name = ("Relu", "LeakyRelu", "Sigmoid", "Tanh", "Softplus", "Elu")[rng.integers(6)]
    attributes["activation"] = name
    if name in ("LeakyRelu", "Elu"):
        attributes["activation_alpha"] = float(rng.uniform(0.05, 1))
    c = maybe(rng, floats(rng, *[(m, n), (n,), (1, n), (m, 1)][rng.integers(4)]))
    return Case(
        [
            floats(rng, *((k, m) if attributes["transA"] else (m, k))),
            floats(rng, *((n, k) if attributes["transB"] else (k, n))),
            c,
        ],
        attributes=attributes,
    )


def cdist(rng):
    m, k, n = (int(d) for d in rng.integers(1, 7, 3))
    return Case(
        [floats(rng, m, n), floats(rng, k, n)],
        attributes={"metric": ("euclidean", "sqeuclidean")[rng.integers(2)]},
    )


def inverse(rng):
    n, batch = int(rng.integers(1, 6)), [int(d) for d in rng.integers(1, 4, rng.integers(0, 2))]
    # Far from singular, with the largest elements in rows that must be exchanged.
    x = floats(rng, *batch, n, n, scale=0.3) + np.roll(
        2 * np.eye(n, dtype=F), int(rng.integers(n)), axis=0
    )
    return Case([x.astype(F)])


# --- convolutions -------------------------------------------------------------


def fused_conv(rng):
    groups, c, m = int(rng.integers(1, 3)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    x, w = floats(rng, 2, c * groups, 7, 6), floats(rng, m * groups, c, 3, 3, scale=0.3)
    attributes = {**window(rng), "group": groups}
    name = ("Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid", "HardSwish")[
        rng.integers(7)
    ]
    attributes["activation"] = name
    parameters = {"LeakyRelu": [0.1], "Clip": [-0.5, 0.75], "HardSigmoid": [0.3, 0.4]}.get(name)
    if parameters:
        attributes["activation_params"] = parameters
    return Case([x, w, maybe(rng, vector(rng, m * groups))], attributes=attributes)


def fused_conv_sum(rng):
    c, m = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    return Case(
        [
            floats(rng, 2, c, 7, 6),
            floats(rng, m, c, 3, 3, scale=0.3),
            vector(rng, m),
            floats(rng, 2, m, 7, 6),
        ],
        attributes={"pads": [1, 1, 1, 1], "activation": "Relu"},
    )


def nhwc_conv(rng):
    n, h, w, c, m, k = 2, 5, 6, int(rng.integers(1, 4)), int(rng.integers(1, 4)), 3
    x, weights, bias = floats(rng, n, h, w, c), floats(rng, m, k, k, c, scale=0.3), vector(rng, m)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    wanted = np.zeros((n, h, w, m), np.float64)
    for i in range(k):
        for j in range(k):
            wanted += np.einsum("nhwc,mc->nhwm", padded[:, i : i + h, j : j + w], weights[:, i, j])
    return Case(
        [x, weights, bias], attributes={"pads": [1, 1, 1, 1]}, expected=[(wanted + bias).astype(F)]
    )


def nhwc_max_pool(rng):
    attributes = {
        "kernel_shape": [3, 2],
        "strides": [int(v) for v in rng.integers(1, 3, 2)],
        "pads": [int(v) for v in rng.integers(0, 2, 4)],
        "ceil_mode": int(rng.integers(2)),
    }
    return Case(
        [integers(rng, kind_of(rng), 2, 6, 7, int(rng.integers(1, 5)))], attributes=attributes
    )


# --- norms --------------------------------------------------------------------


def skip_layer_normalization(rng):
    b, s, h = int(rng.integers(1, 4)), int(rng.integers(1, 5)), int(rng.integers(2, 9))
    skip = [(b, s, h), (1, s, h), (s, h)][rng.integers(3)]
    return Case(
        [
            floats(rng, b, s, h),
            floats(rng, *skip),
            around_one(rng, h),
            maybe(rng, vector(rng, h)),
            maybe(rng, vector(rng, h)),
        ],
        outputs=[True, False, False, True],
        attributes={"epsilon": 1e-5} if rng.random() < 0.5 else {},
    )


def skip_simplified_layer_normalization(rng):
    case = skip_layer_normalization(rng)
    del case.inputs[3]
    return case


def simplified_layer_normalization(rng):
    shape = shape_of(rng, 2)
    return Case(
        [floats(rng, *shape), around_one(rng, shape[-1])],
        attributes={"axis": -1, "epsilon": 1e-6},
        domain="",
    )


def embeddings(rng):
    b, s, h = int(rng.integers(1, 4)), int(rng.integers(1, 6)), int(rng.integers(2, 9))
    ids, segments = rng.integers(0, 9, (b, s)).astype(I32), rng.integers(0, 2, (b, s)).astype(I32)
    mask = (np.arange(s) < rng.integers(1, s + 1, (b, 1))).astype(I32)
    return b, s, h, ids, segments, mask


def gated_rms_norm(rng):
    shape, width = shape_of(rng), int(rng.integers(1, 9))
    shape[-1] *= width
    return Case(
        [floats(rng, *shape), around_one(rng, width), floats(rng, *shape)],
        attributes={"activation": ("silu", "swish", "sigmoid")[rng.integers(3)], "epsilon": 1e-5},
    )


def branchwise_rms_norm(rng):
    outer, branches, width = shape_of(rng, 1, 2), int(rng.integers(1, 5)), int(rng.integers(1, 9))
    scale = maybe(rng, around_one(rng, branches * width if rng.random() < 0.5 else width))
    flat = rng.random() < 0.5
    return Case(
        [floats(rng, *outer, *([branches * width] if flat else [branches, width])), scale],
        attributes={"epsilon": 1e-5, **({"num_branches": branches} if flat else {})},
    )


def embed_layer_normalization(rng):
    b, s, h, ids, segments, mask = embeddings(rng)
    segmented = rng.random() < 0.6
    positions = maybe(rng, rng.integers(0, 6, (b, s)).astype(I32), 0.3)
    return Case(
        [
            ids,
            segments if segmented else None,
            floats(rng, 9, h),
            floats(rng, 6, h),
            floats(rng, 2, h) if segmented else None,
            around_one(rng, h),
            vector(rng, h),
            maybe(rng, mask),
            positions,
        ],
        outputs=[True, True, True],
        constants=(2, 3, 4),
        attributes={"epsilon": 1e-6},
    )


def q_embed_layer_normalization(rng):
    b, s, h, ids, segments, mask = embeddings(rng)
    kind = kind_of(rng)
    segmented = rng.random() < 0.6

    def quantized(*shape):
        return integers(rng, kind, *shape), step(rng), integers(rng, kind)

    word, position, segment, gamma, beta = (
        quantized(9, h),
        quantized(6, h),
        quantized(2, h),
        quantized(h),
        quantized(h),
    )
    if not segmented:
        segment = (None, None, None)
    five = (word, position, segment, gamma, beta)
    return Case(
        [
            ids,
            segments if segmented else None,
            *[q[0] for q in five],
            maybe(rng, mask),
            *[q[1] for q in five],
            *[q[2] for q in five],
        ],
        outputs=[True, True],
        constants=range(2, 18),
        attributes={"epsilon": 1e-6},
    )


# --- attention ----------------------------------------------------------------


def key_mask(rng, b, t, s, kinds):
    kind = kinds[rng.integers(len(kinds))]
    lengths = rng.integers(1, s + 1, b)
    if kind == "ends":
        return lengths.astype(I32)
    if kind == "both":
        starts = np.array([rng.integers(0, n) for n in lengths])
        return np.concatenate([lengths, starts]).astype(I32)
    if kind == "raw":
        return (np.arange(s) < lengths[:, None]).astype(I32)
    if kind == "matrix":
        return (np.arange(s) < np.broadcast_to(lengths[:, None, None], (b, t, s))).astype(I32)
    return None


def attention(rng):
    b, t, heads, size, wide, past = (int(rng.integers(1, n)) for n in (3, 6, 4, 5, 7, 4))
    past = 0 if rng.random() < 0.5 else past
    hidden, attributes = heads * size, {"num_heads": heads}
    columns, sizes = 3 * hidden, None
    if rng.random() < 0.3 and not past:
        own = heads * int(rng.integers(1, 5))
        sizes, columns = [hidden, hidden, own], 2 * hidden + own
        attributes["qkv_hidden_sizes"] = sizes
    if rng.random() < 0.4:
        attributes["unidirectional"] = 1
    if rng.random() < 0.3:
        attributes["scale"] = 0.4
    if rng.random() < 0.3:
        attributes["mask_filter_value"] = -500.0
    # A row that sees filtered keys only has nothing left of its scores in f32.
    mask = key_mask(
        rng,
        b,
        t,
        past + t,
        ["none", "ends", "raw", "matrix"] + ["both"] * (1 - attributes.get("unidirectional", 0)),
    )
    bias = (
        floats(rng, [1, b][rng.integers(2)], [1, heads][rng.integers(2)], t, past + t)
        if rng.random() < 0.3
        else None
    )
    return Case(
        [
            floats(rng, b, t, wide),
            floats(rng, wide, columns, scale=0.5),
            vector(rng, columns),
            mask,
            floats(rng, 2, b, heads, past, size) if past else None,
            bias,
        ],
        outputs=[True, past > 0],
        constants=(1, 2),
        attributes=attributes,
    )


def q_attention(rng):
    b, t, heads, size, wide = (int(rng.integers(1, n)) for n in (3, 6, 4, 5, 7))
    past = 0 if rng.random() < 0.5 else int(rng.integers(1, 4))
    columns, kind = 3 * heads * size, kind_of(rng)
    per_column = rng.random() < 0.4
    scale = rng.uniform(0.002, 0.01, columns).astype(F) if per_column else step(rng, 0.002, 0.01)
    zero = integers(rng, kind, columns) if per_column else integers(rng, kind)
    mask = key_mask(rng, b, t, past + t, ["none", "ends", "raw"])
    x = integers(rng, U8, b, t, wide)
    return Case(
        [
            x,
            integers(rng, kind, wide, columns),
            vector(rng, columns),
            step(rng, 0.005, 0.02),
            scale,
            mask,
            integers(rng, U8),
            zero,
            floats(rng, 2, b, heads, past, size) if past else None,
        ],
        outputs=[True, past > 0],
        constants=(1, 2, 3, 4, 6, 7),
        attributes={"num_heads": heads, **({"unidirectional": 1} if rng.random() < 0.4 else {})},
    )


def multi_head_attention(rng):
    b, t, s, heads, size, own = (int(rng.integers(1, n)) for n in (3, 6, 6, 4, 5, 5))
    form = ("apart", "past", "cross")[rng.integers(3)]
    attributes = {"num_heads": heads}
    past, k, v, past_k, past_v = (
        0,
        floats(rng, b, s, heads * size),
        floats(rng, b, s, heads * own),
        None,
        None,
    )
    if form == "past":
        s, past, own = t, int(rng.integers(1, 4)), size
        k, v = floats(rng, b, s, heads * size), floats(rng, b, s, heads * size)
        past_k, past_v = floats(rng, b, heads, past, size), floats(rng, b, heads, past, size)
    elif form == "cross":
        own = size
        k, v = floats(rng, b, heads, s, size), floats(rng, b, heads, s, size)
    if form != "cross" and t == s and rng.random() < 0.4:
        attributes["unidirectional"] = 1
    bias = vector(rng, heads * (2 * size + own)) if form == "apart" and rng.random() < 0.5 else None
    mask = (
        key_mask(rng, b, t, past + s, ["none", "ends", "raw", "matrix"])
        if form != "cross"
        else None
    )
    added = (
        floats(rng, [1, b][rng.integers(2)], [1, heads][rng.integers(2)], t, past + s)
        if rng.random() < 0.4
        else None
    )
    return Case(
        [floats(rng, b, t, heads * size), k, v, bias, mask, added, past_k, past_v],
        outputs=[True, past > 0, past > 0],
        attributes=attributes,
    )


def caches(rng, length, half):
    angles = rng.uniform(0, 6, (length, half))
    return np.cos(angles).astype(F), np.sin(angles).astype(F)


def rotary_embedding(rng):
    b, t, heads, half = (int(rng.integers(1, n)) for n in (4, 6, 4, 5))
    cosines, sines = caches(rng, 16, half)
    attributes, size = {"interleaved": int(rng.integers(2))}, 2 * half
    if rng.random() < 0.4:
        size, attributes["num_heads"], attributes["rotary_embedding_dim"] = (
            size + 2,
            heads,
            2 * half,
        )
    shape = (b, heads, t, size) if rng.random() < 0.5 else (b, t, heads * size)
    positions = (
        np.array([rng.integers(0, 8)]) if rng.random() < 0.5 else rng.integers(0, 16, (b, t))
    )
    return Case(
        [floats(rng, *shape), positions.astype(I64), cosines, sines],
        constants=(2, 3),
        attributes=attributes,
    )


def group_query_attention(rng):
    b, kv, group, half = (int(rng.integers(1, n)) for n in (3, 3, 3, 4))
    size, heads = 16 * half, kv * group
    prompt = rng.random() < 0.4
    t = int(rng.integers(2, 6)) if prompt else int(rng.integers(1, 3)) if b == 1 else 1
    shared = rng.random() < 0.5
    total = t if prompt else t + int(rng.integers(1, 5))
    length = total + 3 if shared else total - t
    lengths = np.full(b, total) if b == 1 or prompt or not shared else rng.integers(t, total + 1, b)
    lengths[0] = total
    attributes = {"num_heads": heads, "kv_num_heads": kv}
    cosines = sines = None
    if rng.random() < 0.5:
        cosines, sines = caches(rng, 32, size // 2)
        attributes.update(do_rotary=1, rotary_interleaved=int(rng.integers(2)))
    if rng.random() < 0.3:
        attributes["local_window_size"] = int(rng.integers(1, 4))
    if rng.random() < 0.3:
        attributes["softcap"] = 1.5
    if rng.random() < 0.3:
        attributes["scale"] = 0.2
    sink = None
    if rng.random() < 0.3:
        sink = floats(rng, heads)
    elif rng.random() < 0.3:
        attributes["smooth_softmax"] = 1
    bias = floats(rng, 1, 1, t, total) if rng.random() < 0.3 else None
    past = [floats(rng, b, kv, length, size) for _ in range(2)] if length else [None, None]
    if rng.random() < 0.4:
        query, key, value = floats(rng, b, t, (heads + 2 * kv) * size), None, None
    else:
        query, key, value = (
            floats(rng, b, t, heads * size),
            floats(rng, b, t, kv * size),
            floats(rng, b, t, kv * size),
        )

    def valid(i, x):
        return x if i == 0 else np.concatenate([x[j, :, : lengths[j]].ravel() for j in range(b)])

    return Case(
        [
            query,
            key,
            value,
            *past,
            (lengths - 1).astype(I32),
            np.array([total], I32),
            cosines,
            sines,
            None,
            bias,
            sink,
        ],
        outputs=[True, True, True],
        constants=(6, 7, 8) if rng.random() < 0.5 else (5, 6, 7, 8),
        attributes=attributes,
        valid=valid,
    )


# --- the rest -----------------------------------------------------------------


def pad(rng):
    shape = [int(d) for d in rng.integers(2, 6, rng.integers(1, 4))]
    mode = ("constant", "reflect", "edge")[rng.integers(3)]
    return Case(
        [
            floats(rng, *shape),
            rng.integers(0, 2, 2 * len(shape)).astype(I64),
            maybe(rng, F(1.5)) if mode == "constant" else None,
        ],
        constants=(1, 2),
        attributes={"mode": mode},
    )


def range_of(rng):
    start, delta = float(rng.integers(-5, 6)), float(rng.integers(1, 4))
    if rng.random() < 0.3:
        return Case([F(start), F(start + 5), None], constants=(0, 1))
    return Case(
        [F(start), F(start + delta * float(rng.uniform(0, 6))), F(delta)], constants=(0, 1, 2)
    )


def gather_nd(rng):
    shape = [int(d) for d in rng.integers(1, 5, rng.integers(1, 4))]
    depth = int(rng.integers(1, len(shape) + 1))
    outer = shape_of(rng, 1, 2)
    indices = np.stack([rng.integers(-shape[i], shape[i], outer) for i in range(depth)], axis=-1)
    return Case(
        [floats(rng, *shape), indices.astype(I64)], constants=(1,) if rng.random() < 0.5 else ()
    )


def rfft(rng):
    shape = [*shape_of(rng, 0, 2), int(rng.integers(1, 17))]
    x = floats(rng, *shape)
    y = np.fft.rfft(x.astype(np.float64), axis=-1)
    return Case(
        [x],
        attributes={"signal_ndim": 1, "onesided": 1, "normalized": 0},
        expected=[np.stack([y.real, y.imag], axis=-1).astype(F)],
    )


def irfft(rng):
    shape = [*shape_of(rng, 0, 2), 2 * int(rng.integers(1, 9))]
    y = np.fft.rfft(rng.standard_normal(shape), axis=-1)
    wanted = np.fft.irfft(y, axis=-1)
    return Case(
        [np.stack([y.real, y.imag], axis=-1).astype(F)],
        attributes={"signal_ndim": 1},
        expected=[wanted.astype(F)],
    )


CASES = {
    "BiasGelu": bias_gelu,
    "FastGelu": fast_gelu,
    "Gelu": gelu,
    "QuickGelu": quick_gelu,
    "BiasSplitGelu": bias_split_gelu,
    "FusedMatMul": fused_mat_mul,
    "TransposeMatMul": transpose_mat_mul,
    "FusedGemm": fused_gemm,
    "Inverse": inverse,
    "ScaledSiLU": scaled_silu,
    "GatedAdd": gated_add,
    "LinearAttentionGate": linear_attention_gate,
    "CDist": cdist,
    "MatMulBnb4": mat_mul_bnb4,
    "MoE": moe,
    "GatedRMSNorm": gated_rms_norm,
    "BranchwiseRMSNorm": branchwise_rms_norm,
    "NhwcMaxPool": nhwc_max_pool,
    "FusedConv": fused_conv,
    "FusedConv+Z": fused_conv_sum,
    "NhwcConv": nhwc_conv,
    "SkipLayerNormalization": skip_layer_normalization,
    "SkipSimplifiedLayerNormalization": skip_simplified_layer_normalization,
    "SimplifiedLayerNormalization": simplified_layer_normalization,
    "EmbedLayerNormalization": embed_layer_normalization,
    "QEmbedLayerNormalization": q_embed_layer_normalization,
    "Attention": attention,
    "QAttention": q_attention,
    "MultiHeadAttention": multi_head_attention,
    "RotaryEmbedding": rotary_embedding,
    "GroupQueryAttention": group_query_attention,
    "QLinearAdd": lambda rng: q_linear_binary(rng, np.add),
    "QLinearMul": lambda rng: q_linear_binary(rng, np.multiply),
    "QLinearSigmoid": lambda rng: q_linear_unary(rng, lambda x: 1 / (1 + np.exp(-x))),
    "QLinearLeakyRelu": lambda rng: q_linear_unary(
        rng, lambda x: np.where(x < 0, 0.2 * x, x), alpha=0.2
    ),
    "QLinearSoftmax": q_linear_softmax,
    "QLinearWhere": q_linear_where,
    "QLinearConcat": q_linear_concat,
    "QLinearAveragePool": q_linear_average_pool,
    "QLinearGlobalAveragePool": q_linear_global_average_pool,
    "QLinearReduceMean": q_linear_reduce_mean,
    "QLinearConv": q_linear_conv,
    "QuantizeLinear": quantize_linear,
    "DequantizeLinear": dequantize_linear,
    "DynamicQuantizeMatMul": dynamic_quantize_mat_mul,
    "MatMulIntegerToFloat": mat_mul_integer_to_float,
    "QGemm": q_gemm,
    "MatMulNBits": mat_mul_n_bits,
    "GatherBlockQuantized": gather_block_quantized,
    "QMoE": q_moe,
    "GatherBlockQuantized+int4": gather_four_bits,
    "DequantizeLinear+int4": dequantize_four_bits,
    "DynamicQuantizeLSTM": dynamic_quantize_lstm,
    "Pad": pad,
    "Range": range_of,
    "GatherND": gather_nd,
    "Rfft": rfft,
    "Irfft": irfft,
}
