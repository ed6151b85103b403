"""JAX functions, compiled by dlc.from_jax, compared with jax.jit."""

import copy

import numpy as np
import pytest

import dlc

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax


def array(*shape, seed=0, scale=1.0):
    return (np.random.RandomState(seed).randn(*shape) * scale).astype("float32")


def same(found, wanted, tolerance=1e-5):
    """Checks that two trees are equal up to a tolerance relative to the largest element of each leaf."""
    found, tree = jax.tree_util.tree_flatten(found)
    wanted, wanted_tree = jax.tree_util.tree_flatten(wanted)
    assert tree == wanted_tree
    for one, other in zip(found, wanted):
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape and one.dtype == other.dtype
        if one.dtype.kind in "fV":
            one, other = one.astype("float64"), other.astype("float64")
            assert (np.isnan(one) == np.isnan(other)).all()
            finite = np.isfinite(other)
            assert (one[~finite & ~np.isnan(other)] == other[~finite & ~np.isnan(other)]).all()
            assert np.abs(one[finite] - other[finite]).max(initial=0) <= tolerance * max(
                np.abs(other[finite]).max(initial=0), 1e-30
            )
        else:
            assert (one == other).all()


def check(function, *arguments, tolerance=1e-5):
    net = dlc.from_jax(function, *arguments)
    same(net(*arguments), jax.jit(function)(*arguments), tolerance)
    return net


def linear(weights, x):
    return x @ weights["w"] + weights["b"]


def mlp_weights():
    sizes = [8, 16, 16, 4]
    return [
        {"w": array(n, m, seed=i, scale=0.3), "b": array(m, seed=i + 9, scale=0.1)}
        for i, (n, m) in enumerate(zip(sizes, sizes[1:]))
    ]


def mlp(weights, x):
    for layer in weights[:-1]:
        x = jax.nn.gelu(linear(layer, x))
    return linear(weights[-1], x)


def mlp_loss(weights, x, y):
    return jnp.mean((mlp(weights, x) - y) ** 2)


def test_mlp():
    net = check(mlp, mlp_weights(), array(5, 8))
    assert [value.shape for value in net.outputs] == [(5, 4)]
    assert "weights[0]['w']" in [value.name for value in net.inputs]


def test_gradients():
    check(jax.value_and_grad(mlp_loss), mlp_weights(), array(5, 8), array(5, 4))


def test_training():
    """Twenty steps of gradient descent with momentum."""

    def step(weights, velocity, x, y):
        loss, gradient = jax.value_and_grad(mlp_loss)(weights, x, y)
        velocity = jax.tree_util.tree_map(lambda v, g: 0.9 * v + g, velocity, gradient)
        return loss, jax.tree_util.tree_map(lambda w, v: w - 0.05 * v, weights, velocity), velocity

    weights = mlp_weights()
    velocity = jax.tree_util.tree_map(np.zeros_like, weights)
    batches = [(array(32, 8, seed=i), array(32, 4, seed=i + 100)) for i in range(20)]
    net = dlc.from_jax(step, weights, velocity, *batches[0])
    losses = {"dlc": [], "jax": []}
    for name, function in (("dlc", net), ("jax", jax.jit(step))):
        w, v = weights, velocity
        for x, y in batches:
            loss, w, v = function(w, v, x, y)
            losses[name].append(float(loss))
    np.testing.assert_allclose(losses["dlc"], losses["jax"], rtol=1e-5)


def cnn(weights, x):
    dims = ("NHWC", "HWIO", "NHWC")
    x = jax.nn.relu(
        lax.conv_general_dilated(x, weights["c1"], (1, 1), "SAME", dimension_numbers=dims)
    )
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jax.nn.relu(
        lax.conv_general_dilated(
            x, weights["c2"], (2, 2), "SAME", dimension_numbers=dims, feature_group_count=2
        )
    )
    x = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "SAME") / 4
    return jax.nn.log_softmax(x.reshape(x.shape[0], -1) @ weights["w"])


def cnn_weights():
    return {
        "c1": array(3, 3, 3, 8, scale=0.3),
        "c2": array(3, 3, 4, 16, seed=1, scale=0.3),
        "w": array(144, 10, seed=2, scale=0.1),
    }


def test_cnn():
    check(cnn, cnn_weights(), array(2, 12, 12, 3))


def test_cnn_gradients():
    def loss(weights, x, label):
        return -jnp.take_along_axis(cnn(weights, x), label[:, None], axis=1).mean()

    check(
        jax.value_and_grad(loss),
        cnn_weights(),
        array(4, 12, 12, 3),
        np.array([1, 3, 9, 0], "int32"),
        tolerance=2e-5,
    )


def norm(x, weights):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * weights["g"] + weights["b"]


