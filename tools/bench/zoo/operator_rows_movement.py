"""The rows of operators.py that move, gather, scatter or resample elements."""

from operator_row import c, format_shape, index_operand, Operand, Row, scalar_constant, w, x


def data_movement():
    for shape, perm in (
        ((1, 64, 112, 112), (0, 2, 3, 1)),
        ((1, 112, 112, 64), (0, 3, 1, 2)),
        ((1, 197, 12, 64), (0, 2, 1, 3)),
        ((1000, 1000), (1, 0)),
        ((1, 3, 512, 512), (0, 2, 3, 1)),
        ((1, 512, 512, 3), (0, 3, 1, 2)),
        ((1, 8, 7, 8, 7, 96), (0, 1, 3, 2, 4, 5)),
        ((1, 2, 58, 28, 28), (0, 2, 1, 3, 4)),
        ((64, 49, 3, 32), (2, 0, 3, 1)),
        ((32, 30, 20, 10), (3, 2, 1, 0)),
        ((1, 85, 3, 80, 80), (0, 2, 3, 4, 1)),
        ((1, 512, 768), (0, 2, 1)),
        ((512, 8, 64), (1, 0, 2)),
        ((1, 12, 197, 64), (0, 1, 3, 2)),
        ((1, 56, 56, 96), (0, 2, 1, 3)),
        ((1, 16, 64, 64, 4), (0, 4, 1, 2, 3)),
        ((1, 4, 3, 4, 64, 64), (0, 1, 4, 2, 5, 3)),
        ((1, 64, 4, 16, 4, 16), (0, 2, 4, 3, 5, 1)),
        ((2, 3, 4), (2, 0, 1)),
    ):
        yield Row(
            f"transpose-{''.join(map(str, perm))}/{format_shape(shape)}",
            "Transpose",
            [x(*shape)],
            dict(perm=list(perm)),
        )
    yield Row(
        "transpose-uint8",
        "Transpose",
        [x(1, 720, 1280, 3, kind="uint8", high=255)],
        dict(perm=[0, 3, 1, 2]),
    )
    yield Row(
        "transpose-int64", "Transpose", [x(512, 512, kind="int64", high=9)], dict(perm=[1, 0])
    )
    yield Row(
        "transpose-f64", "Transpose", [x(1, 64, 56, 56, kind="float64")], dict(perm=[0, 2, 3, 1])
    )
    for shape, axis, count in (
        ((1, 64, 56, 56), 1, 4),
        ((1, 56, 56, 64), 3, 3),
        ((1, 197, 64), 1, 2),
        ((8400, 1), 1, 4),
        ((1, 32, 1000), 2, 2),
        ((2048, 16), 1, 26),
        ((1, 12, 197, 32), 3, 2),
        ((1000, 256), 0, 3),
    ):
        yield Row(
            f"concat-{axis}-{count}/{format_shape(shape)}",
            "Concat",
            [x(*shape) for _ in range(count)],
            dict(axis=axis),
        )
    for shape, axis, count in (
        ((1, 256, 56, 56), 1, 2),
        ((1, 197, 2304), 2, 3),
        ((1, 512, 96), 1, 4),
        ((8400, 4), 1, 4),
    ):
        yield Row(
            f"split-{axis}-{count}/{format_shape(shape)}",
            "Split",
            [x(*shape)],
            dict(axis=axis, num_outputs=count),
            outputs=count,
        )
    yield Row("slice-step", "Slice", [x(1, 64, 112, 112), c(0, 0), c(112, 112), c(2, 3), c(2, 2)])
    yield Row("concat-cache", "Concat", [x(1, 8, 1023, 128), x(1, 8, 1, 128)], dict(axis=2))
    yield Row("concat-class-token", "Concat", [x(8, 1, 384), x(8, 196, 384)], dict(axis=1))
    yield Row("split-uneven", "Split", [x(1, 8400, 85), c(4, 1, 80)], dict(axis=2), outputs=3)
    yield Row("slice-half-rows", "Slice", [x(1, 12, 512, 64), c(32), c(64), c(3)])
    yield Row("slice-every-second", "Slice", [x(1, 12, 512, 64), c(0), c(64), c(3), c(2)])
    yield Row("slice-first", "Slice", [x(8, 197, 768), c(0), c(1), c(1)])
    yield Row("slice-reverse", "Slice", [x(1, 512, 256), c(-1), c(-1000), c(1), c(-1)])
    yield Row("slice-crop", "Slice", [x(1, 64, 128, 128), c(8, 8), c(120, 120), c(2, 3)])
    for mode in ("constant", "reflect", "edge", "wrap"):
        yield Row(
            f"pad-{mode}", "Pad", [x(1, 64, 112, 112), c(0, 0, 3, 3, 0, 0, 3, 3)], dict(mode=mode)
        )
    yield Row("pad-last", "Pad", [x(1, 8, 512, 512), c(0, 0, 0, 1, 0, 0, 0, 0)])
    yield Row("pad-sequence", "Pad", [x(1, 16000), c(0, 200, 0, 200)], dict(mode="reflect"))
    yield Row("pad-windows", "Pad", [x(1, 50, 50, 96), c(0, 0, 0, 0, 0, 6, 6, 0)])
    yield Row("pad-channels", "Pad", [x(1, 16, 56, 56), c(0, 8, 0, 0, 0, 8, 0, 0)])
    yield Row("pad-cut", "Pad", [x(1, 64, 112, 112), c(0, 0, -1, -1, 0, 0, 2, 2)])
    yield Row("gather-embedding", "Gather", [w(50000, 512), index_operand(50000, 1, 512)])
    yield Row("gather-many-tables", "Gather", [w(100000, 16), index_operand(100000, 2048, 26)])
    yield Row("gather-axis-1", "Gather", [x(64, 1000, 32), index_operand(1000, 100)], dict(axis=1))
    yield Row("gather-last", "Gather", [x(512, 1000), index_operand(1000, 300)], dict(axis=1))
    yield Row("gather-one", "Gather", [x(8, 197, 768), scalar_constant(0, "int64")], dict(axis=1))
    yield Row("gather-columns", "Gather", [x(8400, 84), c(2, 0, 3, 1)], dict(axis=1))
    yield Row(
        "gather-int64", "Gather", [x(100000, kind="int64", high=9), index_operand(100000, 4, 512)]
    )
    yield Row(
        "gatherelements-last-wide",
        "GatherElements",
        [x(64, 8192), index_operand(8192, 64, 8192)],
        dict(axis=1),
    )
    yield Row(
        "gatherelements",
        "GatherElements",
        [x(1000, 512), index_operand(1000, 300, 512)],
        dict(axis=0),
    )
    yield Row(
        "gatherelements-last",
        "GatherElements",
        [x(300, 512), index_operand(512, 300, 128)],
        dict(axis=1),
    )
    yield Row("gathernd", "GatherND", [x(64, 64, 256), index_operand(64, 900, 2)])
    yield Row(
        "gathernd-batch",
        "GatherND",
        [x(8, 400, 256), index_operand(400, 8, 100, 1)],
        dict(batch_dims=1),
    )
    yield Row(
        "scatterelements",
        "ScatterElements",
        [x(1000, 512), index_operand(1000, 300, 512), x(300, 512)],
        dict(axis=0, reduction="add"),
    )
    yield Row(
        "scatternd",
        "ScatterND",
        [x(1000, 256), Operand((300, 1), "int64", False, [[i] for i in range(300)]), x(300, 256)],
    )
    yield Row(
        "scatternd-add",
        "ScatterND",
        [x(1000, 256), index_operand(1000, 3000, 1), x(3000, 256)],
        dict(reduction="add"),
    )
    yield Row(
        "scatterelements-last",
        "ScatterElements",
        [
            x(64, 1000),
            Operand((64, 50), "int64", False, [list(range(0, 1000, 20))] * 64),
            x(64, 50),
        ],
        dict(axis=1),
    )
    yield Row(
        "scatternd-cache",
        "ScatterND",
        [x(1024, 1024), Operand((1, 1), "int64", False, [[700]]), x(1, 1024)],
    )
    yield Row("nonzero", "NonZero", [x(1, 8400, kind="bool")])
    yield Row(
        "compress",
        "Compress",
        [x(8400, 4), Operand((8400,), "bool", False, [i % 3 == 0 for i in range(8400)])],
        dict(axis=0),
    )
    for mode, how in (
        ("nearest", "asymmetric"),
        ("linear", "half_pixel"),
        ("linear", "align_corners"),
        ("cubic", "half_pixel"),
    ):
        yield Row(
            f"resize-{mode}-{how}/1x64x56x56",
            "Resize",
            [x(1, 64, 56, 56), None, c(1.0, 1.0, 2.0, 2.0, kind="float32")],
            dict(
                mode=mode,
                coordinate_transformation_mode=how,
                **(dict(nearest_mode="floor") if mode == "nearest" else {}),
            ),
        )
    yield Row(
        "resize-linear-to-image/1x21x65x65",
        "Resize",
        [x(1, 21, 65, 65), None, None, c(1, 21, 513, 513)],
        dict(mode="linear", coordinate_transformation_mode="half_pixel"),
    )
    yield Row(
        "resize-linear-down/1x3x720x1280",
        "Resize",
        [x(1, 3, 720, 1280), None, None, c(1, 3, 224, 224)],
        dict(mode="linear"),
    )
    yield Row(
        "resize-linear-channels-last/1x56x56x64",
        "Resize",
        [x(1, 56, 56, 64), None, None, c(1, 112, 112, 64)],
        dict(mode="linear"),
    )
    yield Row(
        "resize-nearest-3d",
        "Resize",
        [x(1, 32, 16, 16, 16), None, c(1.0, 1.0, 2.0, 2.0, 2.0, kind="float32")],
        dict(mode="nearest"),
    )
    for name, image, to, more in (
        (
            "nearest-pyramid",
            (1, 256, 20, 20),
            (40, 40),
            dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        ),
        ("nearest-odd", (1, 64, 33, 33), (65, 65), dict(mode="nearest")),
        ("nearest-down", (1, 64, 112, 112), (56, 56), dict(mode="nearest")),
        (
            "nearest-4",
            (1, 32, 64, 64),
            (256, 256),
            dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        ),
        ("linear-2", (1, 256, 32, 32), (64, 64), dict(mode="linear")),
        ("linear-mask", (1, 19, 128, 128), (512, 512), dict(mode="linear")),
        ("linear-small", (1, 128, 7, 7), (14, 14), dict(mode="linear")),
        ("linear-down-2", (1, 64, 112, 112), (56, 56), dict(mode="linear")),
        ("cubic-down", (1, 3, 448, 448), (224, 224), dict(mode="cubic")),
        ("cubic-positions", (1, 384, 14, 14), (20, 20), dict(mode="cubic")),
        ("linear-sequence", (1, 80, 200), (800,), dict(mode="linear")),
    ):
        yield Row(
            f"resize-{name}/{format_shape(image)}",
            "Resize",
            [x(*image), None, None, c(*image[:2], *to)],
            more,
        )
    yield Row(
        "resize-linear-antialias",
        "Resize",
        [x(1, 3, 512, 512), None, None, c(1, 3, 224, 224)],
        dict(mode="linear", antialias=1),
    )
    for mode in ("DCR", "CRD"):
        yield Row(
            f"depthtospace-{mode}",
            "DepthToSpace",
            [x(1, 256, 56, 56)],
            dict(blocksize=2, mode=mode),
        )
    yield Row("spacetodepth", "SpaceToDepth", [x(1, 3, 640, 640)], dict(blocksize=2))
    yield Row("depthtospace-4", "DepthToSpace", [x(1, 48, 90, 160)], dict(blocksize=4, mode="CRD"))
    yield Row("spacetodepth-channels", "SpaceToDepth", [x(1, 64, 112, 112)], dict(blocksize=2))
    yield Row("tile-last", "Tile", [x(1, 512, 64), c(1, 1, 4)])
    yield Row("expand-last", "Expand", [x(1, 1024, 1), c(1, 1024, 768)])
    yield Row(
        "trilu-upper", "Trilu", [x(1, 1, 2048, 2048), scalar_constant(1, "int64")], dict(upper=1)
    )
    yield Row(
        "onehot-classes",
        "OneHot",
        [index_operand(21, 1, 256, 256), c(21), c(0.0, 1.0, kind="float32")],
        dict(axis=1),
    )
    yield Row("tile", "Tile", [x(1, 1, 512, 64), c(1, 12, 1, 1)])
    yield Row("expand", "Expand", [x(1, 8, 1, 512, 64), c(1, 8, 4, 512, 64)])
    yield Row("trilu", "Trilu", [x(1, 12, 512, 512)], dict(upper=0))
    yield Row(
        "onehot",
        "OneHot",
        [index_operand(1000, 512), c(1000), c(0.0, 1.0, kind="float32")],
        dict(axis=-1),
    )
    yield Row(
        "reversesequence",
        "ReverseSequence",
        [x(200, 16, 256), index_operand(200, 16)],
        dict(batch_axis=1, time_axis=0),
    )
    yield Row("eyelike", "EyeLike", [x(512, 512)])


