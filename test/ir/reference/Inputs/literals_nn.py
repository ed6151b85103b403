"""Tests of matmuls, convolutions, pooling, norms, attention, recurrent layers and losses with values that NumPy or the onnx package's evaluator computes."""

import numpy as np
from literal_file import array, f32, File, numbers, onnx_eval, rng


def contract():
    f = File("contract", "Results of matmuls.")
    a, b = numbers(2, 3), numbers(3, 4)
    exact = lambda p, q: (p.astype(np.float64) @ q.astype(np.float64)).astype(np.float32)
    f.case("plain", "dlc.matmul %a, %b", {"a": a, "b": b}, exact(a, b))
    f.case("transposed_a", "dlc.matmul %a, %b transpose_a", {"a": a.T.copy(), "b": b}, exact(a, b))
    f.case("transposed_b", "dlc.matmul %a, %b transpose_b", {"a": a, "b": b.T.copy()}, exact(a, b))
    f.case(
        "transposed_both",
        "dlc.matmul %a, %b transpose_a transpose_b",
        {"a": a.T.copy(), "b": b.T.copy()},
        exact(a, b),
    )
    p, q = numbers(2, 1, 2, 3), numbers(3, 3, 2)
    f.case("batches_broadcast", "dlc.matmul %a, %b", {"a": p, "b": q}, exact(p, q))
    i, j = np.array([[20000, 2]], np.int16), np.array([[3], [7]], np.int16)
    f.case("integers_wrap", "dlc.matmul %a, %b", {"a": i, "b": j}, np.array([[-5522]], np.int16))
    f.case(
        "empty_sum", "dlc.matmul %a, %b", {"a": a[:, :0], "b": b[:0]}, np.zeros((2, 4), np.float32)
    )
    # The second group is empty, the end of the third is before its start, and the end of the fourth exceeds the number of rows. Rows after the last end belong to no group.
    few = np.random.default_rng(8)
    rows, matrices, dy = (
        (few.integers(-32, 32, shape) / 16).astype(np.float32)
        for shape in ((5, 2), (4, 2, 3), (5, 3))
    )
    for name, ends, groups in (
        ("", [2, 2, 1, 9], [0, 0, 3, 3, 3]),
        ("_with_a_rest", [1, 3, 3, 4], [0, 1, 1, 3]),
    ):
        product, gradient = np.zeros((5, 3), np.float32), np.zeros((4, 2, 3), np.float32)
        for row, group in enumerate(groups):
            product[row] = exact(rows[row : row + 1], matrices[group])
            gradient[group] += exact(rows[row : row + 1].T, dy[row : row + 1])
        e = np.array(ends, np.int32)
        f.case(
            "groups" + name,
            "dlc.grouped_matmul %a, %b ends %e",
            {"a": rows, "b": matrices, "e": e},
            product,
        )
        f.case(
            "groups_transposed" + name,
            "dlc.grouped_matmul %a, %b ends %e transpose_b",
            {"a": rows, "b": matrices.transpose(0, 2, 1).copy(), "e": e.astype(np.int64)},
            product,
        )
        f.case(
            "groups_gradient" + name,
            "dlc.grouped_weight_grad %a, %d ends %e",
            {"a": rows, "d": dy, "e": e},
            gradient,
        )
    f.write()


