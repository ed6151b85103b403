"""PyTorch modules: dlc.compile, and torch.compile with dlc as its backend. Skipped if PyTorch is missing."""

import itertools
import logging
import threading

import pytest

torch = pytest.importorskip("torch")

import dlc
from dlc._torch import backend, graph_split


def net():
    torch.manual_seed(0)
    layers = torch.nn
    return layers.Sequential(
        layers.Conv2d(3, 8, 3, padding=1),
        layers.BatchNorm2d(8),
        layers.ReLU(),
        layers.MaxPool2d(2),
        layers.Flatten(),
        layers.Linear(128, 10),
        layers.GELU(),
    )


class Sorted(torch.nn.Module):
    """With an operator in the middle whose result's shape depends on values, which no program of dlc's has."""

    def forward(self, x):
        y = torch.relu(x) * 2
        z = torch.linalg.eigvalsh(y @ y.T)
        return torch.sigmoid(z + 1)


@pytest.fixture
def images():
    torch.manual_seed(1)
    return torch.randn(2, 3, 8, 8)


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    dlc.report(clear=True)


def close(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def compiled(module, **options):
    return torch.compile(module, backend=backend.backend, options=options or None)


def test_a_module_becomes_a_model(images, tmp_path):
    module = net().eval()
    made = dlc.compile(module, (images,))
    close(made(images), module(images).detach())
    made.save(tmp_path / "net.dlcx")
    close(dlc.load(tmp_path / "net.dlcx")(images), module(images).detach())


def test_exceptions_of_a_module_are_passed_on(images):
    class OwnError(Exception):
        pass

    class Own(torch.nn.Linear):
        def forward(self, x):
            raise OwnError("a message")

    class Uncopied(torch.nn.Linear):
        def __deepcopy__(self, memory):
            raise OwnError("a message")

    own = Own(2, 2)
    with pytest.raises(OwnError, match="^a message$"):
        dlc.compile(own, (images,))
    with pytest.raises(OwnError, match="^a message$"):
        dlc.train_step(own, torch.nn.MSELoss(), torch.optim.SGD(own.parameters()), (images, images))
    linear, x = Uncopied(2, 2), torch.ones(1, 2)
    with pytest.raises(OwnError, match="^a message$"):
        dlc.train_step(
            linear, torch.nn.MSELoss(), torch.optim.SGD(linear.parameters()), check=True
        )(x, x)
    linear.lock = threading.Lock()
    del Uncopied.__deepcopy__
    with pytest.raises(ValueError, match="check=True: .* cannot be copied: .*lock"):
        dlc.train_step(
            linear, torch.nn.MSELoss(), torch.optim.SGD(linear.parameters()), check=True
        )(x, x)


def test_an_exported_program_becomes_a_model(images):
    module = net().eval()
    close(dlc.compile(torch.export.export(module, (images,)))(images), module(images).detach())


def test_example_inputs_that_are_the_same_tensor():
    class Difference(torch.nn.Module):
        def forward(self, x, y):
            return x - y

    x, y = torch.arange(3.0), torch.ones(3)
    close(dlc.compile(Difference(), (x, x))(x, y), x - y)


def test_a_module_needs_inputs():
    with pytest.raises(TypeError, match="required: example inputs"):
        dlc.compile(net().eval())


def test_a_module_that_changes_itself_is_refused(images):
    with pytest.raises(ValueError, match="call module.eval"):
        dlc.compile(net().train(), (images,))


def test_what_dlc_lacks_is_named(images):
    with pytest.raises(ValueError, match="aten._linalg_eigh.default"):
        dlc.compile(Sorted(), (torch.randn(4, 4),))


@torch.no_grad()
def test_inference(images):
    module = net().eval()
    close(compiled(module)(images), module(images))
    (graph,) = dlc.report()
    assert graph.kind == "inference" and len(graph.pieces) == 1 and not graph.eager


@torch.no_grad()
def test_a_changed_parameter_is_seen(images):
    module = net().eval()
    run = compiled(module)
    run(images)
    module[0].weight.mul_(2)
    close(run(images), module(images))
    module[0].weight.data += 1
    close(run(images), module(images))
    (graph,) = dlc.report()
    assert graph.frozen and "a parameter changed" in graph.notes[0]


@torch.no_grad()
def test_parameters_are_constants_again_once_they_have_settled(images, monkeypatch):
    graphs = []

    class Kept(backend._FrozenParameterGraph):
        def __init__(self, *given):
            super().__init__(*given)
            graphs.append(self)

    monkeypatch.setattr(backend, "_FrozenParameterGraph", Kept)
    module = net().eval()
    run = compiled(module)
    run(images)
    (graph,) = graphs
    for _ in range(2):
        first = graph._run
        assert first is not None
        module[0].weight.mul_(2)
        module[1].running_mean = module[1].running_mean + 1
        for call in range(backend.FREEZE_AFTER_CALLS + 2):
            close(run(images), module(images))
            assert (graph._run is None) == (call < backend.FREEZE_AFTER_CALLS)
        assert graph._run is not first


@torch.no_grad()
def test_parameters_can_stay_inputs(images):
    module = net().eval()
    close(compiled(module, freeze=False)(images), module(images))
    assert dlc.report()[0].frozen == 0


@torch.no_grad()
def test_what_a_graph_changes_is_no_constant():
    class Counts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(3))
            self.scale = torch.nn.Parameter(torch.randn(3))

        def forward(self, x):
            self.calls += 1
            return x * self.scale + self.calls

    module, x = Counts().eval(), torch.randn(3)
    run = compiled(module)
    for call in range(1, 4):
        close(run(x), x * module.scale + call)
    assert dlc.report()[0].frozen == 1


