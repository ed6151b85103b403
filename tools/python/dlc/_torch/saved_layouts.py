"""Chooses layouts for values saved for the backward graph: they remain in the layout of the forward program, since no other code reads them."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import torch
from torch import fx

from dlc._torch import fx_graph

#: Metadata key of a node's SavedValue, if the value is saved for the backward graph.
META = "dlc_saved"
#: Metadata key of a batch norm without running statistics: the name of the batch norm that updates the statistics.
AGAIN = "dlc_again"


@torch.library.custom_op("dlc::laid", mutates_args=())
def with_layout(x: torch.Tensor, layout: str) -> torch.Tensor:
    """Operator that converts x from a layout (a oneDNN format tag) to the default layout. This implementation runs if the node remains in PyTorch."""
    letters, block, _ = re.fullmatch(r"([a-zA-Z]+?)(?:(\d+)([a-z]))?", layout).groups()  # type: ignore[union-attr]
    order = [ord(letter) - ord("a") for letter in letters.lower()]
    sizes = [x.shape[d] for d in order]
    if block:
        at = next(i for i, letter in enumerate(letters) if letter.isupper())
        sizes[at] //= int(block)
        x = x.reshape([*sizes, int(block)]).movedim(-1, at + 1).flatten(at, at + 1)
    else:
        x = x.reshape(sizes)
    return x.permute([order.index(d) for d in range(len(order))]).clone(
        memory_format=torch.contiguous_format
    )


@with_layout.register_fake
def _(x: Any, layout: Any) -> Any:
    return x.new_empty(x.shape)


def has_saved_layout(node: fx.Node) -> bool:
    return node.target is with_layout._opoverload


def recompute_batch_norm(joint: fx.Graph, count: int) -> None:
    """Recomputes batch norm's result in the backward graph: other gradients use x and the saved statistics instead, which its own gradient reads anyway.
    This saves one activation."""
    aten = torch.ops.aten
    # All nodes that the first `count` outputs, those of the forward pass, depend on.
    forward = {node for node in joint.output_node().args[0][:count] if isinstance(node, fx.Node)}
    for node in reversed(joint.nodes):
        if node in forward:
            forward.update(node.all_input_nodes)
    for norm in joint.find_nodes(
        op="call_function", target=aten._native_batch_norm_legit_functional.default
    ):
        x, weight, bias, *_, training, _, _ = norm.args
        results = {user.args[1]: user for user in norm.users}
        is_plain = training and all(
            each is None or each.meta["val"].dtype == torch.float32 for each in (x, weight, bias)
        )
        if not is_plain or not {0, 1, 2} <= set(results):
            continue
        readers = [user for user in results[0].users if user not in forward]
        # If a forward node with several operands also reads the result, the result is saved in any case.
        if not readers or any(
            len(user.all_input_nodes) > 1 or user.op == "output"
            for user in results[0].users
            if user not in readers
        ):
            continue
        shape = [-1, *[1] * (x.meta["val"].dim() - 2)]
        with joint.inserting_before(min(readers)):

            def made(target: Any, *args: Any) -> fx.Node:
                node = joint.call_function(target, args)
                node.meta["val"] = target(
                    *[each.meta["val"] if isinstance(each, fx.Node) else each for each in args]
                )
                return node

            def wide(each: fx.Node) -> fx.Node:
                return made(aten.reshape.default, each, shape)

            again = made(
                aten.mul.Tensor, made(aten.sub.Tensor, x, wide(results[1])), wide(results[2])
            )
            again = again if weight is None else made(aten.mul.Tensor, again, wide(weight))
            again = again if bias is None else made(aten.add.Tensor, again, wide(bias))
        for reader in readers:
            reader.replace_input_with(results[0], again)


def split_recomputed_batch_norms(joint: fx.Graph) -> None:
    """Splits a batch norm that a checkpoint recomputes into one that updates the running statistics and one without them. Only the latter is recomputed:
    the backward direction does not need running statistics, and they have been updated by then."""
    aten = torch.ops.aten
    for norm in joint.find_nodes(
        op="call_function", target=aten._native_batch_norm_legit_functional.default
    ):
        x, weight, bias, _, _, training, momentum, eps = norm.args
        if "recompute" not in norm.meta or not training:
            continue
        with joint.inserting_after(norm):
            plain = joint.call_function(
                aten._native_batch_norm_legit.no_stats, (x, weight, bias, True, momentum, eps)
            )
        plain.meta = {**norm.meta, "val": norm.meta["val"][:3], AGAIN: norm.name}
        for user in list(norm.users):
            if user.args[1] < 3:
                user.replace_input_with(norm, plain)
        for each in (norm, *norm.users):
            each.meta.pop("recompute", None)


def merge_batch_norms(forward: fx.Graph) -> None:
    """Merges the two parts of a split batch norm again if the forward graph contains both, so that the result is computed once."""
    norms = {
        node.name: node
        for node in forward.find_nodes(
            op="call_function", target=torch.ops.aten._native_batch_norm_legit_functional.default
        )
    }
    for plain in forward.find_nodes(
        op="call_function", target=torch.ops.aten._native_batch_norm_legit.no_stats
    ):
        norm = norms.get(plain.meta.get(AGAIN, ""))
        if norm is not None:
            norm.append(plain)
            for user in plain.users:
                norm.append(user)
            plain.replace_all_uses_with(norm)
            forward.erase_node(plain)


class SavedValue:
    """A result of the forward graph that is saved for the backward graph in a layout that dlc chooses."""

    def __init__(self, taken: fx.Node):
        self._taken = taken

    def __deepcopy__(self, memo: Any) -> SavedValue:
        return self

    def set_layout(self, layout: str) -> None:
        """Inserts a layout conversion of the value into the backward graph.
        Called when the forward program has been compiled, before the backward program is."""
        taken, graph = self._taken, self._taken.graph
        if not layout:
            return
        # The conversion is inserted after the last placeholder, because placeholders must remain adjacent in the node list.
        with graph.inserting_before(next(node for node in graph.nodes if node.op != "placeholder")):
            seen = graph.call_function(with_layout._opoverload, (taken, layout))
        taken.replace_all_uses_with(seen, delete_user_cb=lambda user: user is not seen)
        seen.meta["val"] = taken.meta["val"]
        graph.owning_module.recompile()


def mark_saved_values(forward: fx.Graph, backward: fx.Graph, results: int) -> None:
    """Marks the values that are saved only for the backward graph: the outputs of the forward graph after its first `results`."""
    taken = {node.name: node for node in backward.find_nodes(op="placeholder")}
    outputs = forward.output_node().args[0]
    count = Counter(outputs)
    for node in outputs[results:]:
        value = node.meta.get("val") if isinstance(node, fx.Node) else None
        if (
            count[node] > 1
            or node.op != "call_function"
            or node.name not in taken
            or fx_graph.type_of(value) is None
        ):
            continue
        # The layout of a value can be chosen only if its dimensions are in the default order; another order was requested explicitly.
        if value.is_contiguous():
            node.meta[META] = SavedValue(taken[node.name])


def get_graph_results(graph: fx.Graph) -> list[fx.Node]:
    (result,) = graph.output_node().args
    return [result] if isinstance(result, fx.Node) else list(result)


def unmark_read_results(part: fx.Graph, call: fx.Node) -> None:
    """Unmarks results of a subgraph that nodes other than the graph's output read, because these expect the default layout.
    `call` is the node that calls the subgraph."""
    results = get_graph_results(part)
    outside = (
        {0: call}
        if isinstance(part.output_node().args[0], fx.Node)
        else {user.args[1]: user for user in call.users}
    )
    for i, node in outside.items():
        if any(user.op != "output" for user in node.users):
            results[i].meta.pop(META, None)


def saved_results(graph: fx.Graph) -> dict[int, SavedValue]:
    """Returns the results of a subgraph that are marked as saved, by index."""
    return {
        i: node.meta[META] for i, node in enumerate(get_graph_results(graph)) if META in node.meta
    }