def conv():
    f = File("conv", "Results of convolutions.")

    def one(
        name,
        x,
        w,
        bias=None,
        strides=None,
        dilations=None,
        low=None,
        high=None,
        groups=1,
        note=None,
    ):
        n = x.ndim - 2
        strides, dilations = strides or [1] * n, dilations or [1] * n
        low, high = low or [0] * n, high or [0] * n
        y = onnx_eval(
            "Conv",
            [x, w, bias],
            strides=strides,
            dilations=dilations,
            pads=low + high,
            group=groups,
        )
        f.case(
            name,
            f"dlc.conv {'%x, %w, %b' if bias is not None else '%x, %w'} {{strides = {array(strides)}, "
            f"dilations = {array(dilations)}, low = {array(low)}, high = {array(high)}, groups = {groups} : i64}}",
            {"x": x, "w": w} | ({"b": bias} if bias is not None else {}),
            f32(y),
            note=note,
        )

    one("plain", numbers(1, 2, 4, 4), numbers(3, 2, 2, 2))
    one(
        "bias_stride_padding",
        numbers(2, 1, 4, 5),
        numbers(2, 1, 3, 2),
        numbers(2),
        strides=[2, 1],
        low=[1, 0],
        high=[1, 1],
    )
    one("groups", numbers(1, 4, 3, 3), numbers(4, 2, 2, 2), numbers(4), groups=2)
    one("depthwise", numbers(1, 3, 3, 3), numbers(3, 1, 2, 2), groups=3, low=[1, 1])
    one("dilated", numbers(1, 1, 5, 5), numbers(1, 1, 2, 2), dilations=[2, 3])
    one(
        "one_dimension",
        numbers(1, 2, 6),
        numbers(2, 2, 3),
        numbers(2),
        low=[1],
        high=[1],
        strides=[2],
    )
    one("three_dimensions", numbers(1, 1, 3, 3, 3), numbers(1, 1, 2, 2, 2), high=[0, 1, 0])

    def transposed(
        name,
        x,
        w,
        bias=None,
        strides=None,
        dilations=None,
        low=None,
        high=None,
        extra=None,
        groups=1,
    ):
        n = x.ndim - 2
        strides, dilations = strides or [1] * n, dilations or [1] * n
        low, high, extra = low or [0] * n, high or [0] * n, extra or [0] * n
        # By definition: each element of x adds the weights, times itself, to the result.
        per, out = x.shape[1] // groups, w.shape[1]
        full = [
            (x.shape[d + 2] - 1) * strides[d] + (w.shape[d + 2] - 1) * dilations[d] + 1 + extra[d]
            for d in range(n)
        ]
        y = np.zeros((x.shape[0], out * groups, *full))
        for c in range(x.shape[1]):
            for o in range(out):
                for at in np.ndindex(*x.shape[2:]):
                    for place in np.ndindex(*w.shape[2:]):
                        to = tuple(at[d] * strides[d] + place[d] * dilations[d] for d in range(n))
                        y[(slice(None), c // per * out + o) + to] += (
                            x[(slice(None), c) + at].astype(np.float64) * w[(c, o) + place]
                        )
        y = y[
            (slice(None), slice(None)) + tuple(slice(low[d], full[d] - high[d]) for d in range(n))
        ]
        if bias is not None:
            y = y + bias.astype(np.float64).reshape(1, -1, *[1] * n)
        f.case(
            name,
            f"dlc.conv_transpose {'%x, %w, %b' if bias is not None else '%x, %w'} {{strides = {array(strides)}, "
            f"dilations = {array(dilations)}, low = {array(low)}, high = {array(high)}, extra = {array(extra)}, "
            f"groups = {groups} : i64}}",
            {"x": x, "w": w} | ({"b": bias} if bias is not None else {}),
            f32([y]),
        )

    transposed("transpose_plain", numbers(1, 2, 2, 2), numbers(2, 1, 2, 2))
    transposed(
        "transpose_stride",
        numbers(1, 2, 2, 3),
        numbers(2, 2, 3, 2),
        numbers(2),
        strides=[2, 3],
        low=[1, 0],
        high=[0, 1],
        extra=[1, 0],
    )
    transposed(
        "transpose_groups", numbers(1, 4, 2, 2), numbers(4, 1, 2, 2), groups=2, dilations=[2, 1]
    )
    transposed(
        "transpose_one_dimension", numbers(2, 1, 3), numbers(1, 2, 2), numbers(2), strides=[2]
    )
    f.write()


def pool():
    f = File("pool", "Results of pools.")

    def one(
        name,
        kind,
        x,
        window,
        strides=None,
        dilations=None,
        low=None,
        high=None,
        include=False,
        counted=None,
        ceil=0,
        column=None,
    ):
        n = x.ndim - 2
        strides, dilations = strides or [1] * n, dilations or [1] * n
        low, high = low or [0] * n, high or [0] * n
        common = f"window = {array(window)}, strides = {array(strides)}, dilations = {array(dilations)}, low = {array(low)}, high = {array(high)}"
        explicit = counted or high
        if kind == "avg":
            # By definition, place by place.
            size = [
                (x.shape[d + 2] + low[d] + high[d] - (window[d] - 1) * dilations[d] - 1)
                // strides[d]
                + 1
                for d in range(n)
            ]
            y = np.zeros(x.shape[:2] + tuple(size))
            for out in np.ndindex(*size):
                total, count = 0.0, 0
                for place in np.ndindex(*window):
                    at = [out[d] * strides[d] + place[d] * dilations[d] - low[d] for d in range(n)]
                    if all(0 <= at[d] < x.shape[d + 2] for d in range(n)):
                        total, count = (
                            total + x[(slice(None), slice(None)) + tuple(at)].astype(np.float64),
                            count + 1,
                        )
                    elif include and all(
                        -low[d] <= at[d] < x.shape[d + 2] + explicit[d] for d in range(n)
                    ):
                        count += 1
                y[(slice(None), slice(None)) + out] = total / count
            f.case(
                name,
                f"dlc.avg_pool %x {{{common}, counted_high = {array(explicit)}{', include_pad' * include}}}",
                {"x": x},
                f32([y]),
            )
        elif column is None:
            y = onnx_eval(
                "MaxPool",
                [x],
                kernel_shape=window,
                strides=strides,
                dilations=dilations,
                pads=low + explicit,
                ceil_mode=ceil,
            )
            f.case(name, f"dlc.max_pool %x {{{common}}}", {"x": x}, f32(y))
        else:
            y, i = onnx_eval(
                "MaxPool",
                [x],
                outputs=2,
                kernel_shape=window,
                strides=strides,
                dilations=dilations,
                pads=low + explicit,
                storage_order=int(column),
            )
            f.case(
                name,
                f"dlc.max_pool_indices %x {{{common}{', column_major' * column}}}",
                {"x": x},
                f32([y])[0],
                i.astype(np.int64),
            )

    distinct = lambda *shape: (rng.permutation(int(np.prod(shape))).reshape(shape) / 4 - 3).astype(
        np.float32
    )
    one("max", "max", distinct(1, 2, 4, 4), [2, 2], strides=[2, 2])
    one("max_padded", "max", -1 - numbers(1, 1, 3, 3, low=0), [3, 3], low=[1, 1], high=[1, 1])
    one("max_dilated", "max", distinct(1, 1, 4, 4), [2, 2], dilations=[2, 1])
    one("max_rounded_up", "max", distinct(1, 1, 5), [2], strides=[2], high=[1], counted=[0], ceil=1)
    one("max_indices", "max", distinct(1, 2, 4, 4), [2, 2], strides=[2, 2], column=False)
    one(
        "max_indices_column_major", "max", distinct(1, 2, 4, 3), [2, 2], strides=[2, 1], column=True
    )
    one("average", "avg", numbers(1, 2, 4, 4), [2, 2], strides=[2, 2])
    one("average_padding_out", "avg", numbers(1, 1, 3, 3), [2, 2], low=[1, 1], high=[1, 1])
    one(
        "average_padding_in",
        "avg",
        numbers(1, 1, 3, 3),
        [2, 2],
        low=[1, 1],
        high=[1, 1],
        include=True,
    )
    one(
        "average_rounded_up",
        "avg",
        numbers(1, 1, 4),
        [3],
        strides=[2],
        low=[1],
        high=[2],
        counted=[1],
        include=True,
    )
    one("average_dilated", "avg", numbers(1, 1, 4, 4), [2, 2], dilations=[1, 2], low=[0, 1])
    f.write()


def norm():
    f = File("norm", "Results of normalisations.")
    x = numbers(2, 3, 4)
    d = x.astype(np.float64)
    for axis in range(3):
        e = np.exp(d - d.max(axis, keepdims=True))
        y = e / e.sum(axis, keepdims=True)
        f.case(f"softmax_{axis}", f"dlc.softmax %x {{axis = {axis} : i64}}", {"x": x}, f32([y]))
        f.case(
            f"log_softmax_{axis}",
            f"dlc.log_softmax %x {{axis = {axis} : i64}}",
            {"x": x},
            f32([(d - d.max(axis, keepdims=True)) - np.log(e.sum(axis, keepdims=True))]),
        )
    s, b = numbers(3, 4, low=0.25), numbers(4, low=0.25)
    for axis, scale, bias in ((1, s, b), (2, b, None), (2, None, b), (0, None, None)):
        names = (
            {"x": x}
            | ({"s": scale} if scale is not None else {})
            | ({"b": bias} if bias is not None else {})
        )
        axes = tuple(range(axis, 3))
        y = (d - d.mean(axes, keepdims=True)) / np.sqrt(d.var(axes, keepdims=True) + 1e-5)
        y = y * (1 if scale is None else scale.astype(np.float64)) + (
            0 if bias is None else bias.astype(np.float64)
        )
        parameters = " scale %s" * (scale is not None) + " bias %b" * (bias is not None)
        f.case(
            f"layer_norm_{axis}{'s' * (scale is not None)}{'b' * (bias is not None)}",
            f"dlc.layer_norm %x{parameters} {{axis = {axis} : i64, eps = 1.0e-5 : f64}}",
            names,
            f32([y]),
        )
    images, c = (
        np.sin(np.arange(24, dtype=np.float32)).reshape(2, 4, 1, 3).round(2),
        (np.arange(4) / 4 + 0.5).astype(np.float32),
    )
    for groups, scale, bias in ((4, None, None), (2, c, None), (1, c, c)):
        names = (
            {"x": images}
            | ({"s": scale} if scale is not None else {})
            | ({"b": bias} if bias is not None else {})
        )
        rows = images.astype(np.float64).reshape(2, groups, -1)
        y = (
            (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + 1e-5)
        ).reshape(images.shape)
        y = y * (1 if scale is None else scale.reshape(4, 1, 1)) + (
            0 if bias is None else bias.reshape(4, 1, 1)
        )
        parameters = " scale %s" * (scale is not None) + " bias %b" * (bias is not None)
        f.case(
            f"group_norm_{groups}",
            f"dlc.group_norm %x{parameters} {{groups = {groups} : i64, eps = 1.0e-5 : f64}}",
            names,
            f32([y]),
        )
    y = d / np.sqrt((d * d).mean(2, keepdims=True) + 1e-3)
    f.case("rms_norm", "dlc.rms_norm %x {axis = 2 : i64, eps = 1.0e-3 : f64}", {"x": x}, f32([y]))
    f.case(
        "rms_norm_scaled",
        "dlc.rms_norm %x, %s {axis = 2 : i64, eps = 1.0e-3 : f64}",
        {"x": x, "s": b},
        f32([y * b.astype(np.float64)]),
    )
    p = [numbers(3), numbers(3), numbers(3), numbers(3, low=0.5)]
    y = onnx_eval("BatchNormalization", [x, *p], epsilon=1e-5)
    f.case(
        "batch_norm",
        "dlc.batch_norm %x, %s, %b, %m, %v {eps = 1.0e-5 : f64}",
        dict(zip("xsbmv", [x, *p])),
        f32(y),
    )
    x = numbers(1, 5, 2, 2)
    for size in (3, 4):
        # By the specification: the evaluator of onnx sums the first channels only.
        d, before = x.astype(np.float64), (size - 1) // 2
        near = lambda c: (d[:, max(0, c - before) : c - before + size] ** 2).sum(1)
        y = [np.stack([d[:, c] / (2.0 + 0.5 / size * near(c)) ** 0.75 for c in range(5)], 1)]
        f.case(
            f"lrn_{size}",
            f"dlc.lrn %x {{size = {size} : i64, alpha = 0.5 : f64, beta = 0.75 : f64, k = 2.0 : f64}}",
            {"x": x},
            f32(y),
        )
    f.write()


def attention():
    f = File("attention", "Results of attention.")

    def one(name, q, k, v, mask=None, causal=False, scale=0.5):
        b = np.zeros(q.shape[:-1] + (k.shape[-2],))
        if mask is not None:
            b = b + (np.where(mask, 0, -np.inf) if mask.dtype == bool else mask.astype(np.float64))
        if causal:
            b = b + np.where(np.tril(np.ones(b.shape[-2:])), 0, -np.inf)
        s = scale * (q.astype(np.float64) @ np.swapaxes(k, -1, -2).astype(np.float64)) + b
        top = s.max(-1, keepdims=True)
        e = np.exp(s - np.where(np.isinf(top), 0, top))
        total = e.sum(-1, keepdims=True)
        y = (e / np.where(total == 0, 1, total)) @ v.astype(np.float64)
        names = {"q": q, "k": k, "v": v} | ({"m": mask} if mask is not None else {})
        f.case(
            name,
            f"dlc.attention {', '.join('%' + n for n in names)} {{scale = {scale} : f64{', causal' * causal}}}",
            names,
            f32([y]),
        )

    q, k, v = numbers(2, 3, 4), numbers(2, 5, 4), numbers(2, 5, 2)
    one("plain", q, k, v)
    one("causal", q, k, v, causal=True)
    one("mask_added", q, k, v, numbers(3, 5))
    hidden = np.array([[True, False, True, True, False], [False] * 5, [True] * 5])
    one("mask_hides", q, k, v, hidden)
    one(
        "heads",
        numbers(2, 2, 2, 3),
        numbers(2, 2, 2, 3),
        numbers(2, 2, 2, 3),
        numbers(2, 1, 1, 2),
        causal=True,
        scale=1.25,
    )

    def train(name, q, k, v, dy, mask=None, causal=False, scale=0.5):
        b = np.zeros(q.shape[:-1] + (k.shape[-2],))
        if mask is not None:
            b = np.where(mask, b, -np.inf)
        if causal:
            b = b + np.where(np.tril(np.ones(b.shape[-2:])), 0, -np.inf)
        seen = ~np.isinf(b)

        def forward(q, k, v):
            e = np.where(seen, np.exp(scale * (q @ np.swapaxes(k, -1, -2))), 0)
            total = e.sum(-1, keepdims=True)
            return e / np.where(total == 0, 1, total) @ v, total[..., 0]

        wide = [x.astype(np.float64) for x in (q, k, v)]
        y, total = forward(*wide)
        with np.errstate(divide="ignore"):
            lse = np.log(total)
        masks = {"m": mask} if mask is not None else {}
        attributes = f"{{scale = {scale} : f64{', causal' * causal}}}"
        names = {"q": q, "k": k, "v": v}
        f.case(
            name,
            f"dlc.attention_train {', '.join('%' + n for n in names | masks)} {attributes}",
            names | masks,
            f32([y, lse]),
        )

        def slope(which):
            """Of sum(dy * y), by a step along the imaginary axis: nothing cancels."""
            gradient = np.zeros(wide[which].shape)
            for index in np.ndindex(*gradient.shape):
                values = [x.astype(complex) for x in wide]
                values[which][index] += 1e-30j
                gradient[index] = (forward(*values)[0] * dy).sum().imag / 1e-30
            return gradient

        def formula(y, lse, dy):
            p = np.where(
                seen,
                np.exp(
                    scale * (wide[0] @ np.swapaxes(wide[1], -1, -2))
                    - np.where(np.isinf(lse), 0, lse)[..., None]
                ),
                0,
            )
            ds = scale * p * (dy @ np.swapaxes(wide[2], -1, -2) - (dy * y).sum(-1, keepdims=True))
            turned = np.swapaxes(ds, -1, -2)
            return [ds @ wide[1], turned @ wide[0], np.swapaxes(p, -1, -2) @ dy]

        # The formula is the gradient; expected is what it gives of the rounded results of the forward operation.
        for found, exact in zip(formula(y, lse, dy), map(slope, range(3))):
            assert np.abs(found - exact).max() < 1e-14
        y, lse = f32([y, lse])
        names = {"q": q, "k": k, "v": v, "y0": y, "l": lse, "dy": dy} | masks
        f.case(
            name + "_grad",
            f"dlc.attention_grad {', '.join('%' + n for n in names)} {attributes}",
            names,
            f32(formula(y.astype(np.float64), lse.astype(np.float64), dy.astype(np.float64))),
        )

    dy = (np.round(np.sin(np.arange(12)) * 32) / 16).astype(np.float32).reshape(2, 3, 2)
    train("train", q, k, v, dy)
    train("train_causal", q, k, v, dy, causal=True)
    train("train_hides", q, k, v, dy, hidden)
    f.write()


def recurrent():
    f = File("recurrent", "Results of recurrent layers.")
    T, N, I, H = 3, 2, 2, 3
    directions = {"forward": 1, "reverse": 1, "both": 2}

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def layer(kind, x, w, r, b, h0, c0, direction, option):
        """The equations of the ONNX specification, direction by direction."""
        x, w, r, b, h0 = (v.astype(np.float64) for v in (x, w, r, b, h0))
        D, H = h0.shape[0], h0.shape[2]
        ys, hs, cs = (
            np.zeros((x.shape[0], D, x.shape[1], H)),
            h0.copy(),
            None if c0 is None else c0.astype(np.float64),
        )
        for d in range(D):
            wb, rb = np.split(b[d], 2)
            steps = range(x.shape[0])
            for t in reversed(steps) if direction == "reverse" or d == 1 else steps:
                h = hs[d]
                xs, rs = x[t] @ w[d].T + wb, h @ r[d].T + rb
                part = lambda a, g: a[:, g * H : (g + 1) * H]
                if kind == "lstm":
                    i, o, g, c = (part(xs + rs, k) for k in range(4))
                    cs[d] = sigmoid(g) * cs[d] + sigmoid(i) * np.tanh(c)
                    hs[d] = sigmoid(o) * np.tanh(cs[d])
                elif kind == "gru":
                    z, reset = (
                        sigmoid(part(xs, 0) + part(rs, 0)),
                        sigmoid(part(xs, 1) + part(rs, 1)),
                    )
                    inner = (
                        reset * part(rs, 2)
                        if option
                        else (reset * h) @ r[d][2 * H :].T + rb[2 * H :]
                    )
                    hs[d] = (1 - z) * np.tanh(part(xs, 2) + inner) + z * h
                else:
                    hs[d] = np.maximum(xs + rs, 0) if option else np.tanh(xs + rs)
                ys[t, d] = hs[d]
        return [ys, hs] + ([] if cs is None else [cs])

    for kind, gates, cases in (
        ("lstm", 4, [("forward", False), ("reverse", False), ("both", False)]),
        ("gru", 3, [("forward", False), ("forward", True), ("both", True)]),
        ("rnn", 1, [("forward", False), ("reverse", True), ("both", False)]),
    ):
        for direction, option in cases:
            D = directions[direction]
            names = {
                "x": numbers(T, N, I),
                "w": numbers(D, gates * H, I, low=-1, high=1),
                "r": numbers(D, gates * H, H, low=-1, high=1),
                "b": numbers(D, 2 * gates * H, low=-1, high=1),
                "h": numbers(D, N, H),
            } | ({"c": numbers(D, N, H)} if kind == "lstm" else {})
            y = layer(kind, *list(names.values())[:5], names.get("c"), direction, option)
            flag = (
                {"lstm": "", "gru": ", linear_before_reset", "rnn": ", relu"}[kind]
                if option
                else ""
            )
            f.case(
                f"{kind}_{direction}{'_option' * option}",
                f"dlc.{kind} {', '.join('%' + n for n in names)} {{direction = #dlc<direction {direction}>{flag}}}",
                names,
                f32(y),
            )
    f.write()


def training():
    """Gradients from other evaluators than ours: of linear operations by what they give for unit vectors, of others as
    derivatives along the imaginary axis."""
    f = File("training", "Results of operations that only training uses.")

    def adjoint(shape, forward, dy):
        """d sum(dy * forward(v)) / dv, for a linear function."""
        gradient = np.zeros(shape)
        for index in np.ndindex(*shape):
            unit = np.zeros(shape)
            unit[index] = 1
            gradient[index] = (forward(unit) * dy.astype(np.float64)).sum()
        return f32([gradient])

    def geometry(strides, dilations, low, high):
        return f"strides = {array(strides)}, dilations = {array(dilations)}, low = {array(low)}, high = {array(high)}"

    def weights(name, x, w, groups=1, strides=None, dilations=None, low=None, high=None):
        n = x.ndim - 2
        strides, dilations, low, high = (
            strides or [1] * n,
            dilations or [1] * n,
            low or [0] * n,
            high or [0] * n,
        )
        forward = lambda v: onnx_eval(
            "Conv", [x, v], strides=strides, dilations=dilations, pads=low + high, group=groups
        )[0]
        dy = numbers(*forward(np.zeros(w)).shape)
        f.case(
            name,
            f"dlc.conv_weight_grad %x, %dy {{window = {array(w[2:])}, {geometry(strides, dilations, low, high)}, "
            f"groups = {groups} : i64}}",
            {"x": x, "dy": dy},
            adjoint(w, forward, dy),
        )

    weights("conv_weight_plain", numbers(2, 2, 3, 3), (2, 2, 2, 2))
    weights(
        "conv_weight_stride",
        numbers(1, 2, 5, 4),
        (2, 2, 3, 2),
        strides=[2, 3],
        low=[1, 0],
        high=[1, 2],
    )
    weights(
        "conv_weight_dilated_groups", numbers(1, 4, 4, 4), (2, 2, 2, 2), groups=2, dilations=[2, 1]
    )
    weights("conv_weight_one_dimension", numbers(2, 1, 5), (2, 1, 3), strides=[2], high=[1])

    distinct = lambda *shape: (rng.permutation(int(np.prod(shape))).reshape(shape) / 4 - 3).astype(
        np.float32
    )
    u8 = lambda values: np.asarray(values, np.uint8)
    window = f"window = array<i64: 2, 2>, {geometry([2, 2], [1, 1], [1, 0], [1, 0])}"
    # In the windows at the edge the first row is padding: positions start at 2 there.
    x = np.array([[[[1, 5, 3, 3], [2, 4, 3, 3]]]], np.float32)
    f.case(
        "positions",
        f"dlc.max_pool_positions %x {{{window}}}",
        {"x": x},
        f32([[[[[5, 3], [4, 3]]]]])[0],
        u8([[[[3, 2], [1, 0]]]]),
        note="The first of equal maxima.",
    )
    for name, x, size, strides, low, high in (
        ("max_pool_disjoint", distinct(1, 2, 4, 4), [2, 2], [2, 2], [0, 0], [0, 0]),
        ("max_pool_overlap", distinct(1, 1, 4, 5), [3, 2], [1, 2], [1, 0], [1, 1]),
    ):
        y, flat = onnx_eval(
            "MaxPool", [x], outputs=2, kernel_shape=size, strides=strides, pads=low + high
        )
        dy = numbers(*y.shape)
        image = x.shape[2:]
        place, dx = np.zeros(y.shape, np.uint8), np.zeros(x.size)
        for index in np.ndindex(*y.shape):
            pixel = int(flat[index]) % (image[0] * image[1])
            row, column = (
                pixel // image[1] - index[2] * strides[0] + low[0],
                pixel % image[1] - index[3] * strides[1] + low[1],
            )
            place[index] = row * size[1] + column
            dx[int(flat[index])] += dy[index]
        common = f"window = {array(size)}, {geometry(strides, [1, 1], low, high)}"
        f.case(name, f"dlc.max_pool_positions %x {{{common}}}", {"x": x}, f32([y])[0], place)
        f.case(
            name + "_gradient",
            f"dlc.max_pool_grad %dy, %p {{spatial = {array(image)}, {common}}}",
            {"dy": dy, "p": place},
            f32([dx.reshape(x.shape)]),
        )

    for name, shape, include, low, high in (
        ("average", (1, 2, 4, 3), 0, [0, 0], [0, 0]),
        ("average_padding_out", (1, 1, 3, 3), 0, [1, 1], [1, 0]),
        ("average_padding_in", (1, 1, 3, 3), 1, [1, 1], [1, 0]),
    ):

        def forward(v):
            # The evaluator of onnx counts padding wrongly here and there: by definition.
            size = [v.shape[d + 2] + low[d] + high[d] - 1 for d in range(2)]
            y = np.zeros(v.shape[:2] + tuple(size))
            for out in np.ndindex(*size):
                at = [(max(0, o - l), min(n, o - l + 2)) for o, l, n in zip(out, low, v.shape[2:])]
                part = v[:, :, at[0][0] : at[0][1], at[1][0] : at[1][1]]
                y[(slice(None), slice(None)) + out] = part.sum((2, 3)) / (
                    4 if include else part.shape[2] * part.shape[3]
                )
            return y

        dy = numbers(*forward(np.zeros(shape)).shape)
        f.case(
            name,
            f"dlc.avg_pool_grad %dy {{spatial = {array(shape[2:])}, window = array<i64: 2, 2>, "
            f"{geometry([1, 1], [1, 1], low, high)}, counted_high = {array(high)}{', include_pad' * include}}}",
            {"dy": dy},
            adjoint(shape, forward, dy),
        )

    x, dy, scale, bias, eps = (
        numbers(3, 2, 2, 2),
        numbers(3, 2, 2, 2),
        numbers(2, low=0.5),
        numbers(2),
        1e-3,
    )
    wide = [v.astype(np.float64) for v in (x, dy, scale, bias)]
    across = lambda v: np.asarray(v).reshape(1, -1, 1, 1)

    def normal(x, scale, bias):
        mean = x.sum((0, 2, 3)) / 12
        centred = x - across(mean)
        variance = (centred * centred).sum((0, 2, 3)) / 12
        return (
            centred / np.sqrt(across(variance) + eps) * across(scale) + across(bias),
            mean,
            variance,
        )

    y, mean, variance = normal(wide[0], wide[2], wide[3])
    f.case(
        "batch_norm_train",
        f"dlc.batch_norm_train %x, %s, %b {{eps = {eps:.1e} : f64}}",
        {"x": x, "s": scale, "b": bias},
        f32([y, mean, variance]),
    )

    def slope(which):
        """Of sum(dy * y), by a step along the imaginary axis: nothing cancels."""
        gradient = np.zeros(wide[which].shape)
        for index in np.ndindex(*gradient.shape):
            values = [v.astype(complex) for v in wide]
            values[which][index] += 1e-30j
            gradient[index] = (
                normal(values[0], values[2], values[3])[0] * wide[1]
            ).sum().imag / 1e-30
        return gradient

    # The statistics as f64 are exact enough that the gradients round to the same f32.
    names = dict(zip(("x", "dy", "s", "m", "v"), (x, dy, scale, mean, variance)))
    f.case(
        "batch_norm_grad",
        f"dlc.batch_norm_grad %x, %dy, %s, %m, %v {{eps = {eps:.1e} : f64}}",
        names,
        f32([slope(0), slope(2), slope(3)]),
    )
    f.write()
