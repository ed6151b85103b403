"""Model objects: their properties, programs for several shapes, files, copies, profiles."""

import ast
import copy
import importlib
import pathlib
import pickle

import models
import numpy as np
import onnx.parser
import pytest

import dlc


def test_version():
    assert dlc.__version__.count(".") == 2


@pytest.mark.parametrize("name", ["_runtime", "_compiler"])
def test_stubs_say_what_is_there(name):
    """The same classes, functions and members."""

    def described(nodes):
        return {
            node.name: described(node.body)
            for node in nodes
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name != "__init__"
        }

    def found(owner, members):
        return {
            key: found(value, members=True) if isinstance(value, type) else {}
            for key, value in vars(owner).items()
            if not key.startswith("__") or members and key == "__call__"
        }

    module = importlib.import_module("dlc." + name)
    stub = pathlib.Path(dlc.__file__).with_name(name + ".pyi").read_text(encoding="utf-8")
    assert described(ast.parse(stub).body) == found(module, members=False)


def test_help():
    """Whatever users can reach says what it is for."""
    for name in dlc.__all__:
        thing = getattr(dlc, name)
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            assert member.startswith("_") or not callable(value) or value.__doc__, (
                f"{name}.{member}"
            )
    assert "required" in dlc.__doc__ and "threads" in dlc.compile.__doc__


def test_values(two):
    assert [(v.name, v.dtype, v.shape, v.device) for v in two.inputs] == [
        ("a", "f32", (2, 3), "cpu"),
        ("b/1", "f32", (2, 3), "cpu"),
    ]
    assert repr(two.outputs) == "[sum: f32[2, 3], difference: f32[2, 3]]"
    assert (
        repr(two)
        == "<dlc.Model (a: f32[2, 3], b/1: f32[2, 3]) -> (sum: f32[2, 3], difference: f32[2, 3]), 1 programs>"
    )


def test_open_shapes():
    net = dlc.compile(models.open_batch())
    assert net.inputs[0].shape == ("batch", 3) and net._sessions == []
    for rows in (1, 4, 1, 2):
        x = np.ones((rows, 3), "float32")
        assert (net(x) == 2).all() and net(x).shape == (rows, 3)
    assert len(net._sessions) == 3
    with pytest.raises(ValueError, match=r"x f32\[batch, 3\]|required: f32\[batch, 3\]"):
        net(np.ones((1, 4), "float32"))
    with pytest.raises(ValueError, match="one program"):
        net.save("net.dlcx")


def test_default_overridden():
    x, w = np.arange(6, dtype="float32").reshape(2, 3), np.full((2, 3), 2, "float32")
    kept, given = (
        dlc.compile(models.with_default()),
        dlc.compile(models.with_default(), shapes={"x": (2, 3), "w": (2, 3)}),
    )
    assert [v.name for v in kept.inputs] == ["x"] and (kept(x) == x + 10).all()
    assert (
        [v.name for v in given.inputs] == ["x", "w"]
        and (given(x, w) == x + 2).all()
        and (given(x=x, w=w * 2) == x + 4).all()
    )
    with pytest.raises(TypeError, match="there is no input 'w'"):
        kept(x, w=w)
    with pytest.raises(ValueError, match=r"w.*required: f32\[2, 3\]"):
        dlc.compile(models.with_default(), shapes={"w": (3, 3)})


def test_shapes_from_values():
    net = dlc.compile(models.reshaped())
    x = np.arange(6, dtype="float32")
    for shape in ((2, 3), (3, 2), (2, 3)):
        assert net(x, np.array(shape)).shape == shape
    assert len(net._sessions) == 2


def test_no_more_programs_than_sixteen():
    net = dlc.compile(models.open_batch())
    for rows in range(1, 19):
        net(np.ones((rows, 3), "float32"))
    assert len(net._sessions) == 16


def test_save_and_load(two, tmp_path):
    two.save(tmp_path / "net.dlcx")
    again = dlc.load(tmp_path / "net.dlcx", threads=1)
    a, b = np.random.default_rng(0).random((2, 2, 3), dtype="float32")
    assert all(map(np.array_equal, again(a, b), two(a, b)))
    assert repr(again.inputs) == repr(two.inputs)
    same = dlc.compile((tmp_path / "net.dlcx").read_bytes())
    assert np.array_equal(same(a, b)[0], two(a, b)[0])


def test_save_for_shapes(tmp_path):
    net = dlc.compile(models.open_batch())
    net.save(tmp_path / "net.dlcx", shapes={"x": (5, 3)})
    assert dlc.load(tmp_path / "net.dlcx").inputs[0].shape == (5, 3)


def test_from_a_proto_and_a_path(tmp_path, x):
    import onnx

    data = models.ten_operations()
    (tmp_path / "model.onnx").write_bytes(data)
    for model in (
        onnx.load_from_string(data),
        tmp_path / "model.onnx",
        str(tmp_path / "model.onnx"),
        bytearray(data),
    ):
        assert np.allclose(dlc.compile(model)(x), models.ten_operations_reference(x), atol=1e-6)


