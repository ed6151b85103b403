"""The benchmark networks in TensorFlow: make_training_step(name, batch, precision, threads, xla) returns a function that runs one SGD step and returns its loss.

Parameters and batch are PyTorch's (same_start.py). Images are [N, H, W, C], the layout of TensorFlow's fast convolutions. Running statistics of batch norm
are updated, as in PyTorch. In bf16, inputs and parameters are cast for all layers; statistics, softmax and the loss are computed in f32.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

import same_start

RATE = {"fcn-r": 0.05}


class ParameterReader:
    """Reads the parameters of a network one by one, in the order in which the network uses them."""

    def __init__(self, variables, running, dtype):
        self.variables, self.running, self.dtype, self.next, self.norms = (
            variables,
            running,
            dtype,
            0,
            0,
        )

    def raw(self, *shape):
        value = self.variables[self.next]
        self.next += 1
        if tuple(value.shape) != shape:
            raise ValueError(
                f"parameter {self.next - 1} must be {shape}, found {tuple(value.shape)}"
            )
        return value

    def take(self, *shape):
        return tf.cast(self.raw(*shape), self.dtype)

    def linear(self, x, out):
        w, b = self.take(x.shape[-1], out), self.take(out)
        if x.shape.rank == 2:
            return tf.nn.bias_add(x @ w, b)
        return tf.reshape(
            tf.nn.bias_add(tf.reshape(x, (-1, x.shape[-1])) @ w, b), (*x.shape[:-1], out)
        )

    def conv(self, x, out, window, stride=1, pad=None, bias=True):
        w = self.take(window, window, x.shape[-1], out)
        y = tf.nn.conv2d(
            x, w, stride, "SAME" if pad is None else [[0, 0], [pad, pad], [pad, pad], [0, 0]]
        )
        return tf.nn.bias_add(y, self.take(out)) if bias else y

    def norm(self, x):
        scale, shift = self.raw(x.shape[-1]), self.raw(x.shape[-1])
        y, *statistics = tf.compat.v1.nn.fused_batch_norm(
            x, scale, shift, epsilon=1e-5, is_training=True
        )
        for value in statistics:
            kept = self.running(self.norms, x.shape[-1])
            kept.assign(0.9 * kept + 0.1 * value)
            self.norms += 1
        return y

    def layer_norm(self, x):
        scale, shift = self.raw(x.shape[-1]), self.raw(x.shape[-1])
        wide = tf.cast(x, tf.float32)
        mean, variance = tf.nn.moments(wide, -1, keepdims=True)
        return tf.cast(tf.nn.batch_normalization(wide, mean, variance, shift, scale, 1e-5), x.dtype)


def perceptron(*widths):
    def forward(p, x):
        for i, width in enumerate(widths):
            x = p.linear(tf.sigmoid(x) if i else x, width)
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
        x = tf.nn.relu(p.conv(x, out, window, stride))
        x = tf.nn.max_pool2d(x, 3, 2, "SAME") if pooled else x
    x = tf.reshape(x, (x.shape[0], -1))
    for out in (4096, 4096):
        x = tf.nn.relu(p.linear(x, out))
    return p.linear(x, 1000)


def alexnet_r(p, x):
    x = tf.nn.relu(tf.nn.max_pool2d(p.conv(x, 32, 5), 3, 2, "SAME"))
    for out in (32, 64):
        x = tf.nn.avg_pool2d(tf.nn.relu(p.conv(x, out, 5)), 3, 2, "SAME")
    return p.linear(tf.reshape(x, (x.shape[0], -1)), 10)


def resnet_50(p, x):
    x = tf.nn.relu(p.norm(p.conv(x, 64, 7, 2, 3, False)))
    x = tf.nn.max_pool2d(x, 3, 2, [[0, 0], [1, 1], [1, 1], [0, 0]])
    for stage, count in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for i in range(count):
            stride = 2 if stage and i == 0 else 1
            y = tf.nn.relu(p.norm(p.conv(x, width, 1, bias=False)))
            y = tf.nn.relu(p.norm(p.conv(y, width, 3, stride, 1, False)))
            y = p.norm(p.conv(y, 4 * width, 1, bias=False))
            x = tf.nn.relu(y + (p.norm(p.conv(x, 4 * width, 1, stride, 0, False)) if i == 0 else x))
    return p.linear(tf.reduce_mean(x, (1, 2)), 1000)


def resnet_56(p, x):
    x = tf.nn.relu(p.norm(p.conv(x, 16, 3, 1, 1, False)))
    for stage in range(3):
        width = 16 << stage
        for i in range(9):
            stride = 2 if stage and i == 0 else 1
            y = tf.nn.relu(p.norm(p.conv(x, width, 3, stride, 1, False)))
            y = p.norm(p.conv(y, width, 3, 1, 1, False))
            if stride == 2:
                x = tf.pad(
                    tf.nn.avg_pool2d(x, 2, 2, "VALID"),
                    [[0, 0], [0, 0], [0, 0], [width // 4, width // 4]],
                )
            x = x + y
    return p.linear(tf.reduce_mean(x, (1, 2)), 10)


def language_model(p, ids):
    x = tf.gather(p.take(10000, 256), ids)
    steps = ids.shape[1]
    for _ in range(2):
        w, r, b = p.take(256, 1024), p.take(256, 1024), p.take(1024) + p.take(1024)
        projected = tf.reshape(
            tf.reshape(tf.transpose(x, (1, 0, 2)), (-1, 256)) @ w + b, (steps, -1, 1024)
        )
        h = c = tf.zeros((ids.shape[0], 256), x.dtype)
        given = []
        for each in tf.unstack(projected):
            i, f, g, o = tf.split(each + h @ r, 4, -1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
            given.append(h)
        x = tf.stack(given, 1)
    return p.linear(x, 10000)


def bert(p, ids):
    """An encoder with the shape of BERT-base: 12 layers, width 768, 12 heads, GELU, layer norm after each residual sum (post-norm)."""
    batch, tokens = ids.shape
    words, positions = p.take(30522, 768), p.take(512, 768)
    x = p.layer_norm(tf.gather(words, ids) + positions[:tokens])
    for _ in range(12):
        q, k, v = tf.unstack(
            tf.transpose(
                tf.reshape(p.linear(x, 3 * 768), (batch, tokens, 3, 12, 64)), (2, 0, 3, 1, 4)
            )
        )
        weights = tf.nn.softmax(tf.cast(tf.matmul(q, k, transpose_b=True), tf.float32) / 8)
        h = tf.reshape(
            tf.transpose(tf.cast(weights, x.dtype) @ v, (0, 2, 1, 3)), (batch, tokens, 768)
        )
        x = p.layer_norm(x + p.linear(h, 768))
        x = p.layer_norm(x + p.linear(tf.nn.gelu(p.linear(x, 3072)), 768))
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


def make_training_step(name, batch, precision, threads, xla):
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    arrays, x, t = same_start.load_start(name, batch)
    variables = [tf.Variable(a) for a in arrays]
    del arrays
    x, t = tf.constant(x), tf.constant(t)
    dtype = {"f32": tf.float32, "bf16": tf.bfloat16}[precision]
    statistics = []

    def running(i, channels):
        if i == len(statistics):
            with tf.init_scope():
                statistics.append(tf.Variable(tf.zeros(channels)))
        return statistics[i]

    def loss(x, t):
        p = ParameterReader(variables, running, dtype)
        y = tf.cast(
            NETWORKS[name](p, tf.cast(x, dtype) if x.dtype == tf.float32 else x), tf.float32
        )
        return tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(t, y)) / x.shape[0]

    @tf.function(jit_compile=xla)
    def update(x, t):
        with tf.GradientTape() as tape:
            value = loss(x, t)
        gradients = tape.gradient(value, variables)
        if name == "lstm":
            gradients = tf.clip_by_global_norm(gradients, 5)[0]
        rate = RATE.get(name, 0.01)
        for variable, gradient in zip(variables, gradients):
            if isinstance(gradient, tf.IndexedSlices):
                variable.scatter_sub(tf.IndexedSlices(rate * gradient.values, gradient.indices))
            elif gradient is not None:
                variable.assign_sub(rate * gradient)
        return value

    return lambda: float(update(x, t))
