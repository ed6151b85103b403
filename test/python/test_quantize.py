"""dlc.quantize: arguments, written files and messages."""

import models
import numpy as np
import onnx
import pytest
from onnx import TensorProto

import dlc

F32 = TensorProto.FLOAT


@pytest.fixture(scope="module")
def model():
    """A convolution, a product, and a second input that is added."""
    random = np.random.default_rng(0)
    weights = {
        "w": random.standard_normal((8, 3, 3, 3)).astype("float32"),
        "v": random.standard_normal((10, 8 * 36)).astype("float32"),
    }
    return models.made(
        [
            ("Conv", ["x", "w"], ["c"], {}),
            ("Relu", ["c"], ["r"], {}),
            ("Flatten", ["r"], ["f"], {}),
            ("Gemm", ["f", "v"], ["g"], {"transB": 1}),
            ("Add", ["g", "b"], ["y"], {}),
        ],
        {"x": (F32, ["n", 3, 8, 8]), "b": (F32, ["n", 10])},
        {"y": (F32, ["n", 10])},
        weights,
    )


@pytest.fixture(scope="module")
def product():
    return models.made(
        [("MatMul", ["x", "w"], ["y"], {})],
        {"x": (F32, ["n", 64])},
        {"y": (F32, ["n", 48])},
        {"w": np.random.default_rng(0).standard_normal((64, 48)).astype("float32")},
    )


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(1)
    return {
        "x": random.standard_normal((24, 3, 8, 8)).astype("float32"),
        "b": random.standard_normal((24, 10)).astype("float32"),
    }


def far(path, model, data):
    """The largest error, of the largest result."""
    wanted, found = (net.run(data)["y"] for net in (dlc.compile(model), dlc.compile(path)))
    return np.abs(wanted - found).max() / np.abs(wanted).max()


def test_a_model_of_eight_bits(model, data, tmp_path):
    path = tmp_path / "int8.onnx"
    heard = []
    report = dlc.quantize(model, data, path, progress=lambda *what: heard.append(what))
    onnx.checker.check_model(path)
    assert 0 < far(path, model, data) < 0.05
    assert [(layer.name, layer.shape, layer.becomes, layer.why) for layer in report.layers] == [
        ("n0", (8, 3, 3, 3), "int8", ""),
        ("n3", (10, 288), "int8", ""),
    ]
    assert all(30 < layer.snr_db < 60 for layer in report.layers)
    [output] = report.outputs
    assert output.name == "y" and output.snr_db > 30 and output.same_largest_percent > 90
    assert (report.path, report.samples, report.samples_left) == (
        str(path),
        24,
        0,
    ) and report.bytes_after < report.bytes_before / 2
    assert "2 of 2 layers quantized" in str(report) and "output 'y': SNR" in str(report)
    # A call that is quick tells nothing.
    assert all(0 <= done <= total == 3 for _, done, total in heard)


def test_batches_are_joined(model, data, tmp_path):
    whole, parts = tmp_path / "whole.onnx", tmp_path / "parts.onnx"
    dlc.quantize(model, data, whole, threads=1)
    dlc.quantize(
        model,
        ({name: array[i : i + 5] for name, array in data.items()} for i in range(0, 24, 5)),
        parts,
        threads=1,
    )
    assert whole.read_bytes() == parts.read_bytes()


def test_the_only_input_needs_no_name(product, tmp_path):
    x = np.random.default_rng(2).standard_normal((10, 64))
    paths = [tmp_path / f"{i}.onnx" for i in range(3)]
    # Of the other order of bytes, and not contiguous.
    for path, given in zip(
        paths,
        (
            x.astype("float32"),
            [x[:4].astype(">f4"), x[4:].astype(">f4")],
            {"x": np.asfortranarray(x.astype("float32"))},
        ),
    ):
        dlc.quantize(product, given, path, ranges="minmax")
    assert paths[0].read_bytes() == paths[1].read_bytes() == paths[2].read_bytes()


def test_weights_alone(product, tmp_path):
    x = {"x": np.random.default_rng(2).standard_normal((4, 64)).astype("float32")}
    for weights, least in (("int8", 1e-4), ("int4", 1e-2)):
        report = dlc.quantize(product, None, tmp_path / "w.onnx", weights=weights, block=16)
        assert least < far(tmp_path / "w.onnx", product, x) < 0.2
        assert (
            report.layers[0].becomes == weights
            and report.layers[0].snr_db is None
            and not report.outputs
        )


