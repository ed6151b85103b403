#!/usr/bin/env python3
"""Exports the graphs of this folder again: networks of torchvision, timm and transformers at small sizes, as ONNX without weights.

    build/venv-bench/bin/python test/networks/export.py [NAME...]        # after tools/setup --bench

Each family is represented by its smallest member; `NETWORKS` specifies the sizes. Parameters of batch norms and layer scales get values as after
training: their initial values (1, 0, or 1e-6) would have no effect and would hide errors.
"""

import os
import sys
import tempfile
import warnings

import onnx
import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools", "bench", "zoo"))
import weightless
from listing import initialize_as_trained


class Tcn(nn.Module):
    """Causal dilated convolutions over time, window 2, each with its gate, shortcut and skip (as WaveNet's)."""

    def __init__(self, channels=32, depth=6):
        super().__init__()
        self.first = nn.Conv1d(1, channels, 1)
        self.filters = nn.ModuleList(
            nn.Conv1d(channels, channels, 2, dilation=2**i) for i in range(depth)
        )
        self.gates = nn.ModuleList(
            nn.Conv1d(channels, channels, 2, dilation=2**i) for i in range(depth)
        )
        self.mix = nn.ModuleList(nn.Conv1d(channels, channels, 1) for i in range(depth))
        self.last = nn.Conv1d(channels, 16, 1)

    def forward(self, x):
        x, skip = self.first(x), 0
        for i, (f, g, m) in enumerate(zip(self.filters, self.gates, self.mix)):
            padded = nn.functional.pad(x, (2**i, 0))
            y = m(torch.tanh(f(padded)) * torch.sigmoid(g(padded)))
            skip, x = skip + y, x + y
        return self.last(torch.relu(skip))


class ResidualTcn(nn.Module):
    """Causal dilated convolutions whose results are added to what came before, several at once (as TCN's blocks and dense ones)."""

    def __init__(self, channels=32, depth=5):
        super().__init__()
        self.first = nn.Conv1d(8, channels, 1)
        self.layers = nn.ModuleList(
            nn.Conv1d(channels, channels, 2, dilation=2**i) for i in range(depth)
        )
        self.last = nn.Linear(channels, 4)

    def forward(self, x):
        x = self.first(x)
        earlier = []
        for i, layer in enumerate(self.layers):
            y = layer(nn.functional.pad(x, (2**i, 0)))
            for e in earlier[-3:]:
                y = y + e
            x = torch.relu(y + x)
            earlier.append(x)
        return self.last(x.transpose(1, 2))


