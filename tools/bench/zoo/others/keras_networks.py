"""Keras networks, converted from TensorFlow graphs by tf2onnx."""

import os

from . import Table

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
NETWORKS = Table("keras-", exporters=["keras"])
WORDS = 20000


def add_keras_application(name, size):
    def make():
        import keras

        return getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3)), {}

    NETWORKS.add(name.lower(), make)


for name, size in (
    ("MobileNetV2", 224),
    ("MobileNetV3Small", 224),
    ("EfficientNetB0", 224),
    ("EfficientNetV2B0", 224),
    ("NASNetMobile", 224),
    ("Xception", 299),
    ("InceptionV3", 299),
    ("DenseNet121", 224),
    ("ResNet50V2", 224),
    ("ConvNeXtTiny", 224),
):
    add_keras_application(name, size)


def own(network):
    """Decorator that adds a network made of layers.
    The function takes Keras and its layers, and returns the input, the result and the bounds of integer inputs."""

    def make():
        import keras

        x, result, bounds = network(keras, keras.layers)
        return keras.Model(x, result), bounds

    NETWORKS.add(network.__name__, make)


def token_input(keras, length):
    return keras.Input((length,), batch_size=1, dtype="int32", name="tokens")


@own
def bilstm_text(keras, L):
    i = token_input(keras, 200)
    x = L.Bidirectional(L.LSTM(64, return_sequences=True))(L.Embedding(WORDS, 128)(i))
    return i, L.Dense(1, activation="sigmoid")(L.Bidirectional(L.LSTM(64))(x)), {"tokens": WORDS}


@own
def bilstm_text_masked(keras, L):
    i = token_input(keras, 200)
    return (
        i,
        L.Dense(4, activation="softmax")(
            L.Bidirectional(L.LSTM(64))(L.Embedding(WORDS, 128, mask_zero=True)(i))
        ),
        {"tokens": WORDS},
    )


@own
def gru_seq(keras, L):
    i = keras.Input((128, 40), batch_size=1, name="frames")
    x = L.GRU(128, return_sequences=True, reset_after=False)(L.GRU(128, return_sequences=True)(i))
    return i, L.TimeDistributed(L.Dense(30, activation="softmax"))(x), {}


@own
def conv_lstm_series(keras, L):
    i = keras.Input((240, 8), batch_size=1, name="series")
    x = L.Conv1D(64, 5, padding="causal", activation="relu")(i)
    x = L.MaxPooling1D(2)(L.Conv1D(64, 5, padding="same", dilation_rate=2, activation="relu")(x))
    return i, L.Dense(24)(L.LSTM(48)(L.LSTM(96, return_sequences=True)(x))), {}


@own
def convlstm2d(keras, L):
    x = i = keras.Input((10, 40, 40, 1), batch_size=1, name="video")
    for size in (5, 3):
        x = L.BatchNormalization()(L.ConvLSTM2D(32, size, padding="same", return_sequences=True)(x))
    return i, L.Conv3D(1, 3, padding="same", activation="sigmoid")(x), {}


@own
def transformer_block(keras, L):
    i = token_input(keras, 128)
    x = L.Embedding(WORDS, 256)(i) + L.Embedding(128, 256)(keras.ops.arange(128))
    for _ in range(2):
        x = L.LayerNormalization(epsilon=1e-6)(x + L.MultiHeadAttention(8, 32)(x, x))
        x = L.LayerNormalization(epsilon=1e-6)(
            x + L.Dense(256)(L.Dense(1024, activation="gelu")(x))
        )
    return (
        i,
        L.Dense(2, activation="softmax")(
            L.Dense(20, activation="relu")(L.GlobalAveragePooling1D()(x))
        ),
        {"tokens": WORDS},
    )


def perturb_constant_weights(model):
    """Perturbs weights that are constant at initialization and would hide errors, like initialize_as_trained() of listing.py."""
    import numpy as np

    rng = np.random.default_rng(0)
    for weight in model.weights:
        value = weight.numpy()
        if value.dtype.kind == "f" and value.size > 1 and value.min() == value.max():
            weight.assign(value + 0.1 * rng.standard_normal(value.shape))


def convert_to_onnx(row):
    """Converts the network of a row. Returns the ONNX model, and the bounds of its integer inputs by name, as (bound, None)."""
    import keras
    import tensorflow as tf
    import tf2onnx

    tf.config.threading.set_intra_op_parallelism_threads(1)
    function = tf.function
    # tf.function without XLA and GELU without Erfc, because tf2onnx supports neither functions compiled by XLA (grouped convolutions) nor Erfc.
    tf.function = lambda *arguments, jit_compile=None, **more: (
        (lambda f: f) if jit_compile else function(*arguments, **more)
    )
    tf.nn.gelu = lambda x, approximate=False: (
        0.5
        * x
        * (
            1
            + (
                tf.tanh(0.7978845608 * (x + 0.044715 * x**3))
                if approximate
                else tf.math.erf(x * 0.70710678)
            )
        )
    )
    keras.utils.set_random_seed(0)
    model, bounds = NETWORKS[row["model"]][0]()
    perturb_constant_weights(model)
    inputs = [
        tf.TensorSpec([1, *x.shape[1:]], x.dtype, name=x.name.split(":")[0]) for x in model.inputs
    ]
    call = tf.function(lambda x: model(x, training=False), input_signature=inputs)
    made, _ = tf2onnx.convert.from_function(call, input_signature=inputs, opset=17)
    return made, {
        value.name: (bound, None)
        for value in made.graph.input
        for name, bound in bounds.items()
        if name in value.name
    }
