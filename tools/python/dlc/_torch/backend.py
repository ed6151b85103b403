"""torch.compile(model, backend="dlc"): splits the graphs of aot_autograd into parts for dlc and parts for PyTorch."""

from __future__ import annotations

import copy
import inspect
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from dlc import _runtime
from dlc._compile import Compiler
from dlc._model import Model
from dlc._option_checks import require_threads
from dlc._torch import call_replacements, complex_numbers, flop_count, fx_graph, graph_report, higher_order, random_numbers, saved_layouts

PRECISIONS = ("none", "bf16", "f16")
ACCURACIES = ("strict", "default", "fast")
#: Maximum number of cached programs (specializations) of a graph with dynamic dimensions, one for each set of sizes.
MAX_SPECIALIZATIONS = 16
#: Number of specializations of a graph with dynamic dimensions that are compiled immediately, with parameters as constants. Later ones are compiled once
#: PyTorch has spent as much time on them as a compilation takes.
EAGER_COMPILE_LIMIT = 4
#: Maximum number of sets of sizes of a graph for which the time that PyTorch has spent is recorded.
MAX_TIMED_SHAPES = 4096
#: Number of calls without a parameter change after which the parameters become constants of programs again.
FREEZE_AFTER_CALLS = 8
#: Text of the report for a view that remains in PyTorch.
VIEW = "a view of existing memory"
#: Text of the report for an operator that remains in PyTorch although dlc supports it. With the option `strict`, dlc runs it.
FASTER = "PyTorch's own kernel takes less time"
FASTER_IN_PYTORCH = {
    torch.ops.aten.grid_sampler_2d_backward.default,
    torch.ops.aten.grid_sampler_3d_backward.default,
    torch.ops.aten._embedding_bag.default,
    torch.ops.aten._embedding_bag_forward_only.default,
}
ADAPTIVE = {torch.ops.aten.adaptive_max_pool2d.default, torch.ops.aten.adaptive_max_pool2d_backward.default}


class Options:
    """Values of torch.compile's argument `options` for the backend dlc."""

    def __init__(self, strict: bool = False, freeze: bool = True, threads: int = 0, precision: str = "none", accuracy: str = "default"):
        require_threads(threads)
        for name, value, known in (("strict", strict, (False, True)), ("freeze", freeze, (False, True)), ("precision", precision, PRECISIONS), ("accuracy", accuracy, ACCURACIES)):
            if value not in known:
                raise ValueError(f"options['{name}']: required: one of {', '.join(map(str, known))}; found: {value!r}")
        self.strict, self.freeze, self.made = strict, freeze, ("cpu", threads or torch.get_num_threads(), precision, accuracy)

    @classmethod
    def of(cls, given: dict[str, Any] | None) -> Options:
        known = tuple(inspect.signature(cls).parameters)
        if not isinstance(given, (dict, type(None))) or not set(given or ()) <= set(known):
            raise ValueError(f"options: required: {', '.join(known)}; found: {', '.join(map(str, given)) if isinstance(given, dict) else repr(given)}")
        return cls(**(given or {}))


class _OperatorSupport(OperatorSupportBase):
    def __init__(self, refused: dict[str, str]):
        self._refused = refused

    def is_node_supported(self, submodules: Any, node: fx.Node) -> bool:
        base = node.args[0] if fx_graph.is_getitem(node) else node
        return isinstance(base, fx.Node) and base.op == "call_function" and base.name not in self._refused


def _is_not_view(node: fx.Node) -> bool:
    """Returns True if the node computes new values instead of a view of existing memory."""
    if fx_graph.is_getitem(node):
        return False
    return not any(result.alias_info is not None for result in node.target._schema.returns)


def _find_eager_views(graph: fx.Graph, refused: Mapping[str, str]) -> dict[str, str]:
    """Returns the views whose users all remain in PyTorch. Such views cost nothing in PyTorch, while a program would have to copy their elements."""
    found: dict[str, str] = {}
    for node in reversed(graph.nodes):
        if node.op != "call_function" or node.name in refused or fx_graph.is_getitem(node) or _is_not_view(node) or not node.users:
            continue
        if all(user.name in refused or user.name in found for user in node.users):
            found[node.name] = VIEW
    return found