def grid_sampling():
    for mode in ("linear", "nearest", "cubic"):
        yield Row(
            f"gridsample-{mode}",
            "GridSample",
            [x(1, 64, 64, 64), x(1, 64, 64, 2, low=-1.1, high=1.1)],
            dict(mode=mode),
        )
    for padding in ("border", "reflection"):
        yield Row(
            f"gridsample-{padding}",
            "GridSample",
            [x(1, 64, 64, 64), x(1, 64, 64, 2, low=-1.1, high=1.1)],
            dict(mode="linear", padding_mode=padding, align_corners=1),
        )
    yield Row(
        "gridsample-image",
        "GridSample",
        [x(1, 3, 256, 256), x(1, 256, 256, 2, low=-1, high=1)],
        dict(mode="linear"),
    )
    yield Row(
        "gridsample-few-channels",
        "GridSample",
        [x(8, 32, 80, 80), x(8, 300, 4, 2, low=-1, high=1)],
        dict(mode="linear"),
    )
    yield Row(
        "gridsample-3d",
        "GridSample",
        [x(1, 16, 16, 32, 32), x(1, 16, 32, 32, 3, low=-1, high=1)],
        dict(mode="linear"),
    )
    boxes = [
        [10.0 * (i % 7), 7.0 * (i % 9), 10.0 * (i % 7) + 40 + i % 30, 7.0 * (i % 9) + 50 + i % 20]
        for i in range(300)
    ]
    yield Row(
        "roialign",
        "RoiAlign",
        [
            x(1, 256, 50, 50),
            Operand((300, 4), "float32", False, boxes),
            Operand((300,), "int64", False, [0] * 300),
        ],
        dict(output_height=7, output_width=7, sampling_ratio=2, spatial_scale=0.25),
    )
    yield Row("affinegrid", "AffineGrid", [x(4, 2, 3), c(4, 3, 256, 256)])
    yield Row(
        "roialign-masks",
        "RoiAlign",
        [
            x(1, 256, 50, 50),
            Operand((100, 4), "float32", False, boxes[:100]),
            Operand((100,), "int64", False, [0] * 100),
        ],
        dict(output_height=14, output_width=14, sampling_ratio=0, spatial_scale=0.25),
    )
    yield Row(
        "nonmaxsuppression",
        "NonMaxSuppression",
        [
            Operand((1, 300, 4), "float32", False, [boxes]),
            x(1, 1, 300, low=0, high=1),
            scalar_constant(100, "int64"),
            scalar_constant(0.5),
            scalar_constant(0.3),
        ],
    )
    yield Row("col2im", "Col2Im", [x(1, 64 * 9, 3136), c(56, 56), c(3, 3)], dict(pads=[1, 1, 1, 1]))
    yield Row(
        "deformconv",
        "DeformConv",
        [
            x(1, 64, 28, 28),
            w(64, 64, 3, 3),
            x(1, 18, 28, 28),
            w(64),
            x(1, 9, 28, 28, low=0, high=1),
        ],
        dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    )
    yield Row(
        "maxunpool",
        "MaxUnpool",
        [
            x(1, 64, 28, 28),
            Operand(
                (1, 64, 28, 28),
                "int64",
                False,
                [
                    [
                        [[ch * 3136 + 2 * r * 56 + 2 * k for k in range(28)] for r in range(28)]
                        for ch in range(64)
                    ]
                ],
            ),
        ],
        dict(kernel_shape=[2, 2], strides=[2, 2]),
    )
    yield Row(
        "dft", "DFT", [x(1, 512, 512, 1), None, scalar_constant(-2, "int64")], dict(onesided=0)
    )
    yield Row(
        "stft",
        "STFT",
        [x(1, 16000, 1), scalar_constant(160, "int64"), w(400), scalar_constant(400, "int64")],
        dict(onesided=1),
    )
    yield Row("bernoulli-free-dropout", "Dropout", [x(1, 64, 112, 112)])