class OddChannels(nn.Module):
    """Convolutions whose channels fill no vectors (as in networks that enlarge images), with what may follow them."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 36, 3, padding=1)
        self.wide = nn.ModuleList(nn.Conv2d(36, 72, 3, padding=1) for _ in range(2))
        self.narrow = nn.ModuleList(nn.Conv2d(72, 36, k, padding=k // 2) for k in (1, 5))
        self.dilated = nn.Conv2d(36, 20, 3, padding=2, dilation=2)
        self.gate = nn.Conv2d(20, 20, 3, padding=1)
        self.scale = nn.Parameter(torch.rand(20, 1, 1))
        self.last = nn.Conv2d(20, 12, 3, padding=1, bias=False)

    def forward(self, x):
        x = self.first(x)
        for wide, narrow in zip(self.wide, self.narrow):
            x = narrow(nn.functional.gelu(wide(x))) + x
        x = nn.functional.leaky_relu(self.dilated(x)) * self.scale
        x = torch.sigmoid(self.gate(x)) * x
        return nn.functional.pixel_shuffle(self.last(x), 2)


def timm_model(name, size, **more):
    def make():
        import timm

        try:
            module = timm.create_model(name, pretrained=False, img_size=size, **more)
        except TypeError:
            module = timm.create_model(name, pretrained=False, **more)
        return module, (torch.randn(1, 3, size, size),)

    return make


def torchvision_model(name, size, family="", **more):
    def make():
        import torchvision

        where = torchvision.models
        for part in filter(None, family.split(".")):
            where = getattr(where, part)
        return getattr(where, name)(weights=None, **more), (torch.randn(1, 3, size, size),)

    return make


def segformer():
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    config = SegformerConfig(
        hidden_sizes=[16, 32, 40, 64],
        num_attention_heads=[1, 2, 5, 8],
        decoder_hidden_size=64,
        num_labels=10,
    )
    return SegformerForSemanticSegmentation(config), (torch.randn(1, 3, 64, 64),)


def text_encoder(kind, vocabulary=1000, **more):
    """A small one of transformers, by the name of its classes."""

    def make():
        import transformers

        sizes = dict(
            vocab_size=vocabulary,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            attn_implementation="eager",
        )
        config = getattr(transformers, kind + "Config")(**{**sizes, **more})
        config.return_dict = False
        config.use_cache = False
        return getattr(transformers, kind + "Model")(config), (torch.randint(vocabulary, (1, 32)),)

    return make


def speech():
    import transformers

    config = transformers.Wav2Vec2Config(
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        conv_dim=(32,) * 7,
        num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=4,
        attn_implementation="eager",
    )
    config.return_dict = False
    return transformers.Wav2Vec2Model(config), (torch.randn(1, 4000),)


def of(module, *inputs):
    return lambda: (module(), inputs)


def benchmark(name):
    """One of tools/bench, as it is timed."""

    def make():
        sys.path.insert(0, os.path.join(HERE, "..", "..", "tools", "bench"))
        import networks

        return networks.build_network(name, 1)

    return make


BENCHMARK = [
    "resnet-50",
    "mobilenet-v2",
    "vit",
    "bert",
    "lstm",
    "alexnet-s",
    "fcn-s",
    "fcn-r",
    "alexnet-r",
    "resnet-56",
]


NETWORKS = {
    **{name: benchmark(name) for name in BENCHMARK},
    "tcn": of(Tcn, torch.randn(1, 1, 256)),
    "tcn-residual": of(ResidualTcn, torch.randn(1, 8, 256)),
    "odd-channels": of(OddChannels, torch.randn(1, 3, 48, 48)),
    "segformer": segformer,
    "wav2vec2": speech,
    "distilbert": text_encoder("DistilBert", dim=64, n_layers=2, n_heads=4, hidden_dim=128),
    "albert": text_encoder("Albert", embedding_size=32),
    "gpt2": text_encoder("GPT2", n_embd=64, n_layer=2, n_head=4),
    "llama": text_encoder("Llama", num_key_value_heads=2),
    "deberta": text_encoder(
        "DebertaV2",
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        position_buckets=16,
        norm_rel_ebd="layer_norm",
    ),
    "qwen3": text_encoder("Qwen3", num_key_value_heads=2, head_dim=16),
    "shufflenet-v2": torchvision_model("shufflenet_v2_x0_5", 64),
    "squeezenet": torchvision_model("squeezenet1_1", 64),
    "mnasnet": torchvision_model("mnasnet0_5", 64),
    "googlenet": torchvision_model("googlenet", 64, aux_logits=False, init_weights=True),
    "densenet": torchvision_model("densenet121", 64),
    "regnet": torchvision_model("regnet_y_400mf", 64),
    "deeplab": torchvision_model(
        "lraspp_mobilenet_v3_large", 64, "segmentation", weights_backbone=None
    ),
    "swin-v2": torchvision_model("swin_v2_t", 64),
    "convnext": timm_model("convnext_atto", 64),
    "convnext-v2": timm_model("convnextv2_atto", 64),
    "swin": timm_model(
        "swin_tiny_patch4_window7_224",
        56,
        depths=(1, 1, 1, 1),
        embed_dim=32,
        num_heads=(1, 2, 4, 8),
    ),
    "pvt-v2": timm_model("pvt_v2_b0", 64),
    "pit": timm_model("pit_ti_224", 64),
    "poolformer": timm_model("poolformer_s12", 64),
    "mobilevit": timm_model("mobilevit_xxs", 64),
    "mobilevit-v2": timm_model("mobilevitv2_050", 64),
    "edgenext": timm_model("edgenext_xx_small", 64),
    "efficientformer": timm_model("efficientformerv2_s0", 64),
    "levit": timm_model("levit_128s", 64),
    "coat": timm_model("coat_lite_tiny", 64),
    "xcit": timm_model("xcit_nano_12_p16_224", 64, depth=3),
    "cait": timm_model("cait_xxs24_224", 64, depth=2),
    "maxvit": timm_model("maxvit_rmlp_pico_rw_256", 64),
    "coatnet": timm_model("coatnet_pico_rw_224", 64),
    "davit": timm_model(
        "davit_tiny", 64, depths=(1, 1, 1, 1), embed_dims=(32, 64, 96, 128), num_heads=(1, 2, 3, 4)
    ),
    "focalnet": timm_model("focalnet_tiny_srf", 64, depths=(1, 1, 1, 1), embed_dim=32),
    "twins": timm_model("twins_svt_small", 64, depths=(1, 1, 2, 1), embed_dims=(32, 64, 96, 128)),
    "mvit-v2": timm_model("mvitv2_tiny", 64, depths=(1, 1, 2, 1), embed_dim=32),
    "mixer": timm_model("mixer_s32_224", 64, num_blocks=2),
    "gmlp": timm_model("gmlp_ti16_224", 64, num_blocks=2),
    "convmixer": timm_model("convmixer_768_32", 64, depth=3, dim=64),
    "hrnet": timm_model("hrnet_w18_small", 64),
    "ghostnet": timm_model("ghostnet_050", 64),
    "efficientnet": timm_model("efficientnet_b0", 64),
    "mobilenet-v4": timm_model("mobilenetv4_conv_small_050", 64),
    "res2net": timm_model("res2net50_48w_2s", 64),
    "repvgg": timm_model("repvgg_a0", 64),
    "vovnet": timm_model("ese_vovnet19b_slim_dw", 64),
    "dla": timm_model("dla46_c", 64),
    "nfnet": timm_model("nf_regnet_b0", 64),
    "fastvit": timm_model("fastvit_t8", 64),
    "repvit": timm_model("repvit_m0_9", 64),
    "starnet": timm_model("starnet_s1", 64),
    "volo": timm_model(
        "volo_d1_224", 64, layers=(1, 1, 1, 1), embed_dims=(48, 96, 96, 96), num_heads=(2, 4, 4, 4)
    ),
    "nest": timm_model("nest_tiny", 64, embed_dims=(32, 64, 96), depths=(1, 1, 2)),
    "inception-next": timm_model("inception_next_atto", 64),
    "tiny-vit": timm_model("tiny_vit_5m_224", 64),
    "hgnet": timm_model("hgnetv2_b0", 64),
    "beit": timm_model("beit_base_patch16_224", 64, depth=2, embed_dim=64, num_heads=4),
    "eva": timm_model("eva02_tiny_patch14_224", 56, depth=2),
    "hiera": timm_model("hiera_tiny_224", 64, stages=(1, 1, 2, 1), embed_dim=32),
    "gcvit": timm_model("gcvit_xxtiny", 64),
    "crossvit": timm_model("crossvit_tiny_240", 64),
    "efficientvit": timm_model("efficientvit_b0", 64),
    "efficientvit-m": timm_model("efficientvit_m0", 64),
    "next-vit": timm_model("nextvit_small", 64),
    "mambaout": timm_model("mambaout_femto", 64),
    "resnest": timm_model("resnest14d", 64),
    "tresnet": timm_model("tresnet_m", 64),
    "uniformer": timm_model("rdnet_tiny", 64),
    "vitamin": timm_model("vitamin_small_224", 64),
    "cspnet": timm_model("cspresnet50", 64),
    "visformer": timm_model("visformer_tiny", 64),
    "sequencer": timm_model(
        "sequencer2d_s",
        64,
        layers=(1, 1, 1, 1),
        embed_dims=(48, 96, 96, 96),
        hidden_sizes=(12, 24, 24, 24),
    ),
    "selecsls": timm_model("selecsls42b", 64),
    "byobnet": timm_model("gernet_s", 64),
    "shvit": timm_model("shvit_s1", 64),
    "swiftformer": timm_model("swiftformer_xs", 64),
    "lsnet": timm_model("lsnet_t", 64),
    "csatv2": timm_model("csatv2", 64),
}


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    for name in sys.argv[1:] or NETWORKS:
        path = os.path.join(HERE, "graphs", name + ".onnx.xz")
        if os.path.exists(path) and not sys.argv[1:]:
            continue
        torch.manual_seed(0)
        try:
            module, inputs = NETWORKS[name]()
            module = module.eval()
            initialize_as_trained(module)
            with tempfile.TemporaryDirectory() as folder, torch.no_grad():
                file = os.path.join(folder, "m.onnx")
                torch.onnx.export(
                    module, inputs, file, dynamo=True, external_data=False, verbose=False
                )
                size = weightless.write_without_weights(onnx.load(file), path)
            print(f"{name:20} {size} bytes", flush=True)
        except Exception as error:  # noqa: BLE001  is printed for each network
            print(f"{name:20} {type(error).__name__}: {str(error)[:300]}", flush=True)


if __name__ == "__main__":
    main()