@torch.no_grad()
def test_other_sizes_log_no_other_warning(caplog):
    model = torch.compile(
        lambda x: torch.linalg.eigvalsh(x @ x.T) + torch.rand(x.shape[0]), backend="dlc"
    )
    dlc.report(clear=True)
    with caplog.at_level(logging.WARNING, "dlc"):
        for size in (3, 4, 5):
            model(torch.randn(size, 3))
    graphs = dlc.report()
    assert len(caplog.records) == len(graphs) == 2
    assert sorted((each.overload, each.count) for each in graphs[1].eager) == [
        ("aten._linalg_eigh.default", 2),
        ("aten.rand.default", 2),
    ]
    assert [note.rpartition(".shape[0] = ")[2] for note in graphs[1].notes] == ["4", "5"]


@torch.no_grad()
def test_the_rest_stays_in_pytorch_and_says_so(caplog):
    module, x = Sorted(), torch.randn(4, 4)
    with caplog.at_level(logging.WARNING, "dlc"):
        close(compiled(module)(x), module(x))
    (graph,) = dlc.report()
    assert len(graph.pieces) == 2
    assert [each.overload for each in graph.eager] == ["aten._linalg_eigh.default"]
    assert "dlc has no such operator" in graph.eager[0].reason
    assert "aten._linalg_eigh.default" in caplog.text


def test_views_that_only_pytorch_reads_stay_there():
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(lambda x: (torch.linalg.eigvalsh(x[1:, 1:].T), x.T @ x, x[0]))(
        torch.randn(4, 4)
    ).graph
    refused = {node.name: "no import" for node in graph.nodes if "eigh" in node.name}
    found = graph_split._find_eager_views(graph, refused)
    views = [node for node in graph.nodes if node.name in found]
    assert refused and [node.target._opname for node in views] == ["slice", "slice", "permute"]


@torch.no_grad()
def test_strict_makes_that_an_error():
    with pytest.raises(
        Exception, match="a graph that dlc supports completely; found: aten._linalg_eigh.default"
    ):
        compiled(Sorted(), strict=True)(torch.randn(4, 4))


def test_an_unknown_option_is_named():
    with pytest.raises(Exception, match="options: required: strict, .*; found: stric"):
        compiled(net().eval(), stric=True)(torch.randn(2, 3, 8, 8))
    for name, value in {"precision": "x", "accuracy": 3, "strict": "yes", "threads": -1}.items():
        torch._dynamo.reset()
        with pytest.raises(Exception, match=rf"{name}.*: required: .*; found: '?{value}"):
            compiled(torch.relu, **{name: value})(torch.randn(2))


@torch.no_grad()
def test_dynamic_dimensions_specialise(images):
    module = net().eval()
    run = compiled(module)
    for batch in (2, 3, 5, 3):
        x = torch.randn(batch, 3, 8, 8)
        close(run(x), module(x))
    assert any(
        "dynamic dimensions: programs only for" in note
        for graph in dlc.report()
        for note in graph.notes
    )


@torch.no_grad()
def test_results_that_share_memory_do_with_dlc():
    def function(x):
        y = x.relu()
        return y, y.view(-1), x, y.T, y.split(2)[1], (x + 1).T, y[0] + 1

    x = torch.randn(4, 4)
    found = torch.compile(function, backend=backend.backend, options={"strict": True})(x)
    for got, want in zip(found, function(x), strict=True):
        close(got, want)
        assert got.stride() == want.stride()
    found[1].zero_()
    assert found[2] is x and not any(found[i].any() for i in (0, 3, 4)) and found[6].any()


