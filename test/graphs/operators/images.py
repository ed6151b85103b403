"""Specifications of operators that resample images and signals."""

import numpy as np
from graph import spec


@spec("GridSample")
def grid_sample(g, operator):
    x = g.ranked(4, 4, 5, fits=lambda v: min(v.shape[2:]) >= 2)
    spatial = x.rank - 2
    mode = g.one(
        ["linear", "linear", "nearest", "cubic"] if spatial == 2 else ["linear", "nearest"]
    )
    # What is outside is moved to the border before the interpolation or after, which cubic ones show.
    far = 1 if mode == "cubic" else 1.3
    grid = (
        g.rng.random((x.shape[0], *(g.integer(1, 5) for _ in range(spatial)), spatial)) * 2 - 1
    ) * far
    more = {
        "padding_mode": g.one(["zeros", "border", "reflection"]),
        "align_corners": g.integer(0, 1),
    }
    g.emit(operator, [x, g.constant(grid.astype(np.float32))], mode=mode, **more)


@spec("AffineGrid")
def affine_grid(g, operator):
    spatial = g.integer(2, 3)
    theta = g.shaped((g.integer(1, 3), spatial, spatial + 1))
    size = [theta.shape[0], g.integer(1, 3), *(g.integer(2, 6) for _ in range(spatial))]
    g.emit(
        operator,
        [theta, g.ints(size)],
        types=[("f32", (size[0], *size[2:], spatial))],
        align_corners=g.integer(0, 1),
    )


@spec("RoiAlign")
def roi_align(g, operator):
    x = g.ranked(4)
    count, (h, w) = g.integer(1, 4), x.shape[2:]
    corner = g.rng.random((count, 2)) * (w / 2, h / 2)
    boxes = np.concatenate([corner, corner + (0.2 + 0.5 * g.rng.random((count, 2))) * (w, h)], -1)
    inputs = [
        x,
        g.constant(boxes.astype(np.float32)),
        g.constant(g.rng.integers(0, x.shape[0], count)),
    ]
    more = {
        "output_height": g.integer(1, 4),
        "output_width": g.integer(1, 4),
        "sampling_ratio": g.integer(1, 3),
        "spatial_scale": float(g.one([1, 0.5])),
    }
    g.emit(
        operator,
        inputs,
        coordinate_transformation_mode=g.one(["half_pixel", "output_half_pixel"]),
        **more,
    )


@spec("DeformConv")
def deform_conv(g, operator):
    x = g.ranked(4, fits=lambda v: min(v.shape[2:]) >= 3)
    kernel, pads, c = (
        [g.integer(1, 3) for _ in range(2)],
        [g.integer(0, 1) for _ in range(4)],
        x.shape[1],
    )
    strides = [g.integer(1, 2) for _ in range(2)]
    out = [(x.shape[2 + i] + pads[i] + pads[2 + i] - kernel[i]) // strides[i] + 1 for i in range(2)]
    group, parts = g.divisor(c), g.divisor(c)
    w = g.weight((group * g.integer(1, 3), c // group, *kernel))
    points = parts * kernel[0] * kernel[1]
    inputs = [
        x,
        w,
        g.constant(
            (g.rng.standard_normal((x.shape[0], 2 * points, *out)) * 0.7).astype(np.float32)
        ),
    ]
    inputs.append(g.weight((w.shape[0],), 0.5) if g.chance(0.5) else None)
    if g.chance(0.5):
        inputs.append(g.constant(g.rng.random((x.shape[0], points, *out)).astype(np.float32)))
    g.emit(
        operator,
        inputs,
        types=[("f32", (x.shape[0], w.shape[0], *out))],
        kernel_shape=kernel,
        pads=pads,
        strides=strides,
        group=group,
        offset_group=parts,
    )


@spec("DFT")
def dft(g, operator):
    complex_ = g.chance(0.5)
    x = g.shaped((*g.shape(g.integer(1, 3), 200), 2 if complex_ else 1))
    axis = g.integer(0, x.rank - 2)
    more = (
        {"onesided": 1}
        if not complex_ and g.chance(0.5)
        else {"inverse": g.integer(0, 1)}
        if complex_
        else {}
    )
    g.emit(
        operator,
        [
            x,
            g.int(g.integer(1, x.shape[axis] + 3)) if g.chance(0.4) else None,
            g.int(axis - x.rank if g.chance(0.4) else axis),
        ],
        **more,
    )


@spec("STFT")
def stft(g, operator):
    length, step = g.integer(2, 9), g.integer(1, 4)
    x = g.shaped((g.integer(1, 3), g.integer(length, 33), 1))
    window = g.constant((0.1 + g.rng.random(length)).astype(np.float32)) if g.chance(0.7) else None
    onesided = g.integer(0, 1)
    frames = (x.shape[1] - length) // step + 1
    types = [("f32", (x.shape[0], frames, length // 2 + 1 if onesided else length, 2))]
    g.emit(operator, [x, g.int(step), window, g.int(length)], types=types, onesided=onesided)
