"""Writes random functions of dlc operations: random_graphs.py SEED FUNCTIONS OPERATIONS [images | hybrids].

With `images`, values have the shape [N, C, H, W], and the operations include convolutions and pooling. With `hybrids`, functions convert images to
sequences and back: patches, attention whose keys are computed by a strided convolution, windows, shuffled channels, several joined scales.
"""

import random
import sys

seed, functions, count = map(int, sys.argv[1:4])
hybrids = "hybrids" in sys.argv
images = "images" in sys.argv or hybrids
random.seed(seed)


def tensor(shape, element="f32"):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


class Function:
    def __init__(self, name):
        self.name, self.lines, self.values, self.next, self.drawn_before = name, [], [], 0, []

    def emit(self, text, operands, shape, element="f32", keep=True):
        """text holds {0}, {1} for operands, which are (name, shape, element)."""
        name = f"%v{self.next}"
        self.next += 1
        types = ", ".join(tensor(s, e) for _, s, e in operands)
        self.lines.append(
            f"  {name} = dlc.{text.format(*[n for n, _, _ in operands])} : ({types}) -> {tensor(shape, element)}"
        )
        value = (name, tuple(shape), element)
        if keep:
            self.values.append(value)
        return value

    def constant(self, numbers, element="f32", shape=()):
        name = f"%c{self.next}"
        self.next += 1
        self.lines.append(f"  {name} = dlc.constant dense<{numbers}> : {tensor(shape, element)}")
        return (name, tuple(shape), element)

    def pick(self, condition=lambda shape: True):
        found = [value for value in self.values if condition(value[1])]
        # Recent values more often: chains are what fusion is about.
        return found[-1 - min(int(random.expovariate(0.4)), len(found) - 1)] if found else None

    def add_image(self):
        kind = random.choice(
            ["conv"] * 4
            + ["pool", "scale", "shift", "concat", "gate", "turn", "residual", "residual"]
        )
        x = self.pick(lambda o: len(o) == 4 and min(o[2:]) > 1 and o[1] <= 64)
        n, c, h, w = x[1]
        ones = "strides = array<i64: {0}, {0}>, dilations = array<i64: 1, 1>, low = array<i64: {1}, {1}>, high = array<i64: {1}, {1}>"
        if kind == "conv":
            k, stride = random.choice([1, 3, 3]), random.choice([1, 1, 2])
            groups = random.choice([g for g in (1, 1, 1, c) if c % g == 0])
            o = c if groups > 1 else random.choice([8, 16, 24, 32])
            to = (n, o, (h - 1) // stride + 1, (w - 1) // stride + 1)
            y = self.emit(
                f"conv {{0}}, {{1}} {{{{{ones.format(stride, k // 2)}, groups = {groups} : i64}}}}",
                [x, self.drawn((o, c // groups, k, k))],
                to,
                keep=random.random() < 0.3,
            )
            self.emit(random.choice(["relu", "tanh", "sigmoid", "sin"]) + " {0}", [y], to)
        elif kind == "pool":
            to = (n, c, (h - 1) // 2 + 1, (w - 1) // 2 + 1)
            if random.random() < 0.5:
                self.emit(
                    f"max_pool {{0}} {{{{window = array<i64: 3, 3>, {ones.format(2, 1)}}}}}",
                    [x],
                    to,
                )
            else:
                self.emit(
                    f"avg_pool {{0}} {{{{window = array<i64: 3, 3>, {ones.format(2, 1)}, counted_high = array<i64: 1, 1>, include_pad}}}}",
                    [x],
                    to,
                )
        elif kind in ("scale", "shift"):
            v = self.constant(
                [[[round(random.uniform(-1, 1), 3)]] for _ in range(c)], "f32", (c, 1, 1)
            )
            self.emit(("mul" if kind == "scale" else "add") + " {0}, {1}", [x, v], x[1])
        elif kind == "concat":
            y = self.pick(
                lambda o: len(o) == 4 and o[0] == n and o[2:] == (h, w) and o[1] + c <= 64
            )
            if y:
                self.emit("concat 1 ({0}, {1})", [x, y], (n, c + y[1][1], h, w))
        elif kind == "gate":
            m = self.emit("reduce mean {0} axes [2, 3] keepdims", [x], (n, c, 1, 1))
            g = self.emit("sigmoid {0}", [m], (n, c, 1, 1))
            self.emit("mul {0}, {1}", [x, g], x[1])
        elif kind == "turn":
            self.emit("transpose {0} [0, 2, 3, 1]", [x], (n, h, w, c))
        elif kind == "residual":
            y = self.pick(lambda o: o == x[1])
            self.emit("add {0}, {1}", [x, y], x[1])

    def reshape(self, x, shape):
        return self.emit("reshape {0}", [x], shape, keep=random.random() < 0.1)

    def turn(self, x, order):
        return self.emit(
            f"transpose {{0}} [{', '.join(map(str, order))}]",
            [x],
            [x[1][d] for d in order],
            keep=random.random() < 0.1,
        )

    def drawn(self, shape):
        """Weights."""
        name = f"%w{self.next}"
        self.next += 1
        self.lines.append(
            f"  {name} = dlc.random normal %counter seed {1000 + self.next} : (tensor<i64>) -> {tensor(shape)}"
        )
        drawn = (name, tuple(shape), "f32")
        if len(shape) < 2 or shape[-1] == 1 == shape[-2] and len(shape) == 3:
            return drawn
        # Sums of many products stay small: large ones would make rounding of all that follows.
        terms = shape[0] if len(shape) == 2 else shape[1] * shape[2] * shape[3]
        return self.emit(
            "mul {0}, {1}", [drawn, self.constant(round(terms**-0.5, 4))], shape, keep=False
        )

    def linear(self, x, width):
        """A product with weights, and some of what follows products."""
        known = [w for w in self.drawn_before if w[1] == (x[1][-1], width)]
        w = (
            random.choice(known)
            if known and random.random() < 0.2
            else self.drawn((x[1][-1], width))
        )
        self.drawn_before.append(w)
        to = x[1][:-1] + (width,)
        y = self.emit("matmul {0}, {1}", [x, w], to, keep=False)
        for _ in range(random.choice([0, 0, 1, 1, 2, 3])):
            kind = random.choice(["bias", "scale", "act", "residual", "scalar"])
            if kind in ("bias", "scale"):
                y = self.emit(
                    ("add" if kind == "bias" else "mul") + " {0}, {1}",
                    [y, self.drawn((width,))],
                    to,
                    keep=False,
                )
            elif kind == "act":
                y = self.emit(
                    random.choice(["relu", "gelu", "sigmoid", "tanh"]) + " {0}", [y], to, keep=False
                )
            elif kind == "scalar":
                y = self.emit("mul {0}, {1}", [y, self.constant(0.25)], to, keep=False)
            elif other := self.pick(lambda o: o == to):
                y = self.emit("add {0}, {1}", [y, other], to, keep=False)
        return self.emit("tanh {0}", [y], to) if random.random() < 0.5 else y

    def image_tokens(self, x):
        n, c, h, w = x[1]
        return self.turn(self.reshape(x, (n, c, h * w)), [0, 2, 1])

    def token_image(self, x, h, w):
        n, t, c = x[1]
        if random.random() < 0.5:
            return self.reshape(self.turn(x, [0, 2, 1]), (n, c, h, w))
        return self.turn(self.reshape(x, (n, h, w, c)), [0, 3, 1, 2])

    def convolution(self, x, o, k, stride, groups=1):
        n, c, h, w = x[1]
        low = (k - stride) // 2 if k > stride else 0
        to = (n, o, (h + 2 * low - k) // stride + 1, (w + 2 * low - k) // stride + 1)
        text = (
            f"conv {{0}}, {{1}} {{{{strides = array<i64: {stride}, {stride}>, dilations = array<i64: 1, 1>, low = array<i64: {low}, {low}>, "
            f"high = array<i64: {low}, {low}>, groups = {groups} : i64}}}}"
        )
        return self.emit(text, [x, self.drawn((o, c // groups, k, k))], to, keep=False)

    def attend(self, x):
        """Of an image's pixels, with keys and values of a smaller one."""
        n, c, h, w = x[1]
        heads = random.choice([d for d in (1, 1, 2, 4) if c % d == 0])
        tokens = self.image_tokens(x)
        keys = tokens
        if h % 2 == 0 and w % 2 == 0 and random.random() < 0.6:
            keys = self.image_tokens(self.convolution(x, c, 2, 2))
        if random.random() < 0.5:
            keys = self.emit(
                "layer_norm {0} {{axis = 2 : i64, eps = 0.1 : f64}}", [keys], keys[1], keep=False
            )
        q, k, v = (
            self.turn(
                self.reshape(self.linear(each, c), (n, each[1][1], heads, c // heads)), [0, 2, 1, 3]
            )
            for each in (tokens, keys, keys)
        )
        to = (n, heads, h * w, c // heads)
        if random.random() < 0.5:
            y = self.emit(
                "attention {0}, {1}, {2} {{scale = 0.25 : f64}}", [q, k, v], to, keep=False
            )
        else:
            scores = (n, heads, h * w, k[1][2])
            s = self.emit("matmul {0}, {1} transpose_b", [q, k], scores, keep=False)
            s = self.emit("mul {0}, {1}", [s, self.constant(0.25)], scores, keep=False)
            y = self.emit(
                "matmul {0}, {1}",
                [self.emit("softmax {0} {{axis = 3 : i64}}", [s], scores, keep=False), v],
                to,
                keep=False,
            )
        y = self.linear(self.reshape(self.turn(y, [0, 2, 1, 3]), (n, h * w, c)), c)
        if random.random() < 0.7:
            y = self.emit("add {0}, {1}", [y, tokens], tokens[1])
        self.values.append(self.token_image(y, h, w))

    def windows(self, x):
        """Products over windows of 2x2 pixels, and back."""
        n, c, h, w = x[1]
        x = self.turn(x, [0, 2, 3, 1])
        parts = self.reshape(
            self.turn(self.reshape(x, (n, h // 2, 2, w // 2, 2, c)), [0, 1, 3, 2, 4, 5]),
            (n * h * w // 4, 4, c),
        )
        y = self.linear(parts, c)
        if random.random() < 0.5:
            y = self.emit(
                "matmul {0}, {1}",
                [
                    self.emit(
                        "matmul {0}, {1} transpose_b", [y, parts], (y[1][0], 4, 4), keep=False
                    ),
                    y,
                ],
                y[1],
                keep=False,
            )
            y = self.emit("tanh {0}", [y], y[1], keep=False)
        y = self.reshape(
            self.turn(self.reshape(y, (n, h // 2, w // 2, 2, 2, c)), [0, 1, 3, 2, 4, 5]),
            (n, h, w, c),
        )
        self.values.append(self.turn(y, [0, 3, 1, 2]))

    def resized(self, x, factor):
        n, c, h, w = x[1]
        if factor == 1:
            return x
        y = self.emit(
            "broadcast {0}",
            [self.reshape(x, (n, c, h, 1, w, 1))],
            (n, c, h, factor, w, factor),
            keep=False,
        )
        return self.reshape(y, (n, c, h * factor, w * factor))

    def join(self, x):
        """Several scales as one image."""
        n, c, h, w = x[1]
        parts = [x] + [
            v
            for v in self.values
            if len(v[1]) == 4
            and v[1][0] == n
            and v[1] != x[1]
            and h % v[1][2] == 0
            and h // v[1][2] == w / v[1][3]
        ][-3:]
        parts = [self.resized(p, h // p[1][2]) for p in parts]
        channels = sum(p[1][1] for p in parts)
        if len(parts) > 1 and channels <= 64:
            y = self.emit(
                f"concat 1 ({', '.join(f'{{{i}}}' for i in range(len(parts)))})",
                parts,
                (n, channels, h, w),
                keep=False,
            )
            z = self.convolution(y, random.choice([8, 16]), 1, 1)
            self.emit("relu {0}", [z], z[1])

    def add_hybrid(self):
        x = self.pick(lambda o: len(o) == 4 and min(o[2:]) > 1 and o[1] <= 32)
        n, c, h, w = x[1]
        kind = random.choice(
            [
                "attention",
                "perceptron",
                "depthwise",
                "windows",
                "shuffle",
                "join",
                "gate",
                "strided",
                "tokens",
                "scale",
                "groups",
            ]
        )
        even = h % 2 == 0 and w % 2 == 0
        if kind == "attention" and h * w <= 64:
            self.attend(x)
        elif kind == "perceptron":
            t = self.image_tokens(x)
            if random.random() < 0.5:
                t = self.emit(
                    "layer_norm {0} {{axis = 2 : i64, eps = 0.1 : f64}}", [t], t[1], keep=False
                )
            inner = random.choice([c, 2 * c])
            y = self.linear(t, inner)
            if random.random() < 0.5:
                y = self.image_tokens(
                    self.convolution(self.token_image(y, h, w), inner, 3, 1, inner)
                )
                y = self.emit("gelu {0}", [y], y[1], keep=False)
            self.values.append(self.token_image(self.linear(y, c), h, w))
        elif kind == "depthwise":
            y = self.turn(self.convolution(x, c, random.choice([3, 5]), 1, c), [0, 2, 3, 1])
            y = self.emit(
                "layer_norm {0} {{axis = 3 : i64, eps = 0.1 : f64}}", [y], y[1], keep=False
            )
            y = self.linear(self.linear(y, 2 * c), c)
            y = self.turn(y, [0, 3, 1, 2])
            self.emit("add {0}, {1}", [y, x], x[1])
        elif kind == "groups":
            groups = random.choice([d for d in (1, 2, 4, c) if c % d == 0])
            if random.random() < 0.5:
                y = self.emit(
                    f"group_norm {{0}} {{{{groups = {groups} : i64, eps = 0.1 : f64}}}}",
                    [x],
                    x[1],
                    keep=False,
                )
            else:
                y = self.emit(
                    "layer_norm {0} {{axis = 2 : i64, eps = 0.1 : f64}}",
                    [self.reshape(x, (n, groups, c * h * w // groups))],
                    (n, groups, c * h * w // groups),
                    keep=False,
                )
                y = self.reshape(y, x[1])
            if random.random() < 0.7:
                y = self.emit("mul {0}, {1}", [y, self.drawn((c, 1, 1))], x[1], keep=False)
            self.emit("add {0}, {1}", [y, self.convolution(y, c, 3, 1)], x[1])
        elif kind == "windows" and even:
            self.windows(x)
        elif kind == "shuffle" and c % 4 == 0:
            y = self.reshape(
                self.turn(self.reshape(x, (n, 4, c // 4, h, w)), [0, 2, 1, 3, 4]), x[1]
            )
            self.emit("tanh {0}", [y], x[1])
        elif kind == "join":
            self.join(x)
        elif kind == "gate" and c % 2 == 0:
            a, b = (
                self.emit(
                    f"slice {{0}} start [0, {s}, 0, 0] size [{n}, {c // 2}, {h}, {w}] stride [1, 1, 1, 1]",
                    [x],
                    (n, c // 2, h, w),
                    keep=False,
                )
                for s in (0, c // 2)
            )
            self.emit("mul {0}, {1}", [a, self.emit("sigmoid {0}", [b], a[1], keep=False)], a[1])
        elif kind == "strided" and even:
            corners = [
                self.emit(
                    f"slice {{0}} start [0, 0, {i}, {j}] size [{n}, {c}, {h // 2}, {w // 2}] stride [1, 1, 2, 2]",
                    [x],
                    (n, c, h // 2, w // 2),
                    keep=False,
                )
                for i in (0, 1)
                for j in (0, 1)
            ]
            y = self.emit(
                "concat 1 ({0}, {1}, {2}, {3})", corners, (n, 4 * c, h // 2, w // 2), keep=False
            )
            self.values.append(self.convolution(y, random.choice([8, 16]), 1, 1))
        elif kind == "tokens":
            self.values.append(self.image_tokens(x))
        elif kind == "scale":
            self.emit("mul {0}, {1}", [x, self.drawn((c, 1, 1))], x[1])

    def add(self):
        if hybrids and random.random() < 0.6:
            return self.add_hybrid()
        if images and random.random() < 0.8:
            return self.add_image()
        kind = random.choice(
            ["unary"] * 6
            + ["binary"] * 8
            + ["scalar"] * 4
            + ["reduce"] * 4
            + ["matmul"] * 3
            + [
                "reshape",
                "transpose",
                "transpose",
                "slice",
                "concat",
                "pad",
                "softmax",
                "norm",
                "select",
                "topk",
                "broadcast",
                "gather",
            ]
        )
        x = self.pick()
        name, shape, _ = x
        rank = len(shape)
        if kind == "unary":
            self.emit(
                f"{random.choice(['tanh', 'sin', 'sigmoid', 'relu', 'abs', 'neg', 'erf', 'gelu'])} {{0}}",
                [x],
                shape,
            )
        elif kind == "scalar":
            c = self.constant(random.choice([0.5, 2.0, 1.0, -1.5, 0.0]))
            operation = random.choice(["add", "mul", "max", "min", "sub"])
            self.emit(f"{operation} {{0}}, {{1}}", random.choice([[x, c], [c, x]]), shape)
        elif kind == "binary":

            def fits(other):
                return len(other) <= rank and all(
                    o in (1, s) for o, s in zip(other[::-1], shape[::-1])
                )

            y = self.pick(fits)
            self.emit(f"{random.choice(['add', 'mul', 'sub', 'max'])} {{0}}, {{1}}", [x, y], shape)
        elif kind == "reduce" and rank:
            axes = sorted(random.sample(range(rank), random.randint(1, min(2, rank))))
            keep = random.random() < 0.7
            to = [1 if d in axes else s for d, s in enumerate(shape) if keep or d not in axes]
            self.emit(
                f"reduce {random.choice(['sum', 'mean', 'max', 'min'])} {{0}} axes [{', '.join(map(str, axes))}]"
                + (" keepdims" if keep else ""),
                [x],
                to,
            )
            self.emit("tanh {0}", [self.values[-1]], to)
        elif kind == "matmul" and rank >= 2:
            transposed = random.random() < 0.5

            def fits(other):
                return (
                    len(other) >= 2
                    and other[-1 if transposed else -2] == shape[-1]
                    and (len(other) == 2 or other[:-2] == shape[:-2])
                )

            y = self.pick(fits)
            if y:
                n = y[1][-2 if transposed else -1]
                to = shape[:-1] + (n,)
                z = self.emit(
                    "matmul {0}, {1}" + (" transpose_b" if transposed else ""),
                    [x, y],
                    to,
                    keep=False,
                )
                self.emit("tanh {0}", [z], to)
        elif kind == "reshape":
            size = 1
            for s in shape:
                size *= s
            choices = [[size], [1] + list(shape), list(shape) + [1], [size, 1]]
            for d, s in enumerate(shape):
                for f in (2, 3, 4):
                    if s % f == 0:
                        choices.append(list(shape[:d]) + [f, s // f] + list(shape[d + 1 :]))
                if d + 1 < rank:
                    choices.append(list(shape[:d]) + [s * shape[d + 1]] + list(shape[d + 2 :]))
            to = random.choice([c for c in choices if len(c) <= 5])
            self.emit("reshape {0}", [x], to)
        elif kind == "transpose" and rank > 1:
            order = random.sample(range(rank), rank)
            self.emit(
                f"transpose {{0}} [{', '.join(map(str, order))}]", [x], [shape[d] for d in order]
            )
        elif kind == "slice" and rank:
            start = [random.randint(0, s - 1) for s in shape]
            size = [random.randint(1, s - b) for s, b in zip(shape, start)]
            stride = [1] * rank
            if random.random() < 0.4:
                stride = [random.randint(1, 3) for _ in shape]
                size = [(s - b - 1) // d + 1 for s, b, d in zip(shape, start, stride)]
            self.emit(f"slice {{0}} start {start} size {size} stride {stride}", [x], size)
        elif kind == "concat" and rank:
            axis = random.randrange(rank)
            y = self.pick(
                lambda o: (
                    len(o) == rank
                    and all(a == b for d, (a, b) in enumerate(zip(o, shape)) if d != axis)
                )
            )
            if shape[axis] + y[1][axis] <= 24:
                to = list(shape)
                to[axis] += y[1][axis]
                self.emit(f"concat {axis} ({{0}}, {{1}})", [x, y], to)
        elif kind == "pad" and rank:
            low, high = [random.randint(0, 1) for _ in shape], [random.randint(0, 1) for _ in shape]
            to = [s + a + b for s, a, b in zip(shape, low, high)]
            if max(to) <= 24:
                c = self.constant(random.choice([0.0, 0.5]))
                self.emit(f"pad constant {{0}}, {{1}} low {low} high {high}", [x, c], to)
        elif kind == "softmax" and rank:
            self.emit(f"softmax {{0}} {{{{axis = {random.randrange(rank)} : i64}}}}", [x], shape)
        elif kind == "norm" and rank:
            self.emit(
                f"layer_norm {{0}} {{{{axis = {random.randrange(rank)} : i64, eps = 0.1 : f64}}}}",
                [x],
                shape,
            )
        elif kind == "select":
            c = self.constant(0.1)
            b = self.emit("compare gt {0}, {1}", [x, c], shape, "i1", keep=False)
            y = self.pick(lambda o: o == shape)
            self.emit("select {0}, {1}, {2}", [b, x, y], shape)
        elif kind == "topk" and rank and shape[-1] > 1:
            to = list(shape)
            to[-1] = 1
            name = f"%v{self.next}"
            self.next += 1
            self.lines.append(
                f"  {name}, {name}_i = dlc.topk {x[0]} {{k = 1 : i64, axis = {rank - 1} : i64}} : ({tensor(shape)}) -> ({tensor(to)}, {tensor(to, 'i64')})"
            )
            self.values.append((name, tuple(to), "f32"))
        elif kind == "broadcast" and rank < 4:
            to = [2] + [s if s != 1 else 3 for s in shape]
            self.emit("broadcast {0}", [x], to)
        elif kind == "gather" and rank:
            axis = random.randrange(rank)
            picks = [
                random.randint(-shape[axis], shape[axis] - 1) for _ in range(random.randint(1, 3))
            ]
            c = self.constant(picks, "i64", [len(picks)])
            to = list(shape)
            to[axis] = len(picks)
            self.emit(f"gather {axis} {{0}}, {{1}}", [x, c], to)


for f in range(functions):
    function = Function(f"f{f}")
    counter = function.constant(0, "i64")
    function.lines[-1] = function.lines[-1].replace(counter[0], "%counter")
    counter = ("%counter",) + counter[1:]
    shapes = (
        [(1, 3, 8, 8), (2, 16, 6, 6), (1, 8, 5, 7)]
        if images
        else [(2, 4, 6), (4, 6), (6,), (4, 1), (6, 4), (2, 6, 4)]
    )
    for i, shape in enumerate(shapes):
        name = f"%x{i}"
        function.lines.append(
            f"  {name} = dlc.random normal {counter[0]} seed {f * 100 + i} : (tensor<i64>) -> {tensor(shape)}"
        )
        function.values.append((name, shape, "f32"))
    inputs = len(function.values)
    for _ in range(count):
        function.add()
        # Large values make many operations of nothing but rounding.
        while (
            function.values
            and len(function.values[-1][1])
            and eval("*".join(map(str, function.values[-1][1]))) > (6000 if images else 2000)
        ):
            function.values.pop()
    results = random.sample(function.values[inputs:], min(4, len(function.values) - inputs)) + [
        function.values[-1]
    ]
    # Large results would be printed as blobs: a corner of them will do.
    for i, (name, shape, _) in enumerate(results):
        if eval("*".join(map(str, shape + (1,)))) > 500:
            size = [min(s, 4) for s in shape]
            results[i] = function.emit(
                f"slice {{0}} start {[s - z for s, z in zip(shape, size)]} size {size} stride {[1] * len(shape)}",
                [results[i]],
                size,
            )
    results = list(dict.fromkeys(results))
    types = ", ".join(tensor(s) for _, s, _ in results)
    print(f"func.func @{function.name}() -> ({types}) {{")
    print("\n".join(function.lines))
    print(f"  return {', '.join(n for n, _, _ in results)} : {types}\n}}")