def _view_operand(node: Any) -> Any:
    """Returns the operand of a view, or None if the node is not a view."""
    if not isinstance(node, fx.Node) or node.op != "call_function":
        return None
    if fx_graph.is_getitem(node):
        return _view_operand(node.args[0])
    return None if not isinstance(node.target, torch._ops.OpOverload) or _is_not_view(node) else node.args[0]


def _preserve_result_aliases(graph: fx.Graph) -> dict[str, str]:
    """Preserves the aliasing of results: a result that is a view of another result is replaced by a new view, which remains in PyTorch."""
    output = graph.output_node()
    bases: dict[fx.Node, fx.Node] = {}
    for result in output.all_input_nodes:
        base = result
        while (below := _view_operand(base)) is not None:
            base = below
        if base is not result:
            bases[result] = base
    count = Counter([*bases.values(), *output.all_input_nodes])
    made: dict[fx.Node, fx.Node] = {}

    def again(node: fx.Node, base: fx.Node) -> fx.Node:
        if node is not base and node not in made:
            first = again(node.args[0], base)  # type: ignore[arg-type]
            with graph.inserting_before(output):
                made[node] = graph.node_copy(node, lambda each: first if each is node.args[0] else each)
        return made.get(node, node)

    for result, base in bases.items():
        if base.op == "call_function" and count[base] > 1:
            output.replace_input_with(result, again(result, base))
    return {node.name: VIEW for node in made.values()}


def _to_tensor(array: Any) -> torch.Tensor:
    """Converts a NumPy array, including those with bfloat16 elements of ml_dtypes, to a tensor."""
    return torch.from_numpy(array.view("int16")).view(torch.bfloat16) if array.dtype.name == "bfloat16" else torch.from_numpy(array)