def test_layers_that_stay(model, data, tmp_path):
    report = dlc.quantize(model, data, tmp_path / "y.onnx", keep="Conv")
    assert [layer.becomes for layer in report.layers] == ["f32", "int8"] and report.layers[
        0
    ].why == "keep Conv"
    with pytest.raises(
        ValueError, match="the SNR of every layer is too low; decrease the minimum SNR"
    ):
        dlc.quantize(model, data, tmp_path / "y.onnx", least_snr=90)


@pytest.mark.parametrize(
    "given, options, kind, says",
    [
        ("x", {}, TypeError, r"data: required: arrays by the names of inputs.*found: 'x'"),
        (3, {}, TypeError, r"found: 3"),
        ([], {}, ValueError, r"at least one batch; found: none"),
        (
            {},
            {},
            ValueError,
            r"required: an array 'x' for the input of .*, f32 \?x3x8x8; found: no arrays",
        ),
        ({"x": np.zeros((4, 3, 8, 8), "float32")}, {}, ValueError, r"an array 'b' .*found: 'x'"),
        (np.zeros((4, 3, 8, 8), "float32"), {}, ValueError, r"an array 'x' .*found: one array"),
        ({1: np.zeros(3)}, {}, TypeError, r"names of inputs as keys; found: 1"),
        (
            {"x": np.zeros((4, 3, 8, 8)), "b": np.zeros((4, 10), "float32")},
            {},
            ValueError,
            r"array 'x': required: f32 .*found: f64 4x3x8x8",
        ),
        (
            {"x": np.zeros((4, 3, 8, 8), "complex64")},
            {},
            TypeError,
            r"data\['x'\]: required: a supported element type; found: complex64",
        ),
        (
            [{"x": np.zeros((1, 2))}, {"b": np.zeros((1, 2))}],
            {},
            ValueError,
            r"batch 1: required: the arrays of the first batch, \['x'\]; found: \['b'\]",
        ),
        (
            [{"x": np.zeros((1, 2))}, {"x": np.zeros((1, 3))}],
            {},
            ValueError,
            r"batch 1: array 'x': required: float64 \(1, 2\).*found: float64 \(1, 3\)",
        ),
        (
            None,
            {"weights": "int2"},
            ValueError,
            r"weights: required: one of int8, int4; found: 'int2'",
        ),
        (None, {"weights": "int4", "block": 24}, ValueError, r"block 24: required: a power of two"),
        (
            None,
            {"ranges": "best"},
            ValueError,
            r"ranges: required: one of mse, minmax, percentile, entropy; found: 'best'",
        ),
        (None, {"percentile": 10}, ValueError, r"percentile 10.*required: 50 to 100"),
        (
            None,
            {"keep": ["none*"]},
            ValueError,
            r"keep none\*: no layer has a matching name or operator type; the first is 'n0', a Conv",
        ),
        (None, {"keep": [3]}, TypeError, r"keep: required: a text; found: 3"),
        (None, {"threads": -1}, ValueError, r"found: -1"),
    ],
)
def test_what_is_wrong(model, tmp_path, given, options, kind, says):
    with pytest.raises(kind, match=says):
        dlc.quantize(model, given, tmp_path / "out.onnx", **options)
    assert not list(tmp_path.iterdir())


def test_files(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="required: a model file"):
        dlc.quantize("none.onnx", None, tmp_path / "out.onnx")
    with pytest.raises(FileNotFoundError, match="folder does not exist"):
        dlc.quantize(model, None, tmp_path / "none" / "out.onnx")
    dlc.quantize(onnx.load_model_from_string(model), None, tmp_path / "w8.onnx")
    with pytest.raises(ValueError, match="the model is already quantized"):
        dlc.quantize(tmp_path / "w8.onnx", None, tmp_path / "out.onnx")


def test_it_can_be_ended(model, tmp_path):
    """By what `progress` raises."""
    data = {
        "x": np.random.default_rng(1).standard_normal((4000, 3, 8, 8)).astype("float32"),
        "b": np.zeros((4000, 10), "float32"),
    }

    def end(what, done, total):
        raise KeyboardInterrupt(what)

    with pytest.raises(KeyboardInterrupt, match="calibrating"):
        dlc.quantize(model, data, tmp_path / "out.onnx", progress=end)
    assert not list(tmp_path.iterdir())
