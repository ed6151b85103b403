"""The benchmark networks in JAX: make_training_step(name, batch, precision) returns a function that runs one SGD step and returns its loss.

Parameters and batch are PyTorch's (same_start.py). Images are [N, H, W, C], the layout of XLA's fast convolutions. Running statistics of batch norm are
updated, as in PyTorch. In bf16, inputs and parameters are cast for all layers; statistics, softmax and the loss are computed in f32.
"""

import jax
import jax.numpy as jnp
from jax import lax

import same_start

RATE = {"fcn-r": 0.05}


class ParameterReader:
    """Reads the parameters of a network one by one, in the order in which the network uses them."""

    def __init__(self, given, dtype):
        self.given, self.dtype, self.statistics, self.next = given, dtype, [], 0

    def take(self, *shape):
        value = self.given[self.next]
        self.next += 1
        if value.shape != shape:
            raise ValueError(f"parameter {self.next - 1} must be {shape}, found {value.shape}")
        return value.astype(self.dtype)

    def linear(self, x, out):
        return x @ self.take(x.shape[-1], out) + self.take(out)

    def conv(self, x, out, window, stride=1, padding="SAME", bias=True):
        y = lax.conv_general_dilated(
            x,
            self.take(window, window, x.shape[-1], out),
            (stride, stride),
            padding,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        return y + self.take(out) if bias else y

    def norm(self, x):
        scale, shift = self.take(x.shape[-1]), self.take(x.shape[-1])
        wide = x.astype(jnp.float32)
        mean, variance = wide.mean((0, 1, 2)), wide.var((0, 1, 2))
        count = x.size // x.shape[-1]
        self.statistics += [mean, variance * (count / (count - 1))]
        return ((wide - mean) * (lax.rsqrt(variance + 1e-5) * scale) + shift).astype(x.dtype)

    def layer_norm(self, x):
        scale, shift = self.take(x.shape[-1]), self.take(x.shape[-1])
        wide = x.astype(jnp.float32)
        mean, variance = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
        return ((wide - mean) * lax.rsqrt(variance + 1e-5) * scale + shift).astype(x.dtype)


def pool(x, window, stride, padding, by=lax.max, start=-jnp.inf):
    pads = ((0, 0), padding, padding, (0, 0)) if isinstance(padding, tuple) else padding
    return lax.reduce_window(x, start, by, (1, window, window, 1), (1, stride, stride, 1), pads)


def perceptron(*widths):
    def forward(p, x):
        for i, width in enumerate(widths):
            x = p.linear(jax.nn.sigmoid(x) if i else x, width)
        return x

    return forward


def alexnet_s(p, x):
    for out, window, stride, pooled in (
        (96, 11, 4, True),
        (256, 5, 1, True),
        (384, 3, 1, False),
        (384, 3, 1, False),
        (256, 3, 1, True),
    ):
        x = jax.nn.relu(p.conv(x, out, window, stride))
        x = pool(x, 3, 2, "SAME") if pooled else x
    x = x.reshape(x.shape[0], -1)
    for out in (4096, 4096):
        x = jax.nn.relu(p.linear(x, out))
    return p.linear(x, 1000)


def alexnet_r(p, x):
    x = jax.nn.relu(pool(p.conv(x, 32, 5), 3, 2, (0, 1)))
    for out in (32, 64):
        x = jax.nn.relu(p.conv(x, out, 5))
        ones = pool(jnp.ones_like(x[:1, :, :, :1]), 3, 2, (0, 1), lax.add, 0.0)
        x = pool(x, 3, 2, (0, 1), lax.add, 0.0) / ones
    return p.linear(x.reshape(x.shape[0], -1), 10)


def resnet_50(p, x):
    three = lambda x, out, stride: p.conv(x, out, 3, stride, ((1, 1), (1, 1)), False)
    x = jax.nn.relu(p.norm(p.conv(x, 64, 7, 2, ((3, 3), (3, 3)), False)))
    x = pool(x, 3, 2, (1, 1))
    for stage, count in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for i in range(count):
            stride = 2 if stage and i == 0 else 1
            y = jax.nn.relu(p.norm(p.conv(x, width, 1, bias=False)))
            y = jax.nn.relu(p.norm(three(y, width, stride)))
            y = p.norm(p.conv(y, 4 * width, 1, bias=False))
            x = jax.nn.relu(
                y + (p.norm(p.conv(x, 4 * width, 1, stride, "VALID", False)) if i == 0 else x)
            )
    return p.linear(x.mean((1, 2)), 1000)


def resnet_56(p, x):
    three = lambda x, out, stride=1: p.conv(x, out, 3, stride, ((1, 1), (1, 1)), False)
    x = jax.nn.relu(p.norm(three(x, 16)))
    for stage in range(3):
        width = 16 << stage
        for i in range(9):
            stride = 2 if stage and i == 0 else 1
            y = p.norm(three(jax.nn.relu(p.norm(three(x, width, stride))), width))
            if stride == 2:
                x = pool(x, 2, 2, "VALID", lax.add, 0.0) / 4
                x = jnp.pad(x, ((0, 0), (0, 0), (0, 0), (width // 4, width // 4)))
            x = x + y
    return p.linear(x.mean((1, 2)), 10)


def language_model(p, ids):
    table = p.take(10000, 256)
    x = jnp.take(table, ids, 0).swapaxes(0, 1)
    for _ in range(2):
        w, r, b = p.take(256, 1024), p.take(256, 1024), p.take(1024) + p.take(1024)
        projected = x @ w + b

        def cell(state, each):
            h, c = state
            i, f, g, o = jnp.split(each + h @ r, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((x.shape[1], 256))
        x = lax.scan(cell, (zero, zero), projected)[1]
    return p.linear(x.swapaxes(0, 1), 10000)


def bert(p, ids):
    """An encoder with the shape of BERT-base: 12 layers, width 768, 12 heads, GELU, layer norm after each residual sum (post-norm)."""
    words, positions = p.take(30522, 768), p.take(512, 768)
    x = p.layer_norm(jnp.take(words, ids, 0) + positions[: ids.shape[1]])
    for _ in range(12):
        q, k, v = jnp.split(p.linear(x, 3 * 768).reshape(*ids.shape, 3 * 12, 64), 3, 2)
        h = jax.nn.dot_product_attention(q, k, v).reshape(*ids.shape, 768)
        x = p.layer_norm(x + p.linear(h, 768))
        x = p.layer_norm(x + p.linear(jax.nn.gelu(p.linear(x, 3072), approximate=False), 768))
    return p.linear(x[:, 0], 2)


NETWORKS = {
    "fcn-s": perceptron(2048, 2048, 2048, 26752),
    "fcn-r": perceptron(2048, 4096, 1024, 10),
    "alexnet-s": alexnet_s,
    "alexnet-r": alexnet_r,
    "resnet-50": resnet_50,
    "resnet-56": resnet_56,
    "lstm": language_model,
    "bert": bert,
}


def make_training_step(name, batch=0, precision="f32"):
    forward, dtype = NETWORKS[name], {"f32": jnp.float32, "bf16": jnp.bfloat16}[precision]
    made, x, t = same_start.load_start(name, batch)
    made, x, t = [jnp.asarray(p) for p in made], jnp.asarray(x), jnp.asarray(t)
    batch = x.shape[0]

    def loss(parameters, x, t):
        p = ParameterReader(parameters, dtype)
        y = forward(p, x.astype(dtype) if x.dtype == jnp.float32 else x).astype(jnp.float32)
        each = jax.nn.logsumexp(y, -1) - jnp.take_along_axis(y, t[..., None], -1)[..., 0]
        return each.sum() / batch, p.statistics

    def update(parameters, running, x, t):
        (value, statistics), gradients = jax.value_and_grad(loss, has_aux=True)(parameters, x, t)
        if name == "lstm":
            norm = jnp.sqrt(sum(jnp.sum(g * g) for g in gradients))
            gradients = [g * jnp.minimum(1, 5 / (norm + 1e-6)) for g in gradients]
        rate = RATE.get(name, 0.01)
        return (
            [p - rate * g for p, g in zip(parameters, gradients)],
            [0.9 * r + 0.1 * s for r, s in zip(running, statistics)],
            value,
        )

    fast = jax.jit(update, donate_argnums=(0, 1))
    statistics = jax.eval_shape(lambda p: loss(p, x, t)[1], made)
    state = [made, [jnp.zeros(s.shape) for s in statistics]]

    def run():
        state[0], state[1], value = fast(state[0], state[1], x, t)
        return float(value)

    return run