@torch.no_grad()
def test_sizes_that_do_not_come_again_stay_in_pytorch(monkeypatch):
    monkeypatch.setattr(backend, "EAGER_COMPILE_LIMIT", 1)
    monkeypatch.setattr(backend, "MAX_SPECIALIZATIONS", 2)
    # A program takes as long to make as PyTorch takes for a call.
    monkeypatch.setattr(backend, "perf_counter", itertools.count().__next__)
    module = net().eval()
    run = compiled(module)
    # One without dynamic dimensions, one at once, one that comes again, and one too many.
    for batch in (2, 3, 5, 5, 7, 7, 3, 5):
        x = torch.randn(batch, 3, 8, 8)
        close(run(x), module(x))
    notes = [note for graph in dlc.report() for note in graph.notes]
    assert [("programs only for" in note, "PyTorch runs" in note) for note in notes] == [
        (True, False),
        (False, True),
        (True, False),
    ]


@torch.no_grad()
def test_sizes_that_come_seldom_stay_in_pytorch():
    """A program for each of a cache's sizes would cost far more than it gives."""
    run = compiled(lambda x, y: torch.softmax(x @ y.T, -1) @ y)
    for _ in range(2):
        for size in range(3, 40):
            x, y = torch.randn(1, 8), torch.randn(size, 8)
            close(run(x, y), torch.softmax(x @ y.T, -1) @ y)
    notes = [note for graph in dlc.report() for note in graph.notes]
    assert sum("programs only for" in note for note in notes) == backend.EAGER_COMPILE_LIMIT


@torch.no_grad()
def test_mutations_and_views_are_pytorchs():
    def function(x, y):
        x.add_(1)
        z = x.view(-1)
        z.mul_(2)
        return z[2:], y.T, x + y

    x, y = torch.randn(2, 3), torch.randn(2, 3)
    given, wanted = (x.clone(), y.clone()), (x.clone(), y.clone())
    found, expected = torch.compile(function, backend=backend.backend)(*given), function(*wanted)
    for got, want in zip(found, expected):
        close(got, want)
        assert got.stride() == want.stride()
    close(given[0], wanted[0])
    found[0].zero_()
    expected[0].zero_()
    close(given[0], wanted[0])


@torch.no_grad()
def test_results_lie_as_pytorch_says(images):
    module = net().eval()[:3].to(memory_format=torch.channels_last)
    x = images.to(memory_format=torch.channels_last)
    found, wanted = compiled(module)(x), module(x)
    close(found, wanted)
    assert found.stride() == wanted.stride()


def test_training_gives_the_same_weights(images):
    modules = [net().train(), net().train()]
    runs = [compiled(modules[0]), modules[1]]
    target = torch.tensor([1, 2])
    for module, run in zip(modules, runs):
        step = torch.optim.SGD(module.parameters(), lr=0.05, momentum=0.9)
        for _ in range(5):
            step.zero_grad()
            torch.nn.functional.cross_entropy(run(images), target).backward()
            step.step()
    for (name, found), wanted in zip(
        modules[0].state_dict().items(), modules[1].state_dict().values()
    ):
        torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-4, msg=name)
    assert {graph.kind for graph in dlc.report()} == {"forward", "backward"}


def test_attention_stays_whole():
    q = torch.randn(2, 4, 16, 8)
    with torch.no_grad():
        run = torch.compile(
            lambda q: torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True),
            backend=backend.backend,
        )
        close(run(q), torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True))
    (graph,) = dlc.report()
    assert graph.operators == 1 and not graph.eager


READINGS = [
    (mode, padding, corners)
    for mode in ("bilinear", "nearest", "bicubic")
    for padding in ("zeros", "border", "reflection")
    for corners in (False, True)
]


@torch.no_grad()
def test_images_at_grids():
    x, grid = torch.randn(2, 3, 9, 11), torch.rand(2, 5, 4, 2) * 2.4 - 1.2

    def read(x, grid):
        return [
            torch.nn.functional.grid_sample(x, grid, mode=m, padding_mode=p, align_corners=c)
            for m, p, c in READINGS
        ]

    for found, wanted in zip(
        torch.compile(read, backend=backend.backend, options={"strict": True})(x, grid),
        read(x, grid),
        strict=True,
    ):
        close(found, wanted)


@torch.no_grad()
def test_windows_histograms_and_smooth_sizes():
    x = torch.randn(2, 3, 9, 11)

    def compute(x):
        smooth = [
            torch.nn.functional.interpolate(x, size=s, mode=m, antialias=True)
            for s in ((5, 7), (20, 30))
            for m in ("bilinear", "bicubic")
        ]
        return [
            x.unfold(2, 4, 2),
            x.unfold(-1, 3, 1),
            torch.histc(x, 10, -1, 1),
            torch.histc(x, 7),
            torch.histc(x.round(), 8, 0, 7),
            *smooth,
        ]

    for found, wanted in zip(
        torch.compile(compute, backend=backend.backend, options={"strict": True})(x),
        compute(x),
        strict=True,
    ):
        close(found, wanted)


