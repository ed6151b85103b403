"""A row of operators.py: one ONNX operator with its operands and attributes."""

from dataclasses import dataclass, field


@dataclass
class Operand:
    shape: tuple
    kind: str = "float32"
    constant: bool = False
    given: object = None  # elements of the operand; None: random elements
    low: float = None  # bounds of a uniform distribution, for operands to which a normal distribution does not apply
    high: float = None

    def value(self, rng):
        import numpy as np

        if self.given is not None:
            return np.asarray(self.given, self.kind)
        if self.kind == "bool":
            return rng.random(self.shape) < 0.5
        if np.dtype(self.kind).kind in "iu":
            return rng.integers(self.low or 0, self.high, self.shape).astype(self.kind)
        if self.low is not None:
            return rng.uniform(self.low, self.high, self.shape).astype(self.kind)
        size = max(1, np.prod(self.shape[1:])) if self.constant and len(self.shape) > 1 else 1
        return (rng.standard_normal(self.shape) / np.sqrt(size)).astype(self.kind)


@dataclass
class Row:
    name: str
    op: str
    operands: list
    attributes: dict = field(default_factory=dict)
    outputs: int = 1
    opset: int = 20
    domain: str = ""


def x(*shape, **more):
    """Returns an operand with this shape that is an input of the model."""
    return Operand(shape, **more)


def w(*shape, **more):
    """Returns an operand that is a weight: a random constant with this shape."""
    return Operand(shape, constant=True, **more)


def c(*values, kind="int64"):
    """Returns an operand that is a constant vector with these values."""
    return Operand((len(values),), kind, True, values)


def scalar_constant(value, kind="float32"):
    return Operand((), kind, True, value)


def index_operand(high, *shape, kind="int64"):
    return Operand(shape, kind, low=0, high=high)


def format_shape(shape):
    return "x".join(map(str, shape))