def test_options(x):
    reference = models.ten_operations_reference(x)
    assert np.allclose(
        dlc.compile(models.ten_operations(), threads=1, accuracy="strict")(x), reference, atol=1e-6
    )
    assert np.allclose(
        dlc.compile(models.ten_operations(), precision="bf16")(x), reference, atol=1e-6
    )


def test_another_device(x):
    """A device with memory of its own: arrays cross by themselves."""
    net = dlc.compile(models.ten_operations(), device="cpu:1")
    assert net.inputs[0].device == "cpu:1"
    assert np.allclose(net(x), models.ten_operations_reference(x), atol=1e-6)


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))]
)
def test_copies(ten, x, again):
    other = again(ten)
    assert np.array_equal(other(x), ten(x)) and repr(other.inputs) == repr(ten.inputs)


def test_pickle_of_several_programs():
    net = dlc.compile(models.open_batch())
    with pytest.raises(ValueError, match="not compiled yet"):
        pickle.dumps(net)
    for rows in (1, 2):
        net(np.ones((rows, 3), "float32"))
    other = pickle.loads(pickle.dumps(net))
    assert all(other(np.ones((rows, 3), "float32")).shape == (rows, 3) for rows in (1, 2))
    with pytest.raises(ValueError, match="compile the model for these shapes"):
        other(np.ones((3, 3), "float32"))


def test_profile(two):
    table = two.profile(repeat=3)
    assert len(table) == len(two._sessions[0].commands) > 0
    assert all(row.microseconds > 0 for row in table) and sum(
        row.percent for row in table
    ) == pytest.approx(100)
    assert table.microseconds >= sum(row.microseconds for row in table)
    assert set(table.to_dict()) == set(table[0]._fields)
    assert repr(table).splitlines()[0].split() == [
        "#",
        "device",
        "op",
        "bytes",
        "work",
        "us",
        "%",
        "kernel",
    ]
    assert table._repr_html_().startswith("<table>")
    a = np.ones((2, 3), "float32")
    assert len(two.profile(a, a, repeat=1).sorted()) == len(table)


def test_html(two):
    page = two._repr_html_()
    assert "<td style='text-align:left'>b/1</td>" in page and "2 x 3" in page


def test_html_has_a_drawing_where_graphviz_is(tmp_path, monkeypatch):
    dot = tmp_path / "dot"
    dot.write_text("#!/bin/sh\necho '<?xml?>'; echo '<svg>'; cat; echo '</svg>'\n")
    dot.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    net = dlc.compile(models.long_to_compile(layers=2))
    page = net._repr_html_()
    (session,) = net._sessions
    assert "<?xml" not in page and all(
        f"\n{i} [label=" in page for i in range(len(session.commands))
    )
    assert session.edges and all(
        f"\n{before} -> {after}" in page for before, after in session.edges
    )
    dot.write_text("#!/bin/sh\nexit 1\n")
    assert "<svg" not in net._repr_html_()


def test_memory(two):
    assert (
        set(two.memory) == {"arena", "scratch", "constants", "code", "state"}
        and two.memory["code"] > 0
    )


def test_devices():
    first = dlc.devices()[0]
    assert first.name == "cpu" and first.total_bytes >= first.free_bytes > 0 and first.cores >= 1


def counted():
    """A model that gives back the rows above a half."""
    return onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 20]>
        g (float[6, 2] x, bool[6] keep) => (float[n, 2] y, int64[1, n] places) { y = Compress<axis=0>(x, keep) places = NonZero(keep) }""")


def test_sizes_that_the_run_finds(tmp_path):
    net = dlc.compile(counted())
    assert repr(net.outputs) == "[y: f32[n, 2], places: i64[1, n]]"
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    net.save(tmp_path / "m.dlcx", shapes={})
    loaded = dlc.load(tmp_path / "m.dlcx")
    assert [value.shape for value in loaded.outputs] == [(None, 2), (1, None)]
    for model in (net, loaded):
        for keep in (np.array([0, 1, 0, 0, 1, 1], bool), np.zeros(6, bool), np.ones(6, bool)):
            y, places = model(x, keep)
            assert y.shape == (keep.sum(), 2) and (y == x[keep]).all() and y.flags.c_contiguous
            assert places.shape == (1, keep.sum()) and (places[0] == keep.nonzero()[0]).all()
            assert set(model.run({"x": x, "keep": keep})) == {"y", "places"}
    torch = pytest.importorskip("torch")
    y, places = net(torch.tensor(x), torch.tensor([True, False, False, False, False, True]))
    assert y.shape == (2, 2) and y.is_contiguous() and places.tolist() == [[0, 5]]


def test_mlir_without_names(tmp_path):
    """Inputs and outputs of a function that names none are called by their places."""
    file = tmp_path / "m.mlir"
    file.write_text(
        "func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = dlc.sub %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
    )
    net = dlc.compile(file)
    assert [value.name for value in net.inputs] == ["input0", "input1"] and [
        value.name for value in net.outputs
    ] == ["output0"]
    x, y = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
    assert (net(x, y) == x - y).all()