def test_pytorch_finds_the_backend(python):
    assert (
        python(
            "import torch; print(torch.compile(torch.relu, backend='dlc')(torch.tensor([-1.0, 2.0])))"
        ).strip()
        == "tensor([0., 2.])"
    )


def test_import_does_not_load_pytorch(python):
    assert python("import sys, dlc; print('torch' in sys.modules)").strip() == "False"


@torch.no_grad()
def test_attention_of_scores_that_a_function_changes():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    torch.manual_seed(0)
    q, k, v, slope = (
        torch.randn(2, 4, 128, 8),
        torch.randn(2, 2, 128, 8),
        torch.randn(2, 2, 128, 8),
        torch.randn(4),
    )
    near = create_block_mask(
        lambda b, h, i, j: (i >= j) & (i - j < 50), None, None, 128, 128, device="cpu"
    )

    def attention(q, k, v):
        return flex_attention(
            q.cos(),
            k,
            v,
            lambda score, b, h, i, j: torch.tanh(score / 5) * 5 + slope[h] * (i - j),
            near,
            enable_gqa=True,
            return_lse=True,
        )

    close(compiled(attention, strict=True)(q, k, v), attention(q, k, v))
    assert len(dlc.report()[0].pieces) == 1


def test_graphs_within_a_graph_run_in_dlc():
    layer = torch.nn.Linear(4, 4)

    @torch.compiler.nested_compile_region
    def block(x):
        return torch.relu(layer(x)) + x

    def choose(x):
        return torch.cond(
            x.sum() > 0, lambda x: torch.sin(layer(x)), lambda x: torch.cos(layer(x)) * 2, (x,)
        )

    def repeat(x):
        return torch.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, torch.sin(x) * 2), (torch.tensor(0), x)
        )[1]

    for function, trained in ((choose, True), (lambda x: block(block(x)), True), (repeat, False)):
        for x in (torch.full((3, 4), 0.5), torch.full((3, 4), -0.5)):
            torch._dynamo.reset()
            dlc.report(clear=True)
            run = compiled(function)
            with torch.no_grad():
                close(run(x), function(x))
            if trained:
                gradients = [
                    torch.autograd.grad(each(x).square().sum(), layer.parameters())
                    for each in (run, function)
                ]
                close(*gradients)
            assert all(
                graph.pieces
                and {each.overload for each in graph.eager}
                < {"cond", "invoke_subgraph", "while_loop"}
                for graph in dlc.report()
            ), dlc.report()


def test_programs_work_on_pytorchs_threads(python, tmp_path):
    """Theirs spin on the cores that ours would want; a program called with arrays of NumPy makes its own."""
    dlc.compile(torch.nn.Linear(512, 512), (torch.ones(256, 512),)).save(tmp_path / "net.dlcx")
    script = """
import os, torch, dlc
def threads():
    return len(os.listdir("/proc/self/task"))
net, x = dlc.load("net.dlcx", threads=2), torch.ones(256, 512)
x @ torch.ones(512, 512)
torch.exp(torch.ones(1000, 1000))
before = threads()
y = net(x)
borrowed = threads() - before
z = net(x.numpy())
assert (y.numpy() == z).all()
print(borrowed, threads() - before)
"""
    assert python(script, OMP_NUM_THREADS="2").split() == ["0", "1"]


@pytest.mark.parametrize("made", [lambda x: x, lambda x: x.numpy()], ids=["pytorch", "numpy"])
def test_large_results_use_memory_again(made):
    """Once nobody holds them; those that somebody holds keep their own, also when the program is gone."""

    def place(result):
        return torch.as_tensor(result).data_ptr()

    net = dlc.compile(torch.nn.Linear(512, 1024), (torch.ones(1024, 512),))
    x = torch.randn(1024, 512)
    first = net(made(x))
    second, wanted = net(made(2 * x)), torch.as_tensor(first).clone()
    assert (
        type(first) is type(made(x))
        and first.shape == (1024, 1024)
        and place(first) != place(second)
    )
    close(torch.as_tensor(first), wanted)
    before = place(second)
    del second
    third = net(made(3 * x))
    assert place(third) == before and before % 64 == 0
    wanted = torch.as_tensor(third).clone()
    del net
    third += 1
    close(torch.as_tensor(third), wanted + 1)


def test_memory_of_large_results_does_not_grow():
    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096

    net, x = (
        dlc.compile(torch.nn.Linear(256, 4096), (torch.ones(1024, 256),)),
        torch.ones(1024, 256),
    )
    held = [net(x) for _ in range(4)]
    before = resident()
    for i in range(40):
        held[i % 4] = net(x)
    assert resident() - before < 40 << 20
    del held, net
    assert resident() < before - (48 << 20)
