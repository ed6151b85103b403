"""A random case of one ONNX operator, and random values for its inputs."""

import numpy as np

F, I32, I64, U8, S8 = np.float32, np.int32, np.int64, np.uint8, np.int8


class Case:
    """One node: its inputs (None: left out), which of them are constants of the model, its attributes, and what its outputs may differ by.

    `unit`: the results' step of quantization, where what is quantized on the way may round to either side of it; floats may then differ by this much in
    one element of a thousand. `expected`: NumPy's results, where ONNX Runtime has no kernel for processors. `valid`: of each output the part that means
    something."""

    def __init__(
        self,
        inputs,
        outputs=1,
        constants=(),
        attributes=None,
        unit=0.0,
        expected=None,
        valid=None,
        domain="com.microsoft",
    ):
        self.inputs, self.outputs, self.constants, self.attributes = (
            inputs,
            outputs,
            set(constants),
            attributes or {},
        )
        self.unit, self.expected, self.valid, self.domain = (
            unit,
            expected,
            valid or (lambda i, x: x),
            domain,
        )


def floats(rng, *shape, scale=1.0):
    return (scale * rng.standard_normal(shape)).astype(F)


def integers(rng, kind, *shape):
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max + 1, shape).astype(kind)


def kind_of(rng):
    return (U8, S8)[rng.integers(2)]


def maybe(rng, value, share=0.5):
    return value if rng.random() < share else None


def step(rng, low=0.002, high=0.05):
    return F(rng.uniform(low, high))


def shape_of(rng, low=1, high=4):
    return [int(d) for d in rng.integers(1, 6, rng.integers(low, high + 1))]


def vector(rng, n, scale=0.2):
    return floats(rng, n, scale=scale)


def around_one(rng, n):
    return (1 + 0.2 * rng.standard_normal(n)).astype(F)


def real(x, scale, zero):
    return (x.astype(F) - (0 if zero is None else zero.astype(F))) * scale


def rounded(y, scale, zero, kind):
    limits = np.iinfo(kind)
    return np.clip(
        np.rint(y / scale) + (0 if zero is None else float(zero)), limits.min, limits.max
    ).astype(kind)


def window(rng):
    attributes = {"strides": [int(v) for v in rng.integers(1, 3, 2)]}
    if rng.random() < 0.3:
        attributes["auto_pad"] = ("SAME_UPPER", "SAME_LOWER", "VALID")[rng.integers(3)]
    else:
        attributes["pads"] = [int(v) for v in rng.integers(0, 2, 4)]
    return attributes
