#!/usr/bin/env python3
"""Models with selections whose sizes are known only at run time: masked assignments as exporters write them, sums over selected elements,
edges of graphs, detectors, and outputs of data-dependent sizes. The import must not need the value of any input.

  selected_tests.py --runner dlc-onnx-ref --out DIR
  selected_tests.py --runner dlc-onnx-run --out DIR     the whole compiler

Expected outputs are ONNX Runtime's. Each model runs with some, none and all slices selected.
"""

import argparse
import os
import shutil
import subprocess
import sys

import contrib_tests
import numpy as np
import onnx
from onnx import parser

HEAD = '<ir_version: 10, opset_import: ["" : 20]>\n'
CONSTANTS = """zero = Constant<value_int=0>() one = Constant<value_int=1>() zeros = Constant<value_ints=[0]>() ones = Constant<value_ints=[1]>()
    all = Constant<value_ints=[-1]>() half = Constant<value_float=0.5>() """
#: What an index tensor of the condition `m` is, as PyTorch's older exporter writes it, and as the newer one does.
OLD = "i0 = NonZero(m) at = Transpose<perm=[1, 0]>(i0) "
NEW = """i0 = NonZero(m) i1 = Transpose<perm=[1, 0]>(i0) i2 = Squeeze(i1, ones) i3 = Max(i2) i4 = Shape<start=0>(i3) i5 = Expand(i2, i4)
    at = Unsqueeze(i5, all) """

#: Boxes with corners and areas, of any numbers.
BOXES = """b0 = Abs(x) b1, b2 = Split<axis=-1, num_outputs=2>(b0) b3 = Add(b1, b2) b4 = Add(b3, half) b = Concat<axis=-1>(b1, b4) four = Constant<value_int=4>()
    many = Constant<value_int=100>() third = Constant<value_float=0.3>() """

