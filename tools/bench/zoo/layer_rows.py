"""The rows of layers.py: PyTorch layers with the shapes with which networks train them. Each row is a name, a function that creates the module, and the
shape of its input."""


class FunctionModule:
    """Creates a module whose forward is `function`; `made` are its submodules with parameters."""

    def __new__(cls, function, **made):
        import torch

        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                for name, part in made.items():
                    setattr(self, name, part)

            def forward(self, x):
                return function(self, x)

        return Module()


def convolutions():
    from torch import nn

    for k, c, size, batch in (
        (1, 64, 56, 8),
        (1, 256, 14, 16),
        (1, 960, 1, 8),
        (3, 3, 224, 4),
        (3, 64, 56, 4),
        (3, 256, 14, 8),
        (3, 512, 7, 8),
        (5, 64, 28, 4),
        (7, 3, 224, 2),
        (9, 16, 64, 2),
        (3, 50, 31, 4),
    ):
        yield (
            f"conv-{k}_{batch}x{c}x{size}",
            lambda: nn.Conv2d(c, max(c, 32), k, padding=k // 2, bias=False),
            (batch, c, size, size),
        )
    for k, c, size in (
        (1, 128, 56),
        (3, 64, 56),
        (7, 3, 224),
        (2, 96, 56),
        (4, 3, 224),
        (16, 3, 224),
        (3, 256, 14),
    ):
        yield (
            f"conv-{k}-strided_4x{c}x{size}",
            lambda: nn.Conv2d(
                c,
                max(c, 64),
                k,
                stride=min(k, 4) if k in (2, 4) else 16 if k == 16 else 2,
                padding=k // 2 if k % 2 else 0,
            ),
            (4, c, size, size),
        )
    for k, c, size, s, d in (
        (3, 96, 56, 1, 1),
        (3, 144, 56, 2, 1),
        (5, 120, 28, 1, 1),
        (5, 672, 14, 2, 1),
        (5, 960, 7, 1, 1),
        (7, 96, 56, 1, 1),
        (7, 768, 7, 1, 1),
        (11, 64, 28, 1, 1),
        (31, 64, 28, 1, 1),
        (3, 58, 28, 1, 1),
        (3, 256, 33, 1, 2),
        (3, 12, 112, 1, 1),
    ):
        yield (
            f"depthwise-{k}-s{s}-d{d}_4x{c}x{size}",
            lambda: nn.Conv2d(
                c, c, k, stride=s, padding=d * (k // 2), dilation=d, groups=c, bias=False
            ),
            (4, c, size, size),
        )
    for g, c, size, s in (
        (32, 256, 28, 1),
        (32, 512, 14, 2),
        (4, 256, 28, 1),
        (2, 96, 27, 1),
        (8, 240, 28, 1),
        (24, 120, 28, 1),
        (64, 256, 56, 1),
    ):
        yield (
            f"grouped-{g}-s{s}_4x{c}x{size}",
            lambda: nn.Conv2d(c, c, 3, stride=s, padding=1, groups=g, bias=False),
            (4, c, size, size),
        )
    yield (
        "grouped-1x1_4x240x28",
        lambda: nn.Conv2d(240, 240, 1, groups=3, bias=False),
        (4, 240, 28, 28),
    )
    yield (
        "dilated_4x256x33",
        lambda: nn.Conv2d(256, 256, 3, padding=6, dilation=6),
        (4, 256, 33, 33),
    )
    yield (
        "asymmetric-1x7_8x192x17",
        lambda: nn.Conv2d(192, 192, (1, 7), padding=(0, 3)),
        (8, 192, 17, 17),
    )
    yield "to-image_2x64x128", lambda: nn.Conv2d(64, 3, 3, padding=1), (2, 64, 128, 128)
    for k, s, c in ((2, 2, 128), (4, 2, 64), (3, 2, 64)):
        yield (
            f"transposed-{k}-s{s}_4x{c}x28",
            lambda: nn.ConvTranspose2d(c, c // 2, k, stride=s, padding=(k - s) // 2),
            (4, c, 28, 28),
        )
    for k, s, c, n in ((3, 1, 80, 1000), (3, 2, 512, 1599), (10, 5, 1, 16000), (31, 1, 256, 300)):
        yield (
            f"conv1d-{k}-s{s}_4x{c}x{n}",
            lambda: nn.Conv1d(
                c, max(c, 32), k, stride=s, padding=k // 2, groups=c if k == 31 else 1
            ),
            (4, c, n),
        )
    yield (
        "transposed1d-16-s8_4x128x200",
        lambda: nn.ConvTranspose1d(128, 64, 16, stride=8, padding=4),
        (4, 128, 200),
    )
    yield "conv3d-3_2x32x8x28", lambda: nn.Conv3d(32, 32, 3, padding=1), (2, 32, 8, 28, 28)
    yield (
        "conv3d-depthwise_2x64x8x28",
        lambda: nn.Conv3d(64, 64, 3, padding=1, groups=64),
        (2, 64, 8, 28, 28),
    )


def pools():
    from torch import nn

    yield "maxpool-3-s2_8x64x112", lambda: nn.MaxPool2d(3, 2, 1), (8, 64, 112, 112)
    yield "maxpool-2-s2_8x128x56", lambda: nn.MaxPool2d(2), (8, 128, 56, 56)
    yield "maxpool-3-s1_8x256x35", lambda: nn.MaxPool2d(3, 1, 1), (8, 256, 35, 35)
    yield (
        "avgpool-3-s1_8x256x35",
        lambda: nn.AvgPool2d(3, 1, 1, count_include_pad=False),
        (8, 256, 35, 35),
    )
    yield "avgpool-2-s2_8x128x56", lambda: nn.AvgPool2d(2), (8, 128, 56, 56)
    yield "adaptive-1_16x512x7", lambda: nn.AdaptiveAvgPool2d(1), (16, 512, 7, 7)
    yield "adaptive-6_4x256x24", lambda: nn.AdaptiveAvgPool2d(6), (4, 256, 24, 24)
    yield "maxpool1d-4_8x128x4000", lambda: nn.MaxPool1d(4), (8, 128, 4000)
    yield "maxpool3d-2_2x64x8x56", lambda: nn.MaxPool3d(2), (2, 64, 8, 56, 56)
    yield (
        "bilinear-2_4x128x28",
        lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False),
        (4, 128, 28, 28),
    )
    yield "nearest-2_4x128x28", lambda: nn.Upsample(scale_factor=2), (4, 128, 28, 28)
    yield "shuffle-2_4x256x28", lambda: nn.PixelShuffle(2), (4, 256, 28, 28)


def norms():
    from torch import nn

    yield "batchnorm_8x64x56", lambda: nn.BatchNorm2d(64), (8, 64, 56, 56)
    yield "batchnorm_16x512x7", lambda: nn.BatchNorm2d(512), (16, 512, 7, 7)
    yield "batchnorm_256x1024", lambda: nn.BatchNorm1d(1024), (256, 1024)
    yield "layernorm_8x197x768", lambda: nn.LayerNorm(768), (8, 197, 768)
    yield "layernorm_64x49x96", lambda: nn.LayerNorm(96), (64, 49, 96)
    yield (
        "layernorm-images_4x96x56",
        lambda: FunctionModule(
            lambda m, x: m.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2), norm=nn.LayerNorm(96)
        ),
        (4, 96, 56, 56),
    )
    yield "groupnorm-32_4x256x28", lambda: nn.GroupNorm(32, 256), (4, 256, 28, 28)
    yield "groupnorm-1_4x64x56", lambda: nn.GroupNorm(1, 64), (4, 64, 56, 56)
    yield "instancenorm_4x64x56", lambda: nn.InstanceNorm2d(64, affine=True), (4, 64, 56, 56)
    yield "rmsnorm_4x256x2048", lambda: nn.RMSNorm(2048), (4, 256, 2048)


def elementwise():
    import torch
    from torch import nn

    for name in (
        "ReLU",
        "GELU",
        "SiLU",
        "Hardswish",
        "Hardsigmoid",
        "ReLU6",
        "LeakyReLU",
        "ELU",
        "Mish",
        "Softplus",
        "Tanh",
        "Sigmoid",
    ):
        yield f"{name.lower()}_8x64x56", lambda: getattr(nn, name)(), (8, 64, 56, 56)
    yield "prelu_8x64x56", lambda: nn.PReLU(64), (8, 64, 56, 56)
    yield "softmax_64x12x197", lambda: nn.Softmax(-1), (64, 12, 197)
    yield "logsoftmax_512x10000", lambda: nn.LogSoftmax(-1), (512, 10000)
    yield "glu_8x500x512", lambda: nn.GLU(), (8, 500, 512)
    yield (
        "excite_8x96x56",
        lambda: FunctionModule(
            lambda m, x: x * torch.sigmoid(m.up(torch.relu(m.down(x.mean((2, 3), keepdim=True))))),
            down=nn.Conv2d(96, 24, 1),
            up=nn.Conv2d(24, 96, 1),
        ),
        (8, 96, 56, 56),
    )
    yield (
        "channel-shuffle_8x116x28",
        lambda: FunctionModule(
            lambda m, x: x.view(-1, 2, 58, 28, 28).transpose(1, 2).reshape(-1, 116, 28, 28)
        ),
        (8, 116, 28, 28),
    )
    yield (
        "concat_8x64x56",
        lambda: FunctionModule(
            lambda m, x: torch.cat([x, m.a(x), m.b(x)], 1),
            a=nn.Conv2d(64, 32, 1),
            b=nn.Conv2d(64, 32, 1),
        ),
        (8, 64, 56, 56),
    )
    yield (
        "split_8x64x56",
        lambda: FunctionModule(
            lambda m, x: torch.cat([m.a(x.chunk(2, 1)[0]), x.chunk(2, 1)[1]], 1),
            a=nn.Conv2d(32, 32, 3, padding=1),
        ),
        (8, 64, 56, 56),
    )
    yield "reflect-pad_4x64x56", lambda: nn.ReflectionPad2d(1), (4, 64, 56, 56)


def matmuls():
    import torch
    from torch import nn

    for rows, i, o in (
        (256, 1024, 1024),
        (1576, 768, 3072),
        (8, 4096, 4096),
        (4096, 64, 64),
        (32, 2048, 1000),
        (3136, 96, 384),
    ):
        yield f"linear_{rows}x{i}x{o}", lambda: nn.Linear(i, o), (rows, i)
    yield "attention_4x197x384", lambda: attention(384, 6), (4, 197, 384)
    yield "attention_1x1024x512", lambda: attention(512, 8), (1, 1024, 512)
    yield "attention-windows_64x49x96", lambda: attention(96, 3), (64, 49, 96)
    yield "attention-causal_4x256x512", lambda: attention(512, 8, causal=True), (4, 256, 512)
    yield (
        "gram_8x64x1024",
        lambda: FunctionModule(lambda m, x: torch.softmax(x @ x.transpose(1, 2), -1) @ x),
        (8, 64, 1024),
    )
    yield (
        "lstm_50x16x256",
        lambda: FunctionModule(lambda m, x: m.cell(x)[0], cell=nn.LSTM(256, 256)),
        (50, 16, 256),
    )
    yield (
        "gru_50x16x256",
        lambda: FunctionModule(lambda m, x: m.cell(x)[0], cell=nn.GRU(256, 256)),
        (50, 16, 256),
    )
    yield (
        "lstm-bidirectional_50x16x128",
        lambda: FunctionModule(
            lambda m, x: m.cell(x)[0], cell=nn.LSTM(128, 128, bidirectional=True)
        ),
        (50, 16, 128),
    )
    yield (
        "windows_4x56x56x96",
        lambda: FunctionModule(
            lambda m, x: m.f(x.view(-1, 8, 7, 8, 7, 96).transpose(2, 3).reshape(-1, 49, 96)),
            f=nn.Linear(96, 96),
        ),
        (4, 56, 56, 96),
    )
    yield (
        "mixer_8x196x512",
        lambda: FunctionModule(
            lambda m, x: m.f(x.transpose(1, 2)).transpose(1, 2), f=nn.Linear(196, 196)
        ),
        (8, 196, 512),
    )


def attention(width, heads, causal=False):
    import torch
    from torch import nn

    def forward(m, x):
        q, k, v = (
            m.qkv(x).view(*x.shape[:2], 3, heads, width // heads).permute(2, 0, 3, 1, 4).unbind(0)
        )
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return m.out(y.transpose(1, 2).reshape(x.shape))

    return FunctionModule(forward, qkv=nn.Linear(width, 3 * width), out=nn.Linear(width, width))


def list_rows():
    """Returns all rows as a list of (name, module factory, input shape)."""
    listed = []
    for family in (convolutions, pools, norms, elementwise, matmuls):
        for name, make, shape in family():
            listed.append((name, make(), shape))
    return listed
