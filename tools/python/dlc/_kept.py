"""What a forward graph keeps for the backward graph lies as the forward program has it, since nobody else looks at it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx

from dlc import _graph

#: Of a node whose value is kept: a Kept.
META = "dlc_kept"
#: Of a batch norm without statistics: the name of the one that moves them.
AGAIN = "dlc_again"


@torch.library.custom_op("dlc::laid", mutates_args=())
def laid(x: torch.Tensor, layout: str) -> torch.Tensor:
    """The tensor whose elements x has in a layout, as oneDNN writes it. Here is what runs where dlc does not take it."""
    letters, block, _ = re.fullmatch(r"([a-zA-Z]+?)(?:(\d+)([a-z]))?", layout).groups()  # type: ignore[union-attr]
    order = [ord(letter) - ord("a") for letter in letters.lower()]
    sizes = [x.shape[d] for d in order]
    if block:
        at = next(i for i, letter in enumerate(letters) if letter.isupper())
        sizes[at] //= int(block)
        x = x.reshape([*sizes, int(block)]).movedim(-1, at + 1).flatten(at, at + 1)
    else:
        x = x.reshape(sizes)
    return x.permute([order.index(d) for d in range(len(order))]).clone(memory_format=torch.contiguous_format)


@laid.register_fake
def _(x: Any, layout: Any) -> Any:
    return x.new_empty(x.shape)


def is_laid(node: fx.Node) -> bool:
    return node.target is laid._opoverload


def normalise_again(joint: fx.Graph, count: int) -> None:
    """Gradients that ask for what a batch norm makes get it of what its own gradient keeps, in the kernel that reads that anyway: one image less is kept."""
    aten = torch.ops.aten
    # What the first so many outputs are made of.
    forward = {node for node in joint.output_node().args[0][:count] if isinstance(node, fx.Node)}
    for node in reversed(joint.nodes):
        if node in forward:
            forward.update(node.all_input_nodes)
    for norm in joint.find_nodes(op="call_function", target=aten._native_batch_norm_legit_functional.default):
        x, weight, bias, *_, training, _, _ = norm.args
        results = {user.args[1]: user for user in norm.users}
        is_plain = training and all(each is None or each.meta["val"].dtype == torch.float32 for each in (x, weight, bias))
        if not is_plain or not {0, 1, 2} <= set(results):
            continue
        readers = [user for user in results[0].users if user not in forward]
        # Where others than functions of it alone want it, it is there in any case.
        if not readers or any(len(user.all_input_nodes) > 1 or user.op == "output" for user in results[0].users if user not in readers):
            continue
        shape = [-1, *[1] * (x.meta["val"].dim() - 2)]
        with joint.inserting_before(min(readers)):

            def made(target: Any, *args: Any) -> fx.Node:
                node = joint.call_function(target, args)
                node.meta["val"] = target(*[each.meta["val"] if isinstance(each, fx.Node) else each for each in args])
                return node

            def wide(each: fx.Node) -> fx.Node:
                return made(aten.reshape.default, each, shape)

            again = made(aten.mul.Tensor, made(aten.sub.Tensor, x, wide(results[1])), wide(results[2]))
            again = again if weight is None else made(aten.mul.Tensor, again, wide(weight))
            again = again if bias is None else made(aten.add.Tensor, again, wide(bias))
        for reader in readers:
            reader.replace_input_with(results[0], again)


def without_statistics(joint: fx.Graph) -> None:
    """A checkpoint's batch norm is computed again in the backward direction, which needs no running statistics: by then they have moved. Of the two nodes
    that this makes of it, one moves the statistics and the other may be computed again."""
    aten = torch.ops.aten
    for norm in joint.find_nodes(op="call_function", target=aten._native_batch_norm_legit_functional.default):
        x, weight, bias, _, _, training, momentum, eps = norm.args
        if "recompute" not in norm.meta or not training:
            continue
        with joint.inserting_after(norm):
            plain = joint.call_function(aten._native_batch_norm_legit.no_stats, (x, weight, bias, True, momentum, eps))
        plain.meta = {**norm.meta, "val": norm.meta["val"][:3], AGAIN: norm.name}
        for user in list(norm.users):
            if user.args[1] < 3:
                user.replace_input_with(norm, plain)
        for each in (norm, *norm.users):
            each.meta.pop("recompute", None)


def join_statistics(forward: fx.Graph) -> None:
    """What the forward direction computes in any case it need not compute twice."""
    norms = {node.name: node for node in forward.find_nodes(op="call_function", target=torch.ops.aten._native_batch_norm_legit_functional.default)}
    for plain in forward.find_nodes(op="call_function", target=torch.ops.aten._native_batch_norm_legit.no_stats):
        norm = norms.get(plain.meta.get(AGAIN, ""))
        if norm is not None:
            norm.append(plain)
            for user in plain.users:
                norm.append(user)
            plain.replace_all_uses_with(norm)
            forward.erase_node(plain)


class Kept:
    """A result of the forward graph; the backward graph takes it."""

    def __init__(self, taken: fx.Node):
        self._taken = taken

    def __deepcopy__(self, memo: Any) -> Kept:
        return self

    def lies(self, layout: str) -> None:
        """From now on the backward graph says how the value comes: when the forward program is made, and before its own is."""
        taken, graph = self._taken, self._taken.graph
        if not layout:
            return
        # Nothing stands between placeholders.
        with graph.inserting_before(next(node for node in graph.nodes if node.op != "placeholder")):
            seen = graph.call_function(laid._opoverload, (taken, layout))
        taken.replace_all_uses_with(seen, delete_user_cb=lambda user: user is not seen)
        seen.meta["val"] = taken.meta["val"]
        graph.owning_module.recompile()


def mark(forward: fx.Graph, backward: fx.Graph, results: int) -> None:
    """What is kept and nothing else: of the forward graph's outputs those behind its results."""
    taken = {node.name: node for node in backward.find_nodes(op="placeholder")}
    outputs = forward.output_node().args[0]
    count = Counter(outputs)
    for node in outputs[results:]:
        value = node.meta.get("val") if isinstance(node, fx.Node) else None
        if count[node] > 1 or node.op != "call_function" or node.name not in taken or _graph.type_of(value) is None:
            continue
        # Another order than that of the dimensions is one that was asked for.
        if value.is_contiguous():
            node.meta[META] = Kept(taken[node.name])


def results_of(graph: fx.Graph) -> list[fx.Node]:
    (result,) = graph.output_node().args
    return [result] if isinstance(result, fx.Node) else list(result)


def forget(part: fx.Graph, call: fx.Node) -> None:
    """Of a part's results, and of the call that makes them: what others than the graph's output ask for as well lies as they expect it."""
    results = results_of(part)
    outside = {0: call} if isinstance(part.output_node().args[0], fx.Node) else {user.args[1]: user for user in call.users}
    for i, node in outside.items():
        if any(user.op != "output" for user in node.users):
            results[i].meta.pop(META, None)


def among(graph: fx.Graph) -> dict[int, Kept]:
    """The kept ones of a part's results, by their places."""
    return {i: node.meta[META] for i, node in enumerate(results_of(graph)) if META in node.meta}