#: Inputs, nodes, and the outputs where they are others than y.
MODELS = {
    # x[m] = number, with the number spread by the count of indices.
    "assign-number": (
        "float[4, 5] x, bool[4, 5] m",
        OLD
        + "s = Shape(at) c = Gather(s, zero) e = Unsqueeze(c, zeros) v = Expand(half, e) y = ScatterND(x, at, v)",
    ),
    "assign-sliced": (
        "float[4, 5] x, bool[4, 5] m",
        OLD
        + """g = GatherND(x, at) a = Add(g, half) r = Reshape(a, all) s = Shape(at) c = Gather(s, zero)
        e = Unsqueeze(c, zeros) u = Slice(r, zeros, e, zeros) z = Mul(x, half) y = ScatterND(z, at, u)""",
    ),
    "assign-rows": (
        "float[6, 3] x, bool[6] m",
        OLD + "g = GatherND(x, at) a = Exp(g) y = ScatterND(x, at, a)",
    ),
    "assign-counted": (
        "float[7] x, bool[7] m",
        NEW
        + """g = GatherND(x, at) a = Sub(g, half) k = Reshape(m, all) w = Cast<to=7>(k) n = ReduceSum<keepdims=1>(w)
        e = Expand(a, n) u = Reshape(e, all) y = ScatterND(x, i1, u)""",
    ),
    # Rows by a condition on rows, as exporters write it: elements by the condition spread over them.
    "assign-spread": (
        "float[6, 3] x, bool[6] m",
        OLD
        + """g = GatherND(x, at) a = Exp(g) u = Unsqueeze(m, all) size = Shape(x) w = Expand(u, size) j0 = NonZero(w)
        j = Transpose<perm=[1, 0]>(j0) r = Reshape(a, all) s = Shape(j) c = Gather(s, zero) e = Unsqueeze(c, zeros) v = Slice(r, zeros, e, zeros) y = ScatterND(x, j, v)""",
    ),
    "assign-spread-further": (
        "float[4, 3, 5] x, bool[4, 3] m",
        OLD
        + """g = GatherND(x, at) a = Exp(g) u = Unsqueeze(m, all) size = Shape(x) w = Expand(u, size)
        j0 = NonZero(w) j = Transpose<perm=[1, 0]>(j0) r = Reshape(a, all) y = ScatterND(x, j, r)""",
    ),
    # Elements of another tensor, in turn: masked_scatter.
    "assign-in-turn": (
        "float[4, 3] x, float[20] z, bool[4, 3] m",
        OLD
        + """s = Shape(at) c = Gather(s, zero) e = Unsqueeze(c, zeros) v = Slice(z, zeros, e, zeros)
        a = Neg(v) y = ScatterND(x, at, a)""",
    ),
    "assign-rows-in-turn": (
        "float[6, 3] x, float[8, 3] z, bool[6] m",
        OLD
        + """u = Unsqueeze(m, all) size = Shape(x) w = Expand(u, size) j0 = NonZero(w)
        j = Transpose<perm=[1, 0]>(j0) r = Reshape(z, all) s = Shape(j) c = Gather(s, zero) e = Unsqueeze(c, zeros) v = Slice(r, zeros, e, zeros) y = ScatterND(x, j, v)""",
    ),
    "assign-added": (
        "float[6, 3] x, bool[6] m",
        OLD + 'g = GatherND(x, at) y = ScatterND<reduction="add">(x, at, g)',
    ),
    # Indices that are computed from the places.
    "write-mirrored": (
        "float[6, 3] x, bool[6] m",
        OLD
        + "five = Constant<value_int=5>() b = Sub(five, at) g = GatherND(x, at) y = ScatterND(x, b, g)",
    ),
    "write-from-the-end": (
        "float[6, 3] x, bool[6] m",
        OLD
        + "d = Sub(at, one) b = Neg(at) c = Sub(b, one) g = GatherND(x, at) y = ScatterND(x, c, g)",
    ),
    "write-elements": (
        "float[6] x, bool[6] m",
        OLD
        + "i = Squeeze(at, ones) five = Constant<value_int=5>() b = Sub(five, i) g = Gather(x, i) y = ScatterElements<axis=0>(x, b, g)",
    ),
    "read-mirrored": (
        "float[6, 3] x, bool[6] m",
        OLD
        + "five = Constant<value_int=5>() b = Sub(five, at) g = GatherND(x, b) y = ReduceSum<keepdims=0>(g, zeros)",
    ),
    # Reductions over what is selected, and beside it.
    **{
        f"reduce-{op.lower()}": (
            "float[4, 5] x, bool[4, 5] m",
            OLD
            + f"g = GatherND(x, at) p = Abs(g) q = Add(p, half) y = Reduce{op}<keepdims={keep}>(q)",
        )
        for op, keep in (
            ("Sum", 0),
            ("Prod", 1),
            ("L1", 0),
            ("L2", 1),
            ("SumSquare", 0),
            ("LogSum", 0),
        )
    },
    "reduce-mean": (
        "float[4, 5] x, bool[4, 5] m",
        OLD
        + """g = GatherND(x, at) s = ReduceSum<keepdims=0>(g) h = Shape(g) c = Gather(h, zero) f = Cast<to=1>(c)
        o = Constant<value_float=1.0>() d = Max(f, o) y = Div(s, d)""",
    ),
    "reduce-rows": (
        "float[6, 3] x, bool[6] m",
        OLD
        + "g = GatherND(x, at) r = ReduceMax<keepdims=0>(g, ones) e = Exp(r) y = ReduceSum<keepdims=0>(e)",
    ),
    "count": (
        "float[4, 5] x, bool[4, 5] m",
        OLD
        + "s = Shape(at) c = Gather(s, zero) t = Mul(c, c) d = Add(c, one) f = Cast<to=1>(d) y = Add(x, f)",
    ),
    "softmax": (
        "float[6, 3] x, bool[6] m",
        OLD
        + "g = GatherND(x, at) p = Softmax<axis=0>(g) q = Mul(p, p) y = ReduceSum<keepdims=0>(q, zeros)",
    ),
    "running": (
        "float[6, 3] x, bool[6] m",
        OLD
        + "g = GatherND(x, at) p = CumSum(g, zero) q = Mul(p, g) y = ReduceSum<keepdims=0>(q, zeros)",
    ),
    # Products: rows of the left, columns of the right, and what is summed over.
    "gemm": (
        "float[6, 3] x, float[3, 4] w, float[4] b, bool[6] m",
        OLD
        + "g = GatherND(x, at) p = Gemm(g, w, b) r = Relu(p) y = ReduceSum<keepdims=0>(r, zeros)",
    ),
    "matmul": (
        "float[6, 3] x, float[3, 4] w, bool[6] m",
        OLD
        + "g = GatherND(x, at) p = MatMul(g, w) t = Transpose<perm=[1, 0]>(p) q = MatMul(t, p) y = Neg(q)",
    ),
    "attention": (
        "float[6, 8] x, bool[6] m",
        OLD
        + """g = GatherND(x, at) h = Constant<value_ints=[-1, 2, 4]>() r = Reshape(g, h) q = Transpose<perm=[1, 0, 2]>(r)
        o = ReduceSum<keepdims=1>(q, ones) k = Transpose<perm=[0, 2, 1]>(q) s = MatMul(o, k) p = Softmax<axis=-1>(s) y = MatMul(p, q)""",
    ),
    "parts": (
        "float[6, 4] x, bool[6] m",
        OLD
        + """g = GatherND(x, at) a, b = Split<axis=1, num_outputs=2>(g) c = Mul(a, b) u = Unsqueeze(c, zeros) v = Concat<axis=2>(u, u)
        t = Transpose<perm=[2, 1, 0]>(v) y = ReduceSum<keepdims=0>(t, ones)""",
    ),
    "search": (
        "float[6, 4] x, bool[6] m",
        OLD
        + """g = GatherND(x, at) i = ArgMax<axis=1, keepdims=0>(g) f = Cast<to=1>(i) two = Constant<value_ints=[2]>() v, j = TopK(g, two)
        r = ReduceSum<keepdims=0>(v, ones) p = Mul(r, f) y = ReduceSum<keepdims=0>(p)""",
    ),
    "convolution": (
        "float[6, 2, 5] x, float[3, 2, 3] w, bool[6] m",
        OLD
        + """g = GatherND(x, at) c = Conv<pads=[1, 1]>(g, w) p = MaxPool<kernel_shape=[2]>(c)
        y = ReduceSum<keepdims=0>(p, zeros)""",
    ),
    "equal-slices": (
        "float[6, 3] x, bool[6] m",
        OLD
        + """s = Shape(at) c = Gather(s, zero) e = Unsqueeze(c, zeros) three = Constant<value_ints=[3]>() h = Concat<axis=0>(e, three)
        w = Expand(half, h) r = Reshape(w, all) t = ReduceSum<keepdims=0>(r) y = Add(x, t)""",
    ),
    "pick": (
        "float[6, 4] x, bool[6] m, int64[6, 1] k",
        OLD
        + """g = GatherND(x, at) h = GatherND(k, at) two = Constant<value_int=2>() j = Mod(h, two)
        e = GatherElements<axis=1>(g, j) y = ReduceSum<keepdims=1>(e)""",
    ),
    "pick-by-batch": (
        "float[6, 4] x, bool[6] m, int64[6, 1] k",
        """g = Compress<axis=0>(x, m) h = Compress<axis=0>(k, m) two = Constant<value_int=2>() j = Mod(h, two)
        e = GatherND<batch_dims=1>(g, j) y = ReduceSum<keepdims=1>(e)""",
    ),
    "norm": (
        "float[6, 4] x, float[4] w, bool[6] m",
        OLD
        + "g = GatherND(x, at) n = LayerNormalization<axis=-1>(g, w) y = ReduceSum<keepdims=0>(n, zeros)",
    ),
    "compress": (
        "float[3, 6] x, bool[5] m",
        "c = Compress<axis=1>(x, m) t = Transpose<perm=[1, 0]>(c) y = MatMul(c, t)",
    ),
    "compress-flat": (
        "float[3, 6] x, bool[18] m",
        "c = Compress(x, m) e = Exp(c) y = ReduceSum<keepdims=1>(e)",
    ),
    # What is selected of what is selected.
    "twice": (
        "float[8] x, bool[8] m",
        NEW
        + """g = GatherND(x, at) z = Constant<value_float=0.0>() k = Greater(g, z) j0 = NonZero(k) j1 = Transpose<perm=[1, 0]>(j0)
        h = GatherND(g, j1) f = Cast<to=7>(k) n = ReduceSum<keepdims=1>(f) d = Sub(h, half) e = Expand(d, n) w = ScatterND(g, j1, e) y = ScatterND(x, at, w)""",
    ),
    "twice-summed": (
        "float[8] x, bool[8] m",
        OLD
        + """g = GatherND(x, at) k = Greater(g, half) j0 = NonZero(k) j = Squeeze(j0, zeros) h = Gather(g, j)
        y = ReduceSum<keepdims=0>(h)""",
    ),
    # Edges of a graph, but those from a node to itself, and one from each to itself.
    "edges": (
        "float[5, 3] x, int64[2, 9] e",
        """a0 = Gather(e, zero) b0 = Gather(e, one) q = Equal(a0, b0) m = Not(q) """
        + NEW
        + """te = Transpose<perm=[1, 0]>(e)
        g = GatherND(te, at) k = Transpose<perm=[1, 0]>(g) own = Constant<value = int64[2, 5] {0, 1, 2, 3, 4, 0, 1, 2, 3, 4}>() c = Concat<axis=1>(k, own)
        from = Gather(c, zero) to = Gather(c, one) n0 = Shape<start=1, end=2>(k) n1 = Squeeze(n0) five = Constant<value_int=5>() n2 = Add(five, n1) n = Reshape(n2, all)
        o = Constant<value_float=1.0>() w = Expand(o, n) fives = Constant<value_ints=[5]>() none = ConstantOfShape(fives)
        degree = ScatterElements<axis=0, reduction="add">(none, to, w) root = Sqrt(degree) u = Unsqueeze(to, all) scale = GatherND(root, u)
        rows = Gather(x, from) s2 = Unsqueeze(scale, all) messages = Div(rows, s2) three = Constant<value_ints=[3]>() h = Concat<axis=0>(n, three)
        t2 = Unsqueeze(to, all) spread = Expand(t2, h) start = Mul(x, half) sum = ScatterElements<axis=0, reduction="add">(start, spread, messages)
        most = ScatterElements<axis=0, reduction="max">(start, spread, messages) y = Sub(sum, most)""",
    ),
    # By their number: the first ones, the last but some, the one at an index, the largest.
    "first-slices": (
        "float[9, 3] x, bool[9] m",
        OLD
        + "two = Constant<value_ints=[2]>() g = GatherND(x, at) f = Slice(g, zeros, two, zeros) y = ReduceSum<keepdims=0>(f, zeros)",
    ),
    "middle-slices": (
        "float[3, 9] x, bool[9] m",
        """c = Compress<axis=1>(x, m) last = Constant<value_ints=[-1]>() f = Slice(c, ones, last, ones) e = Exp(f)
        y = ReduceSum<keepdims=0>(e, ones)""",
    ),
    "slice-at": (
        "float[9, 3] x, bool[9] m",
        """o = Constant<value = float[1, 3] {1, 2, 3}>() c = Compress<axis=0>(x, m) d = Concat<axis=0>(c, o) a = Gather(d, zero) last = Constant<value_int=-1>()
        b = Gather(d, last) y = Sub(a, b)""",
    ),
    "slices-of-slices": (
        "float[9, 3] x, bool[9] m",
        OLD
        + """g = GatherND(x, at) k = ReduceSum<keepdims=0>(g, ones) six = Constant<value_ints=[6]>() s = Shape(k) n = Min(s, six) v, i = TopK(k, n)
        r = Gather(g, i) u = Unsqueeze(v, ones) p = Mul(r, u)  y = ReduceSum<keepdims=0>(p, zeros)""",
    ),
    # Outputs of which the run finds a size.
    "output-rows": (
        "float[6, 3] x, bool[6] m",
        OLD + "y = GatherND(x, at) p = Exp(y)",
        "float y, float p",
    ),
    "output-places": (
        "float[4, 5] x, bool[4, 5] m",
        "p = NonZero(m) t = Transpose<perm=[1, 0]>(p) y = GatherND(x, t)",
        "float y, int64 p, int64 t",
    ),
    "output-columns": (
        "float[3, 6, 2] x, bool[6] m",
        "y = Compress<axis=1>(x, m) c = Cast<to=6>(y)",
        "float y, int32 c",
    ),
    "output-of-two": (
        "float[8] x, bool[8] m",
        OLD
        + """y = GatherND(x, at) k = Greater(y, half) j = NonZero(k) h = Transpose<perm=[1, 0]>(j) w = GatherND(y, h)
        b = And(m, m) q = Compress<axis=0>(x, b)""",
        "float y, int64 j, float w, float q",
    ),
    "output-joined": (
        "float[5, 2] x, float[3, 2] z, bool[5] m",
        OLD + "g = GatherND(x, at) y = Concat<axis=0>(z, g, z) s = Shape(g)",
        "float y, int64 s",
    ),
    "output-largest": (
        "float[40] x, bool[40] m",
        "c = Compress<axis=0>(x, m) ten = Constant<value_ints=[10]>() s = Shape(c) k = Min(s, ten) y, i = TopK(c, k) z, j = TopK<largest=0>(c, s)",
        "float y, int64 i, float z, int64 j",
    ),
    "ranges": (
        "float[9, 3] x, bool[9] m",
        """c = Compress<axis=0>(x, m) back = Constant<value_ints=[-3]>() last = Constant<value_ints=[-1]>() end = Constant<value_ints=[9223372036854775807]>()
        begin = Constant<value_ints=[-9223372036854775807]>() four = Constant<value_ints=[4]>() y = Slice(c, back, end, zeros) a = Slice(c, back, last, zeros) d = Slice(c, ones, last, zeros)
        f = Slice(c, back, four, zeros) e = Slice(c, last, begin, zeros, last) t = Constant<value_ints=[2, 1]>() g = Tile(c, t)""",
        "float y, float a, float d, float f, float e, float g",
    ),
    "largest-slice": (
        "float[9, 3] x, bool[9] m",
        """o = Constant<value = float[1, 3] {0, 0, 0}>() c0 = Compress<axis=0>(x, m) c = Concat<axis=0>(c0, o) k = ArgMax<axis=0>(c) l = ArgMin<axis=0, keepdims=0>(c)
        i = Cast<to=6>(c) j = ArgMax<axis=0>(i) y = Exp(c)""",
        "float y, int64 k, int64 l, int64 j",
    ),
    "unique": (
        "float[12] x, bool[3] m, int64[2, 7] e",
        """f = Cast<to=7>(x) y, i, r, c = Unique(f) z = Unique(e) w = Floor(x) v, q, p, s = Unique(w)
        l = ReduceSum<keepdims=1>(c)""",
        "int64 y, int64 i, int64 r, int64 c, int64 z, float v, int64 q, int64 p, int64 s, int64 l",
    ),
    "numbers": (
        "float[6, 4] x, int64[6, 1] k, bool[6] m",
        OLD
        + """g = GatherND(x, at) h = GatherND(k, at) s = Shape<start=0, end=1>(g) e = Squeeze(s) r = Range(zero, e, one)
        u = Unsqueeze(r, ones) four = Constant<value_int=4>() j = Mod(h, four) i = Concat<axis=1>(u, j) y = GatherND(g, i) z = ReduceSum<keepdims=0>(r)""",
        "float y, int64 r, int64 z",
    ),
    "resized": (
        "float[5, 2, 4, 3] x, bool[5] m",
        """c = Compress<axis=0>(x, m) h = Constant<value = float[4] {1, 1, 2, 2}>() none = Constant<value = float[0] {}>() y = Resize<mode="linear">(c, none, h)
        s = Shape<start=0, end=2>(c) w = Constant<value_ints=[7, 5]>() t = Concat<axis=0>(s, w) p = Resize(c, none, none, t)""",
        "float y, float p",
    ),
    "padded": (
        "float[5, 2, 4] x, bool[5] m",
        """c = Compress<axis=0>(x, m) w = Constant<value_ints=[0, 1, 0, 0, 0, 2]>() y = Pad(c, w)""",
        "float y",
    ),
    "padded-by-rows": (
        "float[5, 3] x, bool[5] m",
        """c = Compress<axis=0>(x, m) w = Constant<value_ints=[1, 0, 2, 1]>() y = Pad(c, w, half) s = Size(c) t = Size(y)""",
        "float y, int64 s, int64 t",
    ),
    # Up to a number of rows, as exporters of detectors do it.
    "padded-to-size": (
        "float[5, 3] x, bool[5] m",
        """c = Compress<axis=0>(x, m) s = Shape<start=0, end=1>(c) four = Constant<value_ints=[6]>() d = Sub(four, s)
        w = Concat<axis=0>(zeros, zeros, d, zeros) y = Pad(c, w) line = Constant<value_ints=[-1]>() f = Reshape(c, line) three = Constant<value_ints=[3]>() g = Mul(d, three)
        v = Concat<axis=0>(zeros, g) p = Pad(f, v)""",
        "float y, float p",
    ),
    # A branch for where there is nothing, as exporters write it.
    "branch": (
        "float[6, 3] x, bool[6] m",
        """c = Compress<axis=0>(x, m) s = Shape(c) p = ReduceProd<keepdims=0>(s) e = Equal(p, zero)
        y, n = If<then_branch = empty () => (float[0, 3] a, int64[0] b) {
            a = Constant<value = float[0, 3] {}>() b = Constant<value = int64[0] {}>() }, else_branch = some () => (float[k, 3] d, int64[l] f) {
            d = Exp(c) g = ReduceSum<keepdims=0>(c, ones) i = Cast<to=7>(g) f = Identity(i) }>(e)""",
        "float y, int64 n",
    ),
    "branch-of-sizes": (
        "float[6, 3] x, bool[1] m",
        """f = Squeeze(m)
        y = If<then_branch = two () => (float[2, 3] a) { b = Constant<value_ints=[2]>() n = Constant<value_ints=[0]>() a = Slice(x, n, b, n) }, else_branch = all () => (float[6, 3] d) {
            d = Exp(x) }>(f)""",
        "float y",
    ),
    # Detectors: scores above a threshold, suppression, the best of what is left.
    "boxes": (
        "float[2, 60, 4] x, float[2, 3, 60] scores",
        BOXES + "i = NonMaxSuppression(b, scores, four, third, half)",
        "int64 i",
    ),
    "boxes-of-centres": (
        "float[1, 60, 4] x, float[1, 2, 60] scores",
        BOXES + "c = Abs(b) i = NonMaxSuppression<center_point_box=1>(c, scores, many, third)",
        "int64 i",
    ),
    "boxes-detected": (
        "float[1, 60, 4] x, float[1, 1, 60] scores",
        BOXES
        + """i = NonMaxSuppression(b, scores, many, third, half) two = Constant<value_int=2>() k = Gather<axis=1>(i, two)
        flat = Squeeze(b, zeros) y = Gather(flat, k) line = Constant<value_ints=[-1]>() p = Reshape(scores, line) q = Gather(p, k)""",
        "float y, float q, int64 k",
    ),
    "boxes-above": (
        "float[60, 4] x, float[60] p, float[60] c",
        BOXES
        + """a = Greater(p, half) j = NonZero(a) f = Squeeze(j, zeros) kept = Gather(b, f) s = Gather(p, f)
        group = Gather(c, f) most = ReduceMax<keepdims=0>(kept) o = Mul(group, most) u = Unsqueeze(o, ones) apart = Add(kept, u) bb = Unsqueeze(apart, zeros)
        two = Constant<value_ints=[0, 1]>() ss = Unsqueeze(s, two) i = NonMaxSuppression(bb, ss, many, third) column = Constant<value_int=2>() k = Gather<axis=1>(i, column)
        five = Constant<value_ints=[5]>() best = Slice(k, zeros, five, zeros) y = Gather(kept, best) q = Gather(s, best)""",
        "float y, float q, int64 best",
    ),
    "regions": (
        "float[1, 2, 9, 9] x, float[12, 4] z, bool[12] m",
        """c = Compress<axis=0>(z, m) r = Abs(c) s = Shape<start=0, end=1>(r) which = ConstantOfShape<value = int64[1] {0}>(s)
        y = RoiAlign<output_height=2, output_width=3, sampling_ratio=2, mode="avg">(x, r, which)""",
        "float y",
    ),
}


