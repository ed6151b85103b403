"""Writes random functions of dlc operations: random_graphs.py SEED FUNCTIONS OPERATIONS [images].

With `images`, values are [N, C, H, W], and convolutions and pools are among the operations.
"""
import random
import sys

seed, functions, count = map(int, sys.argv[1:4])
images = "images" in sys.argv
random.seed(seed)


def tensor(shape, element="f32"):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


class Function:
    def __init__(self, name):
        self.name, self.lines, self.values, self.next = name, [], [], 0

    def emit(self, text, operands, shape, element="f32", keep=True):
        """text holds {0}, {1} for operands, which are (name, shape, element)."""
        name = f"%v{self.next}"
        self.next += 1
        types = ", ".join(tensor(s, e) for _, s, e in operands)
        self.lines.append(f"  {name} = dlc.{text.format(*[n for n, _, _ in operands])} : ({types}) -> {tensor(shape, element)}")
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
        kind = random.choice(["conv"] * 4 + ["pool", "scale", "shift", "concat", "gate", "turn", "residual", "residual"])
        x = self.pick(lambda o: len(o) == 4 and min(o[2:]) > 1 and o[1] <= 64)
        n, c, h, w = x[1]
        ones = "strides = array<i64: {0}, {0}>, dilations = array<i64: 1, 1>, low = array<i64: {1}, {1}>, high = array<i64: {1}, {1}>"
        if kind == "conv":
            k, stride = random.choice([1, 3, 3]), random.choice([1, 1, 2])
            groups = random.choice([g for g in (1, 1, 1, c) if c % g == 0])
            o = c if groups > 1 else random.choice([8, 16, 24, 32])
            to = (n, o, (h - 1) // stride + 1, (w - 1) // stride + 1)
            name = f"%w{self.next}"
            self.lines.append(f"  {name} = dlc.random normal %counter seed {1000 + self.next} : (tensor<i64>) -> {tensor((o, c // groups, k, k))}")
            y = self.emit(f"conv {{0}}, {{1}} {{{{{ones.format(stride, k // 2)}, groups = {groups} : i64}}}}",
                          [x, (name, (o, c // groups, k, k), "f32")], to, keep=random.random() < 0.3)
            self.emit(random.choice(["relu", "tanh", "sigmoid", "sin"]) + " {0}", [y], to)
        elif kind == "pool":
            to = (n, c, (h - 1) // 2 + 1, (w - 1) // 2 + 1)
            if random.random() < 0.5:
                self.emit(f"max_pool {{0}} {{{{window = array<i64: 3, 3>, {ones.format(2, 1)}}}}}", [x], to)
            else:
                self.emit(f"avg_pool {{0}} {{{{window = array<i64: 3, 3>, {ones.format(2, 1)}, counted_high = array<i64: 1, 1>, include_pad}}}}", [x], to)
        elif kind in ("scale", "shift"):
            v = self.constant([[[round(random.uniform(-1, 1), 3)]] for _ in range(c)], "f32", (c, 1, 1))
            self.emit(("mul" if kind == "scale" else "add") + " {0}, {1}", [x, v], x[1])
        elif kind == "concat":
            y = self.pick(lambda o: len(o) == 4 and o[0] == n and o[2:] == (h, w) and o[1] + c <= 64)
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

    def add(self):
        if images and random.random() < 0.8:
            return self.add_image()
        kind = random.choice(["unary"] * 6 + ["binary"] * 8 + ["scalar"] * 4 + ["reduce"] * 4 + ["matmul"] * 3 + [
            "reshape", "transpose", "transpose", "slice", "concat", "pad", "softmax", "norm", "select", "topk", "broadcast", "gather"])
        x = self.pick()
        name, shape, _ = x
        rank = len(shape)
        if kind == "unary":
            self.emit(f"{random.choice(['tanh', 'sin', 'sigmoid', 'relu', 'abs', 'neg', 'erf', 'gelu'])} {{0}}", [x], shape)
        elif kind == "scalar":
            c = self.constant(random.choice([0.5, 2.0, 1.0, -1.5, 0.0]))
            operation = random.choice(["add", "mul", "max", "min", "sub"])
            self.emit(f"{operation} {{0}}, {{1}}", random.choice([[x, c], [c, x]]), shape)
        elif kind == "binary":
            def fits(other):
                return len(other) <= rank and all(o in (1, s) for o, s in zip(other[::-1], shape[::-1]))
            y = self.pick(fits)
            self.emit(f"{random.choice(['add', 'mul', 'sub', 'max'])} {{0}}, {{1}}", [x, y], shape)
        elif kind == "reduce" and rank:
            axes = sorted(random.sample(range(rank), random.randint(1, min(2, rank))))
            keep = random.random() < 0.7
            to = [1 if d in axes else s for d, s in enumerate(shape) if keep or d not in axes]
            self.emit(f"reduce {random.choice(['sum', 'mean', 'max', 'min'])} {{0}} axes [{', '.join(map(str, axes))}]"
                      + (" keepdims" if keep else ""), [x], to)
            self.emit("tanh {0}", [self.values[-1]], to)
        elif kind == "matmul" and rank >= 2:
            transposed = random.random() < 0.5
            def fits(other):
                return len(other) >= 2 and other[-1 if transposed else -2] == shape[-1] and (
                    len(other) == 2 or other[:-2] == shape[:-2])
            y = self.pick(fits)
            if y:
                n = y[1][-2 if transposed else -1]
                to = shape[:-1] + (n,)
                z = self.emit("matmul {0}, {1}" + (" transpose_b" if transposed else ""), [x, y], to, keep=False)
                self.emit("tanh {0}", [z], to)
        elif kind == "reshape":
            size = 1
            for s in shape:
                size *= s
            choices = [[size], [1] + list(shape), list(shape) + [1], [size, 1]]
            for d, s in enumerate(shape):
                for f in (2, 3, 4):
                    if s % f == 0:
                        choices.append(list(shape[:d]) + [f, s // f] + list(shape[d + 1:]))
                if d + 1 < rank:
                    choices.append(list(shape[:d]) + [s * shape[d + 1]] + list(shape[d + 2:]))
            to = random.choice([c for c in choices if len(c) <= 5])
            self.emit("reshape {0}", [x], to)
        elif kind == "transpose" and rank > 1:
            order = random.sample(range(rank), rank)
            self.emit(f"transpose {{0}} [{', '.join(map(str, order))}]", [x], [shape[d] for d in order])
        elif kind == "slice" and rank:
            start = [random.randint(0, s - 1) for s in shape]
            size = [random.randint(1, s - b) for s, b in zip(shape, start)]
            self.emit(f"slice {{0}} start {start} size {size} stride {[1] * rank}", [x], size)
        elif kind == "concat" and rank:
            axis = random.randrange(rank)
            y = self.pick(lambda o: len(o) == rank and all(a == b for d, (a, b) in enumerate(zip(o, shape)) if d != axis))
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
            self.emit(f"layer_norm {{0}} {{{{axis = {random.randrange(rank)} : i64, eps = 0.1 : f64}}}}", [x], shape)
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
            self.lines.append(f"  {name}, {name}_i = dlc.topk {x[0]} {{k = 1 : i64, axis = {rank - 1} : i64}} : ({tensor(shape)}) -> ({tensor(to)}, {tensor(to, 'i64')})")
            self.values.append((name, tuple(to), "f32"))
        elif kind == "broadcast" and rank < 4:
            to = [2] + [s if s != 1 else 3 for s in shape]
            self.emit("broadcast {0}", [x], to)
        elif kind == "gather" and rank:
            axis = random.randrange(rank)
            picks = [random.randint(-shape[axis], shape[axis] - 1) for _ in range(random.randint(1, 3))]
            c = self.constant(picks, "i64", [len(picks)])
            to = list(shape)
            to[axis] = len(picks)
            self.emit(f"gather {axis} {{0}}, {{1}}", [x, c], to)


for f in range(functions):
    function = Function(f"f{f}")
    counter = function.constant(0, "i64")
    function.lines[-1] = function.lines[-1].replace(counter[0], "%counter")
    counter = ("%counter",) + counter[1:]
    shapes = [(1, 3, 8, 8), (2, 16, 6, 6), (1, 8, 5, 7)] if images else [(2, 4, 6), (4, 6), (6,), (4, 1), (6, 4), (2, 6, 4)]
    for i, shape in enumerate(shapes):
        name = f"%x{i}"
        function.lines.append(f"  {name} = dlc.random normal {counter[0]} seed {f * 100 + i} : (tensor<i64>) -> {tensor(shape)}")
        function.values.append((name, shape, "f32"))
    inputs = len(function.values)
    for _ in range(count):
        function.add()
        # Large values make many operations of nothing but rounding.
        while function.values and len(function.values[-1][1]) and eval("*".join(map(str, function.values[-1][1]))) > (6000 if images else 2000):
            function.values.pop()
    results = random.sample(function.values[inputs:], min(4, len(function.values) - inputs)) + [function.values[-1]]
    # Large results would be printed as blobs: a corner of them will do.
    for i, (name, shape, _) in enumerate(results):
        if eval("*".join(map(str, shape + (1,)))) > 500:
            size = [min(s, 4) for s in shape]
            results[i] = function.emit(f"slice {{0}} start {[s - z for s, z in zip(shape, size)]} size {size} stride {[1] * len(shape)}", [results[i]], size)
    results = list(dict.fromkeys(results))
    types = ", ".join(tensor(s) for _, s, _ in results)
    print(f"func.func @{function.name}() -> ({types}) {{")
    print("\n".join(function.lines))
    print(f"  return {', '.join(n for n, _, _ in results)} : {types}\n}}")