def transformer(weights, tokens):
    x = weights["embedding"][tokens]
    batch, length, width = x.shape
    heads = 4
    q, k, v = (
        linear(weights[name], norm(x, weights["n1"]))
        .reshape(batch, length, heads, -1)
        .transpose(0, 2, 1, 3)
        for name in "qkv"
    )
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(width // heads)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    x = x + linear(
        weights["o"],
        (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(batch, length, width),
    )
    return x + linear(
        weights["down"],
        jax.nn.gelu(linear(weights["up"], norm(x, weights["n2"])), approximate=False),
    )


def transformer_weights():
    def layer(n, m, seed):
        return {"w": array(n, m, seed=seed, scale=0.2), "b": array(m, seed=seed + 50, scale=0.1)}

    weights = {name: layer(32, 32, i) for i, name in enumerate("qkvo")}
    weights |= {
        "up": layer(32, 64, 7),
        "down": layer(64, 32, 8),
        "embedding": array(50, 32, seed=9),
    }
    return weights | {
        name: {"g": 1 + array(32, seed=i, scale=0.1), "b": array(32, seed=i, scale=0.1)}
        for i, name in enumerate(("n1", "n2"))
    }


TOKENS = np.array([[1, 5, 49, 0, 7, 7], [3, 2, 1, 0, -1, 60]], "int32")


def test_transformer():
    check(transformer, transformer_weights(), TOKENS)


def test_transformer_gradients():
    def gradients(weights, tokens):
        found = jax.grad(lambda weights: (transformer(weights, tokens) ** 2).mean())(weights)
        # The softmax does not depend on the bias of the keys, so its gradient is rounding errors.
        found["k"].pop("b")
        return found

    check(gradients, transformer_weights(), TOKENS[:, :4], tolerance=2e-5)


def scanned(x, n):
    carry, products = lax.scan(lambda c, row: (c + row, c * row), x[0], x)
    powers = lax.fori_loop(0, 1000, lambda i, c: c * 0.999 + i, x)
    until = lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 2), (0, x))
    return carry, products, powers, until, lax.cond(n > 2, lambda x: x + 1, lambda x: x - 1, x)


def indexed(x, i, n):
    return {
        "take": x[i],
        "along": jnp.take_along_axis(x, n, axis=1),
        "set": x.at[i].set(1.0),
        "add": x.at[i, 1].add(2.0),
        "slice": lax.dynamic_slice(x, (i[0], i[1]), (2, 2)),
        "update": lax.dynamic_update_slice(x, x[:2, :2], (i[1], 0)),
        "sort": jnp.sort(x, axis=0),
        "argsort": jnp.argsort(x, axis=1),
        "argmax": jnp.argmax(x, axis=1),
        "argmin": jnp.argmin(x),
        "top": lax.top_k(x, 2),
        "cumsum": jnp.cumsum(x, axis=0),
        "any": jnp.any(x > 1, axis=1),
        "segments": jax.ops.segment_sum(x, i[jnp.array([0, 1, 1, 0])], num_segments=4),
    }


def numeric(x, i):
    return (
        jnp.round(x),
        x // 0.3,
        x % 0.3,
        i // 3,
        i % -3,
        jnp.power(x, 3),
        jnp.exp2(x),
        jnp.cbrt(x),
        jnp.logaddexp(x, 1.0),
        jnp.sinh(x),
        jnp.isfinite(x),
        jnp.float32(i) * x,
        (x * 100).astype("int8"),
        jnp.clip(x, -0.5, 0.5),
        jnp.linalg.norm(x),
        jnp.std(x, axis=0),
        jnp.prod(x, axis=1),
        jax.scipy.special.erf(x),
    )


@pytest.mark.parametrize(
    "function, arguments",
    [
        (scanned, (array(4, 5), 7)),
        (indexed, (array(4, 5), np.array([1, 3], "int32"), np.array([[0, 1]] * 4, "int32"))),
        (numeric, (array(4, 5), np.arange(-10, 10, dtype="int32").reshape(4, 5))),
    ],
)
def test_operations(function, arguments):
    check(function, *arguments)


def test_random_numbers():
    """Bits are equal; numbers made of them are, too, up to rounding of functions."""
    net = check(
        lambda key: (
            jax.random.bits(key, (5,)),
            jax.random.uniform(key, (7,)),
            jax.random.normal(key, (3, 3)),
        ),
        jax.random.PRNGKey(3),
    )
    assert net.inputs[0].dtype == "u32"
    check(lambda key: jax.random.permutation(key, 6), jax.random.key(1))


def test_bfloat16():
    x = jnp.asarray(array(4, 8), jnp.bfloat16)
    check(lambda x: (x @ x.T, jnp.sum(x), jax.nn.silu(x)), x, tolerance=1e-2)


def test_arrays():
    """JAX arrays in, JAX arrays out; numbers and other element types are converted as jax.jit does."""
    net = dlc.from_jax(lambda x, s: x * s, jnp.ones((2, 3)), 2.0)
    y = net(jnp.full((2, 3), 3.0), 4)
    assert isinstance(y, jax.Array) and (y == 12).all()
    assert isinstance(net(np.ones((2, 3)), np.float64(0.5)), np.ndarray)
    assert (copy.copy(net)(np.ones((2, 3)), 3.0) == 3).all()


def test_text(tmp_path):
    """The text that JAX prints is a model file."""
    x = array(5, 8)
    lowered = jax.jit(mlp).lower(mlp_weights(), x)
    path = tmp_path / "mlp.mlir"
    path.write_text(lowered.as_text(), encoding="utf-8")
    net = dlc.compile(path)
    leaves = jax.tree_util.tree_leaves((mlp_weights(), x))
    same(net(*leaves), jax.jit(mlp)(mlp_weights(), x))


def test_errors():
    with pytest.raises(TypeError, match="required: the structure"):
        dlc.from_jax(lambda x: x + 1, array(3))({"x": array(3)})
    with pytest.raises(
        ValueError,
        match=r"'stablehlo.custom_call' \(.*test_jax.py:\d+\): required: a custom call that",
    ):
        dlc.from_jax(lambda x: jnp.linalg.cholesky(x), array(8, 8))
    with pytest.raises(TypeError, match="required: a function"):
        dlc.from_jax(3, array(3))
    with pytest.raises(ValueError, match="cannot be pickled"):
        dlc.from_jax(lambda x: x + 1, array(3)).__reduce__()


def test_without_jax(python):
    """A clear message where JAX is missing."""
    printed = python(
        "import sys; sys.modules['jax'] = None\nimport dlc\n"
        "try:\n    dlc.from_jax(abs, 1.0)\nexcept ImportError as error:\n    print(error)"
    )
    assert "required: the package jax" in printed