def inputs_of(graph, kind, rng):
    values = {}
    for info in graph.input:
        shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
        element = info.type.tensor_type.elem_type
        if element == onnx.TensorProto.BOOL:
            values[info.name] = {
                "some": rng.random(shape) < 0.5,
                "none": np.zeros(shape, bool),
                "all": np.ones(shape, bool),
            }[kind]
        elif element == onnx.TensorProto.INT64:
            ends = rng.integers(0, 5, shape)
            if kind == "none":
                ends[1] = ends[0]
            if kind == "all":
                ends[1] = (ends[0] + 1) % 5
            values[info.name] = ends
        else:
            values[info.name] = rng.standard_normal(shape).astype(np.float32)
    return values


def write(out):
    import onnxruntime

    shutil.rmtree(out, ignore_errors=True)
    folders = []
    for name, (inputs, body, *outputs) in MODELS.items():
        model = parser.parse_model(
            HEAD
            + f"agraph ({inputs}) => ({outputs[0] if outputs else 'float y'}) {{ {CONSTANTS}{body} }}"
        )
        for output in model.graph.output:
            output.type.tensor_type.ClearField("shape")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        rng = np.random.default_rng(sum(name.encode()))
        for kind in ("some", "none", "all"):
            if (name, kind) == ("attention", "none"):  # ONNX Runtime divides by its number of rows
                continue
            folder = os.path.join(out, f"{name}-{kind}")
            feeds = inputs_of(model.graph, kind, rng)
            contrib_tests.write(folder, model, feeds, session.run(None, feeds))
            folders.append(folder)
    return folders


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--runner", required=True)
    p.add_argument("--out", required=True)
    arguments = p.parse_args()
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        print("skipped, since onnxruntime is not installed")
        return 0
    bound = (
        ["--unbound"] if os.path.basename(arguments.runner) == "dlc-onnx-ref" else []
    )  # the other never binds
    return subprocess.run(
        [arguments.runner, *bound, "--rtol", "1e-4", "--atol", "1e-5", *write(arguments.out)]
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
