"""The rows of operators.py: ONNX operators with the shapes and attributes of networks."""

from operator_row import c, format_shape, Operand, Row, scalar_constant, w, x
from operator_rows_movement import data_movement, grid_sampling


def convolutions():
    def conv(
        name,
        image,
        out,
        kernel,
        stride=1,
        groups=1,
        dilation=1,
        pads=None,
        transposed=False,
        **more,
    ):
        dims = len(image) - 2
        kernel = kernel if isinstance(kernel, tuple) else (kernel,) * dims
        stride, dilation = [
            list(v) if isinstance(v, tuple) else [v] * dims for v in (stride, dilation)
        ]
        pads = (
            [d * (k - 1) // 2 for k, d in zip(kernel, dilation)] * 2
            if pads is None
            else [pads] * (2 * dims)
        )
        weight = (
            w(image[1], out // groups, *kernel)
            if transposed
            else w(out, image[1] // groups, *kernel)
        )
        return Row(
            f"{name}/{format_shape(image)}",
            "ConvTranspose" if transposed else "Conv",
            [x(*image), weight, w(out)],
            dict(
                kernel_shape=list(kernel),
                strides=stride,
                dilations=dilation,
                group=groups,
                pads=pads,
                **more,
            ),
        )

    yield conv("conv-7x7-s2", (1, 3, 224, 224), 64, 7, 2)
    yield conv("conv-4x4-s4-patches", (1, 3, 224, 224), 96, 4, 4, pads=0)
    yield conv("conv-16x16-s16-patches", (1, 3, 224, 224), 768, 16, 16, pads=0)
    yield conv("conv-3x3-s2-stem", (1, 3, 320, 320), 16, 3, 2)
    yield conv("conv-3x3-grey", (1, 1, 256, 256), 32, 3)
    yield conv("conv-3x3-to-image", (1, 64, 256, 256), 3, 3)
    yield conv("conv-9x9-to-image", (1, 64, 128, 128), 3, 9)
    yield conv("conv-1x1-to-one", (1, 64, 256, 256), 1, 1)
    yield conv("conv-3x3", (1, 64, 56, 56), 64, 3)
    yield conv("conv-3x3", (1, 256, 14, 14), 256, 3)
    yield conv("conv-3x3-wide", (1, 512, 7, 7), 512, 3)
    yield conv("conv-3x3-odd", (1, 50, 61, 61), 30, 3)
    yield conv("conv-3x3-s2", (1, 128, 56, 56), 256, 3, 2)
    yield conv("conv-3x3-dilated", (1, 256, 33, 33), 256, 3, dilation=12)
    yield conv("conv-3x3-batch", (8, 64, 28, 28), 64, 3)
    yield conv("conv-1x1", (1, 256, 56, 56), 64, 1)
    yield conv("conv-1x1", (1, 1024, 14, 14), 2048, 1)
    yield conv("conv-1x1-odd", (1, 116, 28, 28), 58, 1)
    yield conv("conv-1x1-s2", (1, 256, 56, 56), 512, 1, 2)
    yield conv("conv-1x1-squeeze", (1, 960, 1, 1), 240, 1)
    yield conv("conv-1x7", (1, 192, 17, 17), 192, (1, 7))
    yield conv("conv-7x1", (1, 192, 17, 17), 192, (7, 1))
    yield conv("conv-5x5", (1, 64, 28, 28), 96, 5)
    for groups in (2, 8, 32):
        yield conv(f"conv-grouped-{groups}", (1, 256, 28, 28), 256, 3, groups=groups)
    # Grouped convolutions of RegNets, ResNeXts and ResNeSts: channels, size, channels per group, stride.
    for channels, size, width, stride in (
        (48, 56, 8, 2),
        (104, 28, 8, 1),
        (128, 56, 4, 1),
        (120, 28, 24, 1),
        (256, 28, 8, 1),
        (240, 28, 40, 2),
        (512, 14, 16, 1),
        (336, 14, 56, 1),
        (1024, 7, 32, 1),
        (448, 14, 112, 1),
    ):
        yield conv(
            f"conv-grouped-of-{width}/{channels}x{size}" + ("-s2" if stride == 2 else ""),
            (1, channels, size, size),
            channels,
            3,
            stride,
            groups=channels // width,
        )
    for channels, size, groups in ((80, 56, 8), (64, 56, 2), (160, 28, 4)):
        yield conv(
            f"conv-grouped-wider-{groups}/{channels}x{size}",
            (1, channels, size, size),
            channels * (4 if groups == 8 else 2),
            3,
            groups=groups,
        )
    yield conv("conv-grouped-odd", (1, 120, 28, 28), 120, 3, groups=5)
    yield conv("conv-grouped-1x1", (1, 240, 28, 28), 240, 1, groups=3)
    for kernel in (3, 5, 7, 11, 31):
        yield conv(f"conv-depthwise-{kernel}", (1, 96, 56, 56), 96, kernel, groups=96)
    yield conv("conv-depthwise-3-s2", (1, 144, 56, 56), 144, 3, 2, groups=144)
    yield conv("conv-depthwise-odd", (1, 58, 28, 28), 58, 3, groups=58)
    yield conv("conv-depthwise-dilated", (1, 256, 33, 33), 256, 3, groups=256, dilation=4)
    yield conv("conv-depthwise-1x11", (1, 64, 56, 56), 64, (1, 11), groups=64)
    yield conv("conv-depthwise-multiplier", (1, 32, 56, 56), 64, 3, groups=32)
    yield conv("conv-depthwise-valid", (1, 96, 56, 56), 96, 3, groups=96, pads=0)
    yield conv("conv1d-3", (1, 80, 1500), 384, 3)
    yield conv("conv1d-10-s5", (1, 1, 16000), 512, 10, 5, pads=0)
    yield conv("conv1d-3-s2", (1, 512, 3199), 512, 3, 2, pads=0)
    yield conv("conv1d-7-vocoder", (1, 32, 8192), 32, 7)
    yield conv("conv1d-11-dilated", (1, 128, 4096), 128, 11, dilation=5)
    yield conv("conv1d-wavenet", (1, 64, 4096), 128, 2, dilation=512, pads=256)
    yield conv("conv1d-depthwise-31", (1, 256, 500), 256, 31, groups=256)
    yield conv("conv1d-grouped-128", (1, 768, 499), 768, 128, groups=16, pads=64)
    yield conv("conv1d-1-to-one", (1, 64, 16000), 1, 7)
    yield conv("conv3d-3", (1, 64, 8, 28, 28), 64, 3)
    yield conv("conv3d-stem", (1, 3, 16, 112, 112), 64, (3, 7, 7), (1, 2, 2))
    yield conv("conv3d-1x3x3", (1, 64, 8, 56, 56), 64, (1, 3, 3))
    yield conv("conv3d-3x1x1", (1, 64, 8, 56, 56), 64, (3, 1, 1))
    yield conv("conv3d-depthwise", (1, 108, 8, 28, 28), 108, 3, groups=108)
    yield conv("conv3d-unet", (1, 32, 32, 32, 32), 32, 3)
    yield conv("convt-2-s2", (1, 128, 56, 56), 64, 2, 2, pads=0, transposed=True)
    yield conv("convt-4-s2", (1, 128, 32, 32), 64, 4, 2, pads=1, transposed=True)
    yield conv(
        "convt-3-s2", (1, 64, 64, 64), 32, 3, 2, pads=1, transposed=True, output_padding=[1, 1]
    )
    yield conv("convt-4-start", (1, 100, 1, 1), 512, 4, 1, pads=0, transposed=True)
    yield conv("convt-depthwise-4", (1, 64, 28, 28), 64, 4, 2, pads=1, groups=64, transposed=True)
    yield conv("convt1d-16-s8", (1, 512, 64), 256, 16, 8, pads=4, transposed=True)
    yield conv("convt3d-2-s2", (1, 64, 8, 16, 16), 32, 2, 2, pads=0, transposed=True)
    yield conv("conv-3x3-batch", (32, 3, 32, 32), 16, 3)
    yield conv("conv-3x3-batch", (32, 64, 8, 8), 64, 3)
    yield conv("conv-3x3-batch", (8, 256, 14, 14), 256, 3)
    yield conv("conv-3x3-batch-s2", (32, 32, 16, 16), 64, 3, 2)
    yield conv("conv-1x1-batch", (8, 256, 14, 14), 1024, 1)
    yield conv("conv-1x1-batch", (32, 512, 2, 2), 512, 1)
    yield conv("conv-depthwise-batch", (8, 144, 28, 28), 144, 3, groups=144)
    yield conv("conv-grouped-batch", (8, 128, 28, 28), 128, 3, groups=32)
    yield conv("conv-2x2-s2", (1, 96, 56, 56), 192, 2, 2, pads=0)
    yield conv("conv-3x3-latent", (1, 4, 64, 64), 320, 3)
    yield conv("conv-3x3-deep", (1, 1280, 8, 8), 1280, 3)
    yield conv("conv-7x7-to-one", (1, 2, 64, 64), 1, 7)
    yield conv("conv-1x1-to-classes", (1, 256, 128, 128), 19, 1)
    yield conv("conv1d-5-batch", (16, 64, 128), 64, 5)
    yield conv("conv1d-1", (1, 512, 400), 2048, 1)
    yield conv("conv1d-7-start", (1, 80, 400), 512, 7)


def matmuls():
    def product(name, a, b, constant=False):
        return Row(
            f"matmul-{name}/{format_shape(a)}-{format_shape(b)}",
            "MatMul",
            [x(*a), (w if constant else x)(*b)],
        )

    for m in (1, 2, 4, 16, 64, 197, 512, 1500):
        yield product("weights", (m, 768), (768, 3072), True)
    yield product("weights-back", (197, 3072), (3072, 768), True)
    yield product("vocabulary", (1, 768), (768, 50257), True)
    yield product("classes", (1, 2048), (2048, 1000), True)
    yield product("odd", (77, 333), (333, 129), True)
    yield product("narrow", (4096, 64), (64, 3), True)
    yield product("to-one", (10000, 128), (128, 1), True)
    yield product("from-few", (10000, 4), (4, 64), True)
    yield product("batch-weights", (8, 197, 384), (384, 1536), True)
    yield product("heads", (1, 12, 197, 64), (1, 12, 64, 197))
    yield product("heads-back", (1, 12, 197, 197), (1, 12, 197, 64))
    yield product("windows", (64, 3, 49, 32), (64, 3, 32, 49))
    yield product("one-query", (1, 32, 1, 128), (1, 32, 128, 1024))
    yield product("inputs", (512, 512), (512, 512))
    yield product("long", (64, 100000), (100000, 64))
    yield product("broadcast", (1, 256, 256), (32, 256, 64))
    yield product("vector", (1000, 1000), (1000,))
    yield product("linear-attention", (8, 16, 1024), (8, 1024, 17))
    yield product("one-query-back", (1, 32, 1, 1024), (1, 32, 1024, 128))
    yield product("many-small", (4096, 8, 8), (4096, 8, 8))
    yield product("windows-many", (256, 4, 64, 32), (256, 4, 32, 64))
    yield product("rows-of-batches", (64, 1, 512), (64, 512, 512))
    yield product("broadcast-left", (197, 197), (16, 197, 64))
    yield product("heads-weights", (1, 12, 197, 64), (12, 64, 64), True)
    yield product("outer", (512, 1), (1, 512))
    yield product("tall", (100000, 16), (16, 16), True)
    yield product("dot", (1, 100000), (100000, 1))
    for m in (1, 256):
        yield Row(
            f"matmul-f64/{m}x512",
            "MatMul",
            [x(m, 512, kind="float64"), x(512, 512, kind="float64")],
        )
    for flags in ((0, 0), (0, 1), (1, 0)):
        yield Row(
            f"gemm-{flags[0]}{flags[1]}/256",
            "Gemm",
            [
                x(256, 512) if not flags[0] else x(512, 256),
                w(512, 1024) if not flags[1] else w(1024, 512),
                w(1024),
            ],
            dict(transA=flags[0], transB=flags[1]),
        )
    for equation, a, b in (
        ("bhid,bhjd->bhij", (1, 8, 256, 64), (1, 8, 256, 64)),
        ("bhij,bhjd->bihd", (1, 8, 256, 256), (1, 8, 256, 64)),
        ("bhwc,hkc->bhwk", (1, 14, 14, 64), (14, 14, 64)),
        ("nclhw,co->nolhw", (1, 64, 4, 14, 14), (64, 128)),
        ("bi,bj->bij", (32, 256), (32, 256)),
        ("bnd,bmd->bnm", (2, 900, 256), (2, 1000, 256)),
        ("bqc,bchw->bqhw", (1, 100, 256), (1, 256, 96, 96)),
        ("ibh,hnd->ibnd", (128, 1, 768), (768, 12, 64)),
        ("i,j->ij", (2048,), (64,)),
        ("nkctv,kvw->nctw", (1, 3, 64, 50, 25), (3, 25, 25)),
        ("bhwc,wkc->bhwk", (8, 14, 14, 64), (14, 14, 64)),
    ):
        yield Row(
            "einsum-" + equation.replace(",", "_").replace("->", "_"),
            "Einsum",
            [x(*a), x(*b)],
            dict(equation=equation),
        )


def pools():
    def pool(name, op, image, kernel, stride, pads=0, **more):
        dims = len(image) - 2
        return Row(
            f"{name}/{format_shape(image)}",
            op,
            [x(*image)],
            dict(
                kernel_shape=[kernel] * dims,
                strides=[stride] * dims,
                pads=[pads] * (2 * dims),
                **more,
            ),
        )

    yield pool("maxpool-3-s2", "MaxPool", (1, 64, 112, 112), 3, 2, 1)
    yield pool("maxpool-2-s2", "MaxPool", (1, 64, 224, 224), 2, 2)
    yield pool("maxpool-5-s1", "MaxPool", (1, 256, 20, 20), 5, 1, 2)
    yield pool("maxpool-13-s1", "MaxPool", (1, 256, 20, 20), 13, 1, 6)
    yield pool("maxpool-ceil", "MaxPool", (1, 64, 112, 112), 3, 2, ceil_mode=1)
    yield pool("maxpool1d", "MaxPool", (1, 128, 4000), 3, 3)
    yield pool("maxpool3d", "MaxPool", (1, 64, 16, 56, 56), 2, 2)
    yield pool("avgpool-3-s1", "AveragePool", (1, 256, 35, 35), 3, 1, 1)
    yield pool("avgpool-2-s2", "AveragePool", (1, 128, 56, 56), 2, 2)
    yield pool("avgpool-7-s1", "AveragePool", (1, 192, 28, 28), 7, 1, 3)
    yield pool("avgpool-all-counted", "AveragePool", (1, 256, 35, 35), 3, 1, 1, count_include_pad=1)
    yield pool("avgpool3d", "AveragePool", (1, 64, 8, 28, 28), 2, 2)
    yield pool("lppool", "LpPool", (1, 64, 56, 56), 3, 2, p=2)
    for name, op in (("avg", "GlobalAveragePool"), ("max", "GlobalMaxPool")):
        yield Row(f"global-{name}/1x2048x7x7", op, [x(1, 2048, 7, 7)])
        yield Row(f"global-{name}/1x96x112x112", op, [x(1, 96, 112, 112)])
    yield pool("avgpool-8-s8", "AveragePool", (1, 256, 64, 64), 8, 8)
    yield pool("maxpool-2-batch", "MaxPool", (32, 32, 16, 16), 2, 2)
    yield pool("avgpool1d", "AveragePool", (1, 64, 4000), 25, 1, 12)


def normalisations():
    for shape in ((1, 197, 768), (1, 3136, 96), (1, 56, 56, 96), (1, 1, 768), (20000, 16)):
        yield Row(
            f"layernorm/{format_shape(shape)}",
            "LayerNormalization",
            [x(*shape), w(shape[-1]), w(shape[-1])],
            dict(axis=-1),
        )
    yield Row(
        "layernorm-image/1x64x28x28",
        "LayerNormalization",
        [x(1, 64, 28, 28), w(64, 28, 28), w(64, 28, 28)],
        dict(axis=1),
    )
    for shape in (
        (1, 64, 128, 128),
        (8, 32, 64, 64),
        (1, 32, 16, 32, 32),
        (1, 512, 400),
        (1, 32, 512, 512),
    ):
        yield Row(
            f"instancenorm/{format_shape(shape)}",
            "InstanceNormalization",
            [x(*shape), w(shape[1]), w(shape[1])],
        )
    for shape, groups in (
        ((1, 320, 64, 64), 32),
        ((1, 64, 28, 28), 1),
        ((1, 256, 1500), 8),
        ((2, 1280, 8, 8), 32),
        ((1, 512, 128, 128), 32),
    ):
        yield Row(
            f"groupnorm-{groups}/{format_shape(shape)}",
            "GroupNormalization",
            [x(*shape), w(groups), w(groups)],
            dict(num_groups=groups),
            opset=20,
        )
    yield Row(
        "batchnorm/1x64x112x112",
        "BatchNormalization",
        [x(1, 64, 112, 112), w(64), w(64), w(64), w(64, low=0.5, high=2)],
    )
    yield Row("lrn/1x96x55x55", "LRN", [x(1, 96, 55, 55)], dict(size=5))
    yield Row("lrn/1x256x27x27", "LRN", [x(1, 256, 27, 27)], dict(size=5, alpha=1e-4, beta=0.75))
    yield Row(
        "batchnorm/256x512",
        "BatchNormalization",
        [x(256, 512), w(512), w(512), w(512), w(512, low=0.5, high=2)],
    )
    yield Row("lpnorm/512x128", "LpNormalization", [x(512, 128)], dict(axis=-1))
    yield Row("meanvariance/1x64x56x56", "MeanVarianceNormalization", [x(1, 64, 56, 56)])
    yield Row("lpnorm/1x256x56x56", "LpNormalization", [x(1, 256, 56, 56)], dict(axis=1))
    for shape, axis in (
        ((1, 12, 197, 197), -1),
        ((64, 3, 49, 49), -1),
        ((1, 21, 128, 128), 1),
        ((1, 50257), -1),
        ((1, 1000), -1),
        ((8, 128, 4), 1),
        ((1, 32, 8, 56, 56), 2),
        ((1, 8, 1024, 1024), -1),
        ((1, 16, 4, 8400), 1),
        ((10000, 10), -1),
        ((1000, 64), 0),
        ((1, 151936), -1),
        ((1, 19, 64, 2048), 1),
    ):
        yield Row(f"softmax-{axis}/{format_shape(shape)}", "Softmax", [x(*shape)], dict(axis=axis))
    yield Row("logsoftmax/200x5000", "LogSoftmax", [x(200, 5000)], dict(axis=-1))
    yield Row("hardmax/200x5000", "Hardmax", [x(200, 5000)], dict(axis=-1))


def reductions():
    shapes = (
        ((1, 256, 56, 56), (2, 3)),
        ((1, 256, 56, 56), (1,)),
        ((1, 197, 768), (1,)),
        ((1, 197, 768), (2,)),
        ((1, 1, 224, 224), (0, 1, 2, 3)),
        ((64, 64, 3, 3), (0, 2)),
    )
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceProd", "ReduceLogSumExp"):
        for shape, axes in shapes[: 6 if op in ("ReduceMean", "ReduceMax") else 2]:
            yield Row(
                f"{op.lower()}-{''.join(map(str, axes))}/{format_shape(shape)}",
                op,
                [x(*shape), c(*axes)],
                dict(keepdims=1),
            )
    for shape, axis in (
        ((1, 50257), 1),
        ((1, 21, 128, 128), 1),
        ((512, 1000), 1),
        ((1000, 512), 0),
    ):
        yield Row(
            f"argmax-{axis}/{format_shape(shape)}",
            "ArgMax",
            [x(*shape)],
            dict(axis=axis, keepdims=0),
        )
    for op, shape, axes in (
        ("ReduceSum", (512, 1024), (0,)),
        ("ReduceMean", (16, 64, 56, 56), (0, 2, 3)),
        ("ReduceMean", (1, 56, 56, 96), (1, 2)),
        ("ReduceSum", (1, 64, 112, 112), (3,)),
        ("ReduceSum", (1000000,), (0,)),
        ("ReduceMax", (64, 512, 64), (1,)),
        ("ReduceMin", (1, 8400, 80), (2,)),
        ("ReduceSumSquare", (1, 64, 112, 112), (1,)),
        ("ReduceL1", (512, 1024), (1,)),
        ("ReduceLogSum", (512, 1024), (1,)),
        ("ReduceLogSumExp", (64, 10000), (1,)),
        ("ReduceMean", (1, 1, 768), (2,)),
        ("ReduceMean", (100000, 3), (1,)),
        ("ReduceSum", (30, 20, 10, 8, 6), (0, 2, 4)),
    ):
        positive = dict(low=0.1, high=2) if op == "ReduceLogSum" else {}
        yield Row(
            f"{op.lower()}-{''.join(map(str, axes))}/{format_shape(shape)}",
            op,
            [x(*shape, **positive), *([c(*axes)])],
        )
    yield Row("reducesum-int64", "ReduceSum", [x(64, 4096, kind="int64", high=100), c(1)])
    yield Row("reducemax-int32", "ReduceMax", [x(64, 4096, kind="int32", high=100), c(0)])
    yield Row("argmin-2/64x32x512", "ArgMin", [x(64, 32, 512)], dict(axis=2, keepdims=0))
    yield Row("argmax-3/1x128x128x21", "ArgMax", [x(1, 128, 128, 21)], dict(axis=3, keepdims=0))
    yield Row("cumsum-0/512x512", "CumSum", [x(512, 512), scalar_constant(0, "int64")])
    yield Row(
        "cumsum-int64/8x2048",
        "CumSum",
        [x(8, 2048, kind="int64", high=2), scalar_constant(1, "int64")],
    )
    yield Row(
        "cumsum-back/1x64x4096",
        "CumSum",
        [x(1, 64, 4096), scalar_constant(2, "int64")],
        dict(exclusive=1, reverse=1),
    )
    yield Row(
        "topk-smallest/4096x64", "TopK", [x(4096, 64), c(4)], dict(axis=-1, largest=0), outputs=2
    )
    yield Row("topk-classes/1x80x8400", "TopK", [x(1, 80, 8400), c(1)], dict(axis=1), outputs=2)
    for shape, axis in (((1, 512, 512), 2), ((1, 512, 512), 1), ((1, 1000000), 1)):
        yield Row(
            f"cumsum-{axis}/{format_shape(shape)}",
            "CumSum",
            [x(*shape), scalar_constant(axis, "int64")],
        )
    for shape, k in (
        ((1, 50257), 50),
        ((1, 8400), 300),
        ((512, 128), 8),
        ((1, 8, 2048), 2048),
        ((100, 1000), 1),
    ):
        yield Row(
            f"topk-{k}/{format_shape(shape)}", "TopK", [x(*shape), c(k)], dict(axis=-1), outputs=2
        )
    yield Row("topk-first-axis/8400x4", "TopK", [x(8400, 4), c(100)], dict(axis=0), outputs=2)


def elementwise():
    shape = (1, 64, 112, 112)
    for op in (
        "Relu",
        "Sigmoid",
        "Tanh",
        "Exp",
        "Log",
        "Sqrt",
        "Erf",
        "Sin",
        "Cos",
        "Gelu",
        "HardSwish",
        "HardSigmoid",
        "Mish",
        "Elu",
        "Selu",
        "Softplus",
        "Softsign",
        "Abs",
        "Floor",
        "Round",
        "Sign",
        "Reciprocal",
        "Atan",
        "Tan",
        "Asinh",
        "IsNaN",
        "Ceil",
        "Neg",
        "Sinh",
        "Cosh",
        "Asin",
        "Celu",
        "ThresholdedRelu",
        "IsInf",
    ):
        yield Row(
            f"unary-{op.lower()}",
            op,
            [
                x(
                    *shape,
                    **(
                        dict(low=0.1, high=3)
                        if op in ("Log", "Sqrt")
                        else dict(low=-1, high=1)
                        if op == "Asin"
                        else {}
                    ),
                )
            ],
        )
    yield Row("leakyrelu", "LeakyRelu", [x(*shape)], dict(alpha=0.1))
    yield Row("prelu", "PRelu", [x(*shape), w(64, 1, 1)])
    yield Row("clip", "Clip", [x(*shape), scalar_constant(0.0), scalar_constant(6.0)])
    for op in ("Add", "Mul", "Div", "Sub", "Max", "Min", "Greater"):
        yield Row(f"binary-{op.lower()}", op, [x(*shape), x(*shape)])
    yield Row("pow-2", "Pow", [x(*shape), scalar_constant(2.0)])
    yield Row("pow-3", "Pow", [x(*shape), scalar_constant(3.0)])
    yield Row("pow-half", "Pow", [x(*shape, low=0.1, high=3), scalar_constant(0.5)])
    yield Row("pow-0.3", "Pow", [x(*shape, low=0.1, high=3), scalar_constant(0.3)])
    yield Row("gelu-tanh", "Gelu", [x(*shape)], dict(approximate="tanh"))
    yield Row("max-3", "Max", [x(*shape), x(*shape), x(*shape)])
    yield Row("sum-4", "Sum", [x(*shape), x(*shape), x(*shape), x(*shape)])
    for op in ("Add", "Sigmoid", "Erf", "Pow"):
        yield Row(
            f"tiny-{op.lower()}",
            op,
            [x(1, 768, low=0.1, high=2), *([x(1, 768)] if op in ("Add", "Pow") else [])],
        )
    for op in ("Add", "Gelu", "Tanh", "Exp"):
        yield Row(
            f"large-{op.lower()}",
            op,
            [x(8, 1024, 1024), *([x(8, 1024, 1024)] if op == "Add" else [])],
        )
    for op in ("Mul", "Div", "Exp", "Sqrt", "Tanh"):
        yield Row(
            f"f64-{op.lower()}",
            op,
            [
                x(1000000, kind="float64", low=0.1, high=2),
                *([x(1000000, kind="float64", low=0.1, high=2)] if op in ("Mul", "Div") else []),
            ],
        )
    yield Row("pow-tensor", "Pow", [x(*shape, low=0.1, high=3), x(*shape)])
    yield Row("mod-f32", "Mod", [x(*shape), scalar_constant(0.7)], dict(fmod=1))
    for name, a, b in (
        ("channels", shape, (64, 1, 1)),
        ("row", (1, 3136, 96), (96,)),
        ("column", (1, 3136, 96), (1, 3136, 1)),
        ("outer", (1, 1024, 1), (1, 1, 1024)),
        ("batch", (8, 64, 56, 56), (1, 64, 56, 56)),
        ("image", (1, 64, 56, 56), (1, 1, 56, 56)),
        ("short-rows", (100000, 3), (3,)),
        ("fours", (8400, 4), (8400, 1)),
    ):
        yield Row(f"broadcast-{name}", "Mul", [x(*a), x(*b)])
    yield Row("where", "Where", [x(*shape, kind="bool"), x(*shape), x(*shape)])
    yield Row(
        "where-mask",
        "Where",
        [x(1, 1, 512, 512, kind="bool"), x(1, 12, 512, 512), scalar_constant(-1e9)],
    )
    for kind in ("int64", "int32", "uint8"):
        yield Row(
            f"add-{kind}", "Add", [x(1000000, kind=kind, high=100), x(1000000, kind=kind, high=100)]
        )
    yield Row("div-int64", "Div", [x(1000000, kind="int64", high=100), scalar_constant(7, "int64")])
    yield Row("mod-int64", "Mod", [x(1000000, kind="int64", high=100), scalar_constant(7, "int64")])
    yield Row(
        "equal-int64",
        "Equal",
        [x(1, 512, 1, kind="int64", high=9), x(1, 1, 512, kind="int64", high=9)],
    )
    yield Row(
        "mul-int64", "Mul", [x(1000000, kind="int64", high=100), x(1000000, kind="int64", high=100)]
    )
    yield Row(
        "clip-int64",
        "Clip",
        [
            x(1000000, kind="int64", high=100),
            scalar_constant(5, "int64"),
            scalar_constant(80, "int64"),
        ],
    )
    yield Row(
        "less-int64-column",
        "Less",
        [x(1, 1, 2048, 1, kind="int64", high=2048), x(1, 1, 1, 2048, kind="int64", high=2048)],
    )
    yield Row(
        "where-int64",
        "Where",
        [x(1000000, kind="bool"), x(1000000, kind="int64", high=9), scalar_constant(-1, "int64")],
    )
    yield Row(
        "bitwiseand-int32",
        "BitwiseAnd",
        [x(1000000, kind="int32", high=1000), x(1000000, kind="int32", high=1000)],
    )
    yield Row("not-bool", "Not", [x(1, 1, 1024, 1024, kind="bool")])
    yield Row("and-bool", "And", [x(1, 1, 512, 512, kind="bool"), x(1, 1, 512, 512, kind="bool")])
    yield Row("add-f64", "Add", [x(1000000, kind="float64"), x(1000000, kind="float64")])
    for a, b in (
        ("float32", 10),
        ("float32", 6),
        ("float32", 7),
        ("uint8", 1),
        ("int64", 1),
        ("float16", 1),
        ("bool", 1),
        ("float32", 2),
        ("float32", 9),
        ("float32", 11),
        ("int32", 1),
        ("int64", 6),
    ):
        more = (
            dict(high=2)
            if a in ("uint8", "int32", "int64")
            else dict(low=0, high=100)
            if a == "float32"
            else {}
        )
        yield Row(f"cast-{a}-{b}", "Cast", [x(1, 3, 512, 512, kind=a, **more)], dict(to=b))
    for op in ("Sigmoid", "Gelu", "Relu"):
        yield Row(f"half-{op.lower()}", op, [x(*shape, kind="float16")])
    yield Row("half-add", "Add", [x(*shape, kind="float16"), x(*shape, kind="float16")])
    for op in ("Exp", "Tanh", "Erf", "Softplus", "Sqrt"):
        yield Row(f"half-{op.lower()}", op, [x(*shape, kind="float16", low=0.1, high=2)])
    yield Row("half-channels", "Mul", [x(*shape, kind="float16"), x(64, 1, 1, kind="float16")])
    yield Row("half-row", "MatMul", [x(1, 768, kind="float16"), w(768, 3072, kind="float16")])
    yield Row(
        "half-heads",
        "MatMul",
        [x(1, 12, 197, 64, kind="float16"), x(1, 12, 64, 197, kind="float16")],
    )
    yield Row("half-reduce", "ReduceMean", [x(1, 256, 56, 56, kind="float16"), c(2, 3)])
    yield Row(
        "half-maxpool",
        "MaxPool",
        [x(*shape, kind="float16")],
        dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    )
    yield Row(
        "half-resize",
        "Resize",
        [x(1, 64, 56, 56, kind="float16"), None, c(1.0, 1.0, 2.0, 2.0, kind="float32")],
        dict(mode="nearest"),
    )
    yield Row("half-transpose", "Transpose", [x(*shape, kind="float16")], dict(perm=[0, 2, 3, 1]))
    yield Row("half-matmul", "MatMul", [x(197, 768, kind="float16"), w(768, 3072, kind="float16")])
    yield Row(
        "half-conv",
        "Conv",
        [x(1, 64, 56, 56, kind="float16"), w(64, 64, 3, 3, kind="float16")],
        dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    )
    yield Row("half-softmax", "Softmax", [x(1, 12, 197, 197, kind="float16")], dict(axis=-1))
    yield Row(
        "half-layernorm",
        "LayerNormalization",
        [x(1, 197, 768, kind="float16"), w(768, kind="float16"), w(768, kind="float16")],
        dict(axis=-1),
    )


def recurrent():
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for steps, batch, size, hidden, directions in (
            (50, 1, 128, 128, 1),
            (100, 1, 256, 512, 2),
            (20, 16, 512, 512, 1),
            (400, 1, 80, 96, 2),
            (10, 64, 300, 1024, 1),
            (1, 1, 256, 256, 1),
            (128, 32, 64, 128, 1),
        ):
            yield Row(
                f"{op.lower()}-{directions}/{steps}x{batch}x{size}x{hidden}",
                op,
                [
                    x(steps, batch, size),
                    w(directions, gates * hidden, size),
                    w(directions, gates * hidden, hidden),
                    w(directions, 2 * gates * hidden),
                ],
                dict(
                    hidden_size=hidden,
                    direction="bidirectional" if directions == 2 else "forward",
                    **(dict(linear_before_reset=1) if op == "GRU" else {}),
                ),
            )


def attention():
    contrib = "com.microsoft"
    yield Row(
        "attention/1x12x197x64",
        "Attention",
        [x(1, 12, 197, 64), x(1, 12, 197, 64), x(1, 12, 197, 64)],
        opset=23,
    )
    yield Row(
        "attention-causal/1x12x512x64",
        "Attention",
        [x(1, 12, 512, 64), x(1, 12, 512, 64), x(1, 12, 512, 64)],
        dict(is_causal=1),
        opset=23,
    )
    for name, q, k, more in (
        ("one-query", (1, 32, 1, 128), (1, 32, 1024, 128), {}),
        ("groups-one-query", (1, 32, 1, 128), (1, 8, 2048, 128), {}),
        ("causal", (1, 8, 2048, 64), (1, 8, 2048, 64), dict(is_causal=1)),
        ("groups", (1, 16, 256, 64), (1, 4, 256, 64), dict(is_causal=1)),
        ("batch", (8, 12, 128, 64), (8, 12, 128, 64), {}),
        ("windows", (64, 3, 49, 32), (64, 3, 49, 32), {}),
        ("cross", (1, 8, 900, 32), (1, 8, 1500, 32), {}),
    ):
        yield Row(
            f"attention-{name}/{format_shape(q)}-{format_shape(k)}",
            "Attention",
            [x(*q), x(*k), x(*k)],
            more,
            opset=23,
        )
    for kind in ("float32", "bool"):
        yield Row(
            f"attention-mask-{kind}",
            "Attention",
            [x(1, 12, 197, 64), x(1, 12, 197, 64), x(1, 12, 197, 64), x(1, 1, 197, 197, kind=kind)],
            opset=23,
        )
    yield Row(
        "rmsnorm/1x512x2048",
        "RMSNormalization",
        [x(1, 512, 2048), w(2048)],
        dict(axis=-1),
        opset=23,
    )
    yield Row(
        "rmsnorm/1x1x4096", "RMSNormalization", [x(1, 1, 4096), w(4096)], dict(axis=-1), opset=23
    )
    yield Row(
        "rmsnorm/1x16x512x64",
        "RMSNormalization",
        [x(1, 16, 512, 64), w(64)],
        dict(axis=-1),
        opset=23,
    )
    yield Row(
        "rotaryembedding/1x16x512x64",
        "RotaryEmbedding",
        [
            x(1, 16, 512, 64),
            x(512, 32),
            x(512, 32),
            Operand((1, 512), "int64", False, [list(range(512))]),
        ],
        opset=23,
    )
    yield Row("quickgelu", "QuickGelu", [x(1, 197, 3072)], domain=contrib)
    yield Row(
        "skiprmsnorm",
        "SkipSimplifiedLayerNormalization",
        [x(1, 197, 768), x(1, 197, 768), w(768)],
        dict(epsilon=1e-5),
        domain=contrib,
    )
    yield Row(
        "multiheadattention/1x197x768",
        "MultiHeadAttention",
        [x(1, 197, 768), x(1, 197, 768), x(1, 197, 768)],
        dict(num_heads=12),
        domain=contrib,
    )
    yield Row(
        "skiplayernorm",
        "SkipLayerNormalization",
        [x(1, 197, 768), x(1, 197, 768), w(768), w(768)],
        dict(epsilon=1e-5),
        domain=contrib,
    )
    yield Row("fastgelu", "FastGelu", [x(1, 197, 3072)], domain=contrib)
    yield Row("biasgelu", "BiasGelu", [x(1, 197, 3072), w(3072)], domain=contrib)


def iterate_rows():
    for family in (
        convolutions,
        matmuls,
        pools,
        normalisations,
        reductions,
        elementwise,
        data_movement,
        recurrent,
        grid_sampling,
        attention,
    ):
        yield from family()