def _copy_with_strides(tensor: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """Copies a tensor to new memory with these strides. Dimensions with stride 0 remain expanded."""
    once = tuple(slice(0, 1) if not step and size > 1 else slice(None) for size, step in zip(tensor.shape, strides))
    part = tensor[once]
    return torch.empty_strided(part.shape, strides, dtype=tensor.dtype).copy_(part).expand(tensor.shape)


class CompiledSubgraph:
    """A subgraph that is compiled to a program. `constants` are the inputs whose elements are compile-time constants, by node name."""

    def __init__(self, part: fx.GraphModule, constants: Mapping[str, torch.Tensor], options: Options, report: graph_report.Graph):
        kept = saved_layouts.saved_results(part.graph)
        graph, self._orders = _to_memory_order(part.graph, constants, kept)
        names = [node.name for node in graph.find_nodes(op="placeholder")]
        self._inputs = [i for i, name in enumerate(names) if name not in constants]
        inputs = {names[i]: names[i] for i in self._inputs}
        self._single = isinstance(graph.output_node().args[0], fx.Node)
        nodes = saved_layouts.get_graph_results(graph)
        text = fx_graph.serialize_graph(graph, constants, inputs, [(f"result_{i}", node) for i, node in enumerate(nodes)], free={f"result_{i}" for i in kept})
        compiler = Compiler(fx_graph.GraphSource(text, constants, "graph"), options.made, False)
        self._run = Model(compiler.inputs, compiler.outputs, compiler=compiler)
        self._run.prepare()
        # Strides of the results that PyTorch expects to be non-contiguous; programs produce contiguous results.
        self._strides = {i: node.meta["val"].stride() for i, node in enumerate(nodes) if i not in kept and not node.meta["val"].is_contiguous()}
        layouts = {each.name: each.layout for each in self._run._sessions[0].outputs}
        for i, each in kept.items():
            each.set_layout(layouts[f"result_{i}"])
        report.copied += len(self._strides)

    def __call__(self, *tensors: torch.Tensor) -> Any:
        given = [tensors[i] for i in self._inputs]
        given = [tensor.detach() if tensor.requires_grad else tensor for tensor in given]
        for i, order in self._orders.given.items():
            given[i] = given[i].permute(order)
        results = self._run(*given)
        if not isinstance(results, tuple):
            results = (results,)
        if not given:
            results = tuple(map(_to_tensor, results))
        if self._strides or self._orders.made:
            results = tuple(self._laid(i, each) for i, each in enumerate(results))
        return results[0] if self._single else results

    def _laid(self, at: int, result: torch.Tensor) -> torch.Tensor:
        if at in self._orders.made:
            return result.permute(self._orders.made[at])
        if at not in self._strides:
            return result
        return _copy_with_strides(result, self._strides[at])


class _DimensionOrders(NamedTuple):
    """Permutations of inputs (`given`) and results (`made`) between the order of dimensions in PyTorch and the order in memory."""

    given: dict[int, list[int]]
    made: dict[int, list[int]]


def _memory_order(value: Any) -> list[int] | None:
    """Returns the order of a tensor's dimensions in memory if the tensor is dense but not contiguous, otherwise None."""
    if not isinstance(value, torch.Tensor) or value.is_contiguous():
        return None
    order = sorted(range(value.dim()), key=lambda d: (-value.stride(d), -value.size(d)))
    return order if value.permute(order).is_contiguous() else None


def _to_memory_order(graph: fx.Graph, constants: Mapping[str, torch.Tensor], kept: Collection[int]) -> tuple[fx.Graph, _DimensionOrders]:
    """Returns the graph with inputs and results in the order of their dimensions in memory, so that they need not be copied.
    Values saved for the backward graph are skipped, because they have a layout of their own."""
    orders = _DimensionOrders({}, {})
    if not any(_memory_order(node.meta.get("val")) for node in [*graph.find_nodes(op="placeholder"), *graph.output_node().all_input_nodes]):
        return graph, orders
    graph = copy.deepcopy(graph)
    permute = torch.ops.aten.permute.default
    for i, node in enumerate(each for each in graph.find_nodes(op="placeholder") if each.name not in constants):
        value = node.meta.get("val")
        order = _memory_order(value)
        if order is None:
            continue
        orders.given[i] = order
        with graph.inserting_after(node):
            seen = graph.call_function(permute, (node, [order.index(d) for d in range(len(order))]))
        node.replace_all_uses_with(seen, delete_user_cb=lambda user, seen=seen: user is not seen)
        seen.meta["val"], node.meta["val"] = value, value.permute(order)
    output = graph.output_node()
    results = saved_layouts.get_graph_results(graph)
    for i, node in enumerate(results):
        order = _memory_order(node.meta.get("val"))
        if order is None or i in kept:
            continue
        orders.made[i] = [order.index(d) for d in range(len(order))]
        with graph.inserting_before(output):
            results[i] = graph.call_function(permute, (node, order))
        results[i].meta["val"] = node.meta["val"].permute(order)
    output.args = (results[0] if isinstance(output.args[0], fx.Node) else tuple(results),)
    return graph, orders


def _strict_error(message: str) -> ValueError:
    return ValueError(f"options={{'strict': True}}: required: a graph that dlc supports completely; found: {message}; remove strict to let PyTorch run the rest")


def _find_unsupported_nodes(graph: fx.Graph, failed: Mapping[str, str]) -> dict[str, str]:
    """Returns the nodes of a graph that remain in PyTorch, with the reason for each."""
    found = fx_graph.reasons(graph, failed)
    for node in graph.nodes:
        if node.name in found and random_numbers.is_random(node):
            found[node.name] = "PyTorch generates random numbers"
    return found


def _is_faster_in_pytorch(node: fx.Node) -> bool:
    if node.target in ADAPTIVE:
        # Adaptive pooling, or its gradient, is faster in PyTorch if its windows have different sizes.
        is_gradient = isinstance(node.args[1], fx.Node)
        parts = node.args[0].meta["val"].shape[-2:] if is_gradient else node.args[1]
        image = node.args[is_gradient].meta["val"].shape[-2:]
        return any(not part or size % part for size, part in zip(image, parts))
    return node.target in FASTER_IN_PYTORCH


def split_graph(module: fx.GraphModule, options: Options, report: graph_report.Graph, constants: Mapping[str, torch.Tensor] = {}) -> fx.GraphModule:
    """Replaces the subgraphs that dlc supports by programs. The inputs named in `constants` become constants of the programs."""
    with fx_graph.tracing_lock():
        return _split(module, options, report, constants)


def _split(module: fx.GraphModule, options: Options, report: graph_report.Graph, constants: Mapping[str, torch.Tensor]) -> fx.GraphModule:
    graph = module.graph
    higher_order.inline_higher_order_ops(module, lambda body: split_graph(body, options, report))
    shown, failed = complex_numbers.decompose_complex(graph)
    random_numbers.detach_shape_operands(graph)
    fx_graph.widen_statistics(graph)
    # Aliasing of results is preserved here only for inference: in training, PyTorch itself preserves it.
    aliases = {**(_preserve_result_aliases(graph) if report.kind == "inference" else {}), **dict.fromkeys(shown, VIEW)}
    nodes = [node for node in graph.nodes if node.op == "call_function" and not fx_graph.is_getitem(node) and random_numbers.MEMORY not in node.meta and node.name not in aliases and not saved_layouts.has_saved_layout(node)]
    report.operators += len(nodes)
    overloads, flops = {node.name: str(node.target) for node in nodes}, {node.name: flop_count.of(node) for node in nodes}
    report.flops += sum(flops.values())
    refused = {name: reason for name, reason in _find_unsupported_nodes(graph, failed).items() if name not in aliases}
    if not options.strict:
        refused.update({node.name: FASTER for node in nodes if _is_faster_in_pytorch(node)})
    views = _find_eager_views(graph, refused)
    # Reasons why nodes remain in PyTorch, by node name.
    left = {name: reason for name, reason in {**refused, **views}.items() if name in overloads}
    partitioner = CapabilityBasedPartitioner(module, _OperatorSupport({**refused, **views, **aliases}), allows_single_node_partition=True)
    parts = []
    for part in partitioner.propose_partitions():
        if any(map(_is_not_view, part.nodes)):
            parts.append(part)
        elif refused:
            left.update({node.name: VIEW for node in part.nodes if node.name in overloads})
    if options.strict and refused:
        raise _strict_error("; ".join(sorted({f"{overloads[name]}: {reason}" for name, reason in left.items() if name in refused})))
    fused = partitioner.fuse_partitions(parts)
    for at in range(len(parts)):
        _replace_subgraph(fused, f"fused_{at}", constants, options, report, left)
    report.leave([(overloads[name], reason) for name, reason in left.items()])
    report.eager_flops += sum(flops[name] for name in left)
    fused.recompile()
    return fused


def _replace_subgraph(whole: fx.GraphModule, name: str, constants: Mapping[str, torch.Tensor], options: Options, report: graph_report.Graph, left: dict[str, str]) -> None:
    """Replaces a subgraph of `whole` by a program. `constants` are named as in the whole graph."""
    part = getattr(whole, name)
    (call,) = whole.graph.find_nodes(op="call_module", target=name)
    saved_layouts.unmark_read_results(part.graph, call)
    known = {inside.name: constants[outside.name] for inside, outside in zip(part.graph.find_nodes(op="placeholder"), call.args) if outside.name in constants}
    setattr(whole, name, _compile_subgraph(part, known, options, report, left))


def _compile_subgraph(part: fx.GraphModule, constants: Mapping[str, torch.Tensor], options: Options, report: graph_report.Graph, left: dict[str, str]) -> torch.nn.Module:
    """Compiles a subgraph. If the compiler rejects it, compiles each half separately, so that only the rejected operators remain in PyTorch."""
    nodes = [node for node in part.graph.nodes if node.op == "call_function"]
    operators = [node for node in nodes if not fx_graph.is_getitem(node)]
    try:
        made = _CallableModule(CompiledSubgraph(part, constants, options, report))
        report.pieces.append(len(operators))
        return made
    except (ValueError, fx_graph.UnsupportedError) as error:
        if options.strict:
            raise _strict_error(str(error)) from error
        if len(operators) == 1:
            left[operators[0].name] = f"the program cannot be compiled: {error}"
            return part
    half = set(operators[: len(operators) // 2])
    # A getitem node stays in the same half as the node whose result it selects.
    first = dict.fromkeys(node for node in nodes if (node.args[0] if fx_graph.is_getitem(node) else node) in half)
    halves = [first, dict.fromkeys(node for node in nodes if node not in first)]
    fused = fuse_by_partitions(part, halves)
    for name in ("fused_0", "fused_1"):
        _replace_subgraph(fused, name, constants, options, report, left)
    fused.recompile()
    return fused


class _CallableModule(torch.nn.Module):
    """Module that wraps a callable, so that a graph can call it."""

    def __init__(self, run: Callable[..., Any]):
        super().__init__()
        self._run = run

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self._run(*tensors)

    __call__ = forward


def _box_arguments(run: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    """Wraps a function for PyTorch's boxed calling convention: it takes one list and clears it, so that inputs can be freed early."""

    def call(arguments: list[Any]) -> Any:
        given = tuple(arguments)
        arguments.clear()
        return run(*given)

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def _has_dynamic_shapes(module: fx.GraphModule) -> bool:
    for node in module.graph.nodes:
        value = node.meta.get("val")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(each, torch.SymInt) or isinstance(each, torch.Tensor) and any(type(size) is not int for size in each.shape):
                return True
    return False


class _SpecializedGraph:
    """A graph with dynamic dimensions. Compiles programs for the first sets of sizes that occur, and for those that occur often enough to pay off.
    PyTorch runs all other sizes; otherwise sizes that grow with each call, such as those of a language model's KV cache, would be compiled again and again."""

    def __init__(self, module: fx.GraphModule, static: Sequence[int], options: Options, report: graph_report.Graph):
        self._module, self._static, self._options, self._report = module, static, options, report
        self._made: dict[Any, Callable[..., Any]] = {}
        self._spent: dict[Any, float] = {}  # time in seconds that PyTorch has spent on sizes without a program
        self._cost = 0.0  # time in seconds of the last compilation

    def __call__(self, *arguments: Any) -> Any:
        key = tuple(tuple(each.shape) if isinstance(each, torch.Tensor) else each for each in arguments)
        run = self._made.get(key)
        if run is None:
            if not self._is_worth(key):
                return self._in_pytorch(arguments, key)
            start = perf_counter()
            run = self._made[key] = self._make(arguments, key)
            self._cost = perf_counter() - start
            if len(self._made) > MAX_SPECIALIZATIONS:
                self._made.pop(next(iter(self._made)))
        return run(*arguments)

    def _is_worth(self, key: Any) -> bool:
        """Returns True if a program is to be compiled for these sizes.
        The total cost is at most twice that of an optimal decision (as in the ski rental problem)."""
        if self._options.strict or len(self._made) < EAGER_COMPILE_LIMIT:
            return True
        return len(self._made) < MAX_SPECIALIZATIONS and key in self._spent and self._spent[key] >= self._cost

    def _in_pytorch(self, arguments: Sequence[Any], key: Any) -> Any:
        if not self._spent:
            self._report.notes.append(f"dynamic dimensions: PyTorch runs other sizes until it has taken as long as a compilation, and all sizes beyond {MAX_SPECIALIZATIONS} sets")
            self._report.tell()
        start = perf_counter()
        with torch.no_grad():
            results = self._module(*arguments)
        if key in self._spent or len(self._spent) < MAX_TIMED_SHAPES:
            self._spent[key] = self._spent.get(key, 0.0) + perf_counter() - start
        return results

    def _make(self, arguments: Sequence[Any], key: Any) -> Callable[..., Any]:
        from torch.fx.experimental.proxy_tensor import make_fx

        sizes = ", ".join("x".join(map(str, each)) for each in key if isinstance(each, tuple) and each)
        self._report.notes.append(f"dynamic dimensions: programs only for {sizes}")
        with fx_graph.tracing_lock(), torch.no_grad():
            traced = make_fx(self._module, tracing_mode="fake", _allow_non_fake_inputs=True)(*arguments)
        # Later programs take parameters as inputs, because parameters as constants would be packed again for each program.
        static = self._static if len(self._made) < EAGER_COMPILE_LIMIT else []
        return _compile_static(traced, static, self._options, self._report)


class _FrozenParameterGraph:
    """A graph whose parameters are constants of its programs, which are packed and folded once, as long as they are unchanged.
    After a change, programs that take the parameters as inputs run until the parameters have been unchanged for FREEZE_AFTER_CALLS calls."""

    def __init__(self, module: fx.GraphModule, static: Sequence[int], options: Options, report: graph_report.Graph):
        self._module, self._options, self._report = module, options, report
        self._names = [node.name for node in module.graph.find_nodes(op="placeholder")]
        self._static = static
        self._run: Callable[..., Any] | None = None
        self._plain: Callable[..., Any] | None = None
        self._watch: _runtime.Watch | None = None
        self._calls = FREEZE_AFTER_CALLS  # number of calls since the last parameter change; at the first call, parameters count as unchanged long enough

    def __call__(self, *arguments: Any) -> Any:
        parameters = [arguments[i] for i in self._static]
        if self._watch is None:
            self._watch = self._watch_of(parameters)
        elif not self._watch.is_unchanged(parameters):
            self._watch, self._run, self._calls = self._watch_of(parameters), None, 0
        return (self._run or self._made_anew(parameters))(*arguments)

    @staticmethod
    def _watch_of(parameters: list[torch.Tensor]) -> _runtime.Watch:
        return _runtime.Watch(parameters, [_bytes_spanned(each) for each in parameters])

    def _made_anew(self, parameters: list[torch.Tensor]) -> Callable[..., Any]:
        self._calls += 1
        if self._calls > FREEZE_AFTER_CALLS:
            self._run = self._split(dict(zip([self._names[i] for i in self._static], parameters)))
            return self._run
        if self._plain is None:
            self._report.notes.append("a parameter changed: a program with parameters as inputs is used until they no longer change")
            self._plain = self._split({})
        return self._plain

    def _split(self, constants: Mapping[str, torch.Tensor]) -> Callable[..., Any]:
        # The graph is copied, because splitting modifies it.
        module = fx.GraphModule(self._module, copy.deepcopy(self._module.graph))
        # Only the first version of the graph is listed in the report, because later versions are split in the same way.
        report = graph_report.Graph(self._report.name, self._report.kind) if self._report.operators else self._report
        report.frozen = len(constants)
        made = split_graph(module, self._options, report, constants)
        report.tell()
        return made.forward


def _bytes_spanned(tensor: torch.Tensor) -> int:
    """Returns the number of bytes from the first element of a tensor to the end of the last one."""
    if not tensor.numel():
        return 0
    return (sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride())) + 1) * tensor.element_size()


def _static_inputs(module: fx.GraphModule) -> list[int]:
    """Returns the indices of the inputs that are parameters or buffers and that the graph does not modify."""
    context = torch._guards.TracingContext.try_get()
    about = context.fw_metadata if context else None
    if about is None:
        return []
    changed = {i for i, each in enumerate(about.input_info) if each.mutates_data or each.mutates_metadata}
    nodes = module.graph.find_nodes(op="placeholder")
    return [i for i in about.static_input_indices if i not in changed and i < len(nodes) and fx_graph.type_of(nodes[i].meta.get("val")) is not None]


def _compile_static(module: fx.GraphModule, static: Sequence[int], options: Options, report: graph_report.Graph) -> Callable[..., Any]:
    """Compiles a graph with static sizes to a callable."""
    if static:
        return _FrozenParameterGraph(module, static, options, report)
    made = split_graph(module, options, report)
    report.tell()
    return made.forward


def _make_compiler(kind: str, options: Options) -> Callable[..., Any]:
    def compile(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[[list[Any]], Any]:
        report = graph_report.begin_graph_report(kind)
        static = _static_inputs(module) if kind == "inference" and options.freeze else []
        make = _SpecializedGraph if _has_dynamic_shapes(module) else _compile_static
        return _box_arguments(make(module, static, options, report))

    return compile


def _partition_joint_graph(joint: fx.GraphModule, inputs: Any, **others: Any) -> Any:
    """Partitions a joint graph such that little memory is saved between the forward and the backward graph.
    Views and elementwise functions are recomputed, and nodes that depend on no input are always recomputed."""
    from functorch.compile import min_cut_rematerialization_partition
    from torch.utils.checkpoint import CheckpointPolicy

    constant: set[fx.Node] = set()
    for node in joint.graph.nodes:
        if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload) and not random_numbers.is_random(node) and constant.issuperset(node.all_input_nodes):
            constant.add(node)
            node.meta.setdefault("recompute", CheckpointPolicy.MUST_RECOMPUTE)
            node.meta.setdefault("ac_graph_id", 0)
        elif node.target is torch.ops.aten.native_batch_norm_backward.default and node.args[7]:
            # In training mode, the gradient of batch norm uses batch statistics. The running statistics are dropped, because they are updated before the
            # gradient runs.
            node.args = (*node.args[:3], None, None, *node.args[5:])
    saved_layouts.split_recomputed_batch_norms(joint.graph)
    saved_layouts.recompute_batch_norm(joint.graph, others["num_fwd_outputs"])
    forward, backward = min_cut_rematerialization_partition(joint, inputs, **others)
    saved_layouts.merge_batch_norms(forward.graph)
    forward.recompile()
    saved_layouts.mark_saved_values(forward.graph, backward.graph, others["num_fwd_outputs"])
    return forward, backward


def _decompositions() -> Any:
    """Returns the decomposition table, with a decomposition of dropout that draws the same random numbers as PyTorch."""
    return {**fx_graph.decompositions(), torch.ops.aten.native_dropout.default: random_numbers.dropout}


def _report_untraced(module: fx.GraphModule, error: str, options: Options) -> None:
    reason = f"PyTorch cannot trace the autograd graph: {error}"
    if options.strict:
        raise _strict_error(reason)
    calls = [str(getattr(node.target, "__name__", node.target)) for node in module.graph.nodes if node.op.startswith("call_")]
    report = graph_report.begin_graph_report("forward")
    report.operators = len(calls)
    report.leave([(name, reason) for name in calls])
    report.tell()


def backend(module: fx.GraphModule, inputs: Sequence[Any], *, options: dict[str, Any] | None = None, **others: Any) -> Any:
    """The backend of torch.compile.

    options: `strict`: unsupported operators are errors; `freeze`: parameters are constants of inference programs as long as they do not
    change (default: True); `threads`: number of threads for a call (default: torch.get_num_threads()); `precision`, `accuracy` as in dlc.compile.
    """
    from torch._dynamo.backends.common import aot_autograd
    from torch._dynamo.exc import exceptions_allowed_to_be_fallback

    chosen = Options.of(options)
    call_replacements.replace_calls(module)
    make = aot_autograd(
        fw_compiler=_make_compiler("forward", chosen),
        bw_compiler=_make_compiler("backward", chosen),
        inference_compiler=_make_compiler("inference", chosen),
        decompositions=_decompositions,
        partition_fn=_partition_joint_graph,
    )
    try:
        return make(module, inputs)
    except exceptions_allowed_to_be_fallback as error:
        # The errors are caught here, because torch.compile falls back to eager execution for these exceptions.
        _report_untraced(module, str(error), chosen)
        raise
