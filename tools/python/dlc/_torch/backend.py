"""torch.compile(model, backend="dlc"): compiles the graphs of aot_autograd, for their sizes and with constant parameters."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import torch
from torch import fx

from dlc import _runtime
from dlc._torch import (
    call_replacements,
    device_kinds,
    fx_graph,
    graph_report,
    random_numbers,
    saved_layouts,
)
from dlc._torch.backend_options import Options
from dlc._torch.graph_split import split_graph, strict_error

#: Maximum number of cached programs (specializations) of a graph with dynamic dimensions, one for each set of sizes.
MAX_SPECIALIZATIONS = 16
#: Number of specializations of a graph with dynamic dimensions that are compiled immediately, with parameters as constants. Later ones are compiled once
#: PyTorch has spent as much time on them as a compilation takes.
EAGER_COMPILE_LIMIT = 4
#: Maximum number of sets of sizes of a graph for which the time that PyTorch has spent is recorded.
MAX_TIMED_SHAPES = 4096
#: Number of calls without a parameter change after which the parameters become constants of programs again.
FREEZE_AFTER_CALLS = 8


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
            if (
                isinstance(each, torch.SymInt)
                or isinstance(each, torch.Tensor)
                and any(type(size) is not int for size in each.shape)
            ):
                return True
    return False


class _SpecializedGraph:
    """A graph with dynamic dimensions. Compiles programs for the first sets of sizes that occur, and for those that occur often enough to pay off.
    PyTorch runs all other sizes; otherwise sizes that grow with each call, such as those of a language model's KV cache, would be compiled again and again."""

    def __init__(
        self,
        module: fx.GraphModule,
        static: Sequence[int],
        options: Options,
        report: graph_report.Graph,
    ):
        self._module, self._static, self._options, self._report = module, static, options, report
        self._made: dict[Any, Callable[..., Any]] = {}
        self._spent: dict[
            Any, float
        ] = {}  # time in seconds that PyTorch has spent on sizes without a program
        self._cost = 0.0  # time in seconds of the last compilation

    def __call__(self, *arguments: Any) -> Any:
        key = tuple(
            tuple(each.shape) if isinstance(each, torch.Tensor) else each for each in arguments
        )
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
        return (
            len(self._made) < MAX_SPECIALIZATIONS
            and key in self._spent
            and self._spent[key] >= self._cost
        )

    def _in_pytorch(self, arguments: Sequence[Any], key: Any) -> Any:
        if not self._spent:
            self._report.notes.append(
                f"dynamic dimensions: PyTorch runs other sizes until it has taken as long as a compilation, and all sizes beyond {MAX_SPECIALIZATIONS} sets"
            )
            self._report.tell()
        start = perf_counter()
        with torch.no_grad():
            results = self._module(*arguments)
        if key in self._spent or len(self._spent) < MAX_TIMED_SHAPES:
            self._spent[key] = self._spent.get(key, 0.0) + perf_counter() - start
        return results

    def _sizes(self, arguments: Sequence[Any]) -> str:
        """Returns the sizes of the dynamic dimensions as text, each with the first tensor dimension that has it."""
        found: dict[str, str] = {}
        for node, each in zip(self._module.graph.find_nodes(op="placeholder"), arguments):
            if isinstance(each, torch.Tensor):
                for axis, (size, symbol) in enumerate(zip(each.shape, node.meta["val"].shape)):
                    if type(symbol) is not int:
                        found.setdefault(str(symbol), f"{node.name}.shape[{axis}] = {size}")
        return ", ".join(found.values()) or ", ".join(
            str(each) for each in arguments if not isinstance(each, torch.Tensor)
        )

    def _make(self, arguments: Sequence[Any], key: Any) -> Callable[..., Any]:
        from torch.fx.experimental.proxy_tensor import make_fx

        self._report.notes.append(f"dynamic dimensions: programs only for {self._sizes(arguments)}")
        with fx_graph.tracing_lock(), torch.no_grad():
            traced = make_fx(self._module, tracing_mode="fake", _allow_non_fake_inputs=True)(
                *arguments
            )
        # Later programs take parameters as inputs, because parameters as constants would be packed again for each program.
        static = self._static if len(self._made) < EAGER_COMPILE_LIMIT else []
        return _compile_static(traced, static, self._options, self._report)


class _FrozenParameterGraph:
    """A graph whose parameters are constants of its programs, which are packed and folded once, as long as they are unchanged.
    After a change, programs that take the parameters as inputs run until the parameters have been unchanged for FREEZE_AFTER_CALLS calls."""

    def __init__(
        self,
        module: fx.GraphModule,
        static: Sequence[int],
        options: Options,
        report: graph_report.Graph,
    ):
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
            self._report.notes.append(
                "a parameter changed: a program with parameters as inputs is used until they no longer change"
            )
            self._plain = self._split({})
        return self._plain

    def _split(self, constants: Mapping[str, torch.Tensor]) -> Callable[..., Any]:
        # The graph is copied, because splitting modifies it.
        module = fx.GraphModule(self._module, copy.deepcopy(self._module.graph))
        # Only the first version of the graph is listed in the report, because later versions are split in the same way.
        report = (
            graph_report.Graph(self._report.name, self._report.kind)
            if self._report.operators
            else self._report
        )
        report.frozen, report.warned = len(constants), self._report.warned
        made = split_graph(module, self._options, report, constants)
        report.tell()
        return made.forward


def _bytes_spanned(tensor: torch.Tensor) -> int:
    """Returns the number of bytes from the first element of a tensor to the end of the last one."""
    if not tensor.numel():
        return 0
    return (
        sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride())) + 1
    ) * tensor.element_size()


def _static_inputs(module: fx.GraphModule) -> list[int]:
    """Returns the indices of the inputs in host memory that are parameters or buffers and that the graph does not modify.
    Parameters on a GPU are inputs of programs, which read them in place: as constants they would be stored twice."""
    context = torch._guards.TracingContext.try_get()
    about = context.fw_metadata if context else None
    if about is None:
        return []
    changed = {
        i for i, each in enumerate(about.input_info) if each.mutates_data or each.mutates_metadata
    }
    nodes = module.graph.find_nodes(op="placeholder")
    return [
        i
        for i in about.static_input_indices
        if i not in changed
        and i < len(nodes)
        and fx_graph.type_of(nodes[i].meta.get("val")) is not None
        and device_kinds.is_host(nodes[i].meta["val"].device)
    ]


def _compile_static(
    module: fx.GraphModule, static: Sequence[int], options: Options, report: graph_report.Graph
) -> Callable[..., Any]:
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
        if (
            node.op == "call_function"
            and isinstance(node.target, torch._ops.OpOverload)
            and not random_numbers.is_random(node)
            and constant.issuperset(node.all_input_nodes)
        ):
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
    return {
        **fx_graph.decompositions(),
        torch.ops.aten.native_dropout.default: random_numbers.dropout,
    }


def _report_untraced(module: fx.GraphModule, error: str, options: Options) -> None:
    reason = f"PyTorch cannot trace the autograd graph: {error}"
    if options.strict:
        raise strict_error(reason)
    calls = [
        str(getattr(node.target, "__name__", node.target))
        for node in module.graph.nodes
        if node.op.startswith("call_")
    ]
    report = graph_report.begin_graph_report("forward")
    report.operators = len(calls)
    report.leave([(name, reason) for name in calls])
    report.tell()


def backend(
    module: fx.GraphModule,
    inputs: Sequence[Any],
    *,
    options: dict[str, Any] | None = None,
    **others: Any,
) -> Any:
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
