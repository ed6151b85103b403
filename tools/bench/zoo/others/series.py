"""Networks for time series and tables: neuralforecast, pytorch_tabnet, tab_transformer_pytorch."""

import sys
from unittest import mock

import torch
from torch import nn

from . import Call, Table, floats, found

NETWORKS = Table()


def add_forecast_model(name, network, h=24, size=96, series=1, **config):
    def make():
        for needless in (
            "ray",
            "ray.tune",
            "ray.tune.integration",
            "ray.tune.integration.pytorch_lightning",
            "ray.tune.search",
            "ray.tune.search.basic_variant",
        ):
            sys.modules.setdefault(
                needless, mock.MagicMock()
            )  # replaces tuning libraries that neuralforecast imports but does not need here
        kind = found("neuralforecast.models." + network)
        more = {"n_series": series} if kind.MULTIVARIATE else {}

        def call(model, y):
            return model(
                {
                    "insample_y": y,
                    "insample_mask": torch.ones_like(y),
                    "outsample_mask": torch.ones(1, h, y.shape[-1]),
                    "futr_exog": None,
                    "hist_exog": None,
                    "stat_exog": None,
                }
            )

        return Call(kind(h=h, input_size=size, **more, **config), call), floats(y=[size, series])

    NETWORKS.add("ts-" + name, make)


for network in ("TCN", "BiTCN", "KAN", "DilatedRNN"):
    add_forecast_model(network.lower(), network)
add_forecast_model("tide", "TiDE", hidden_size=256)
add_forecast_model("nbeats", "NBEATS", size=120)
add_forecast_model("nhits", "NHITS", size=120)
add_forecast_model("tft", "TFT", hidden_size=128)
add_forecast_model("patchtst", "PatchTST", h=96, size=336, patch_len=16, stride=8)
add_forecast_model("tsmixer", "TSMixer", h=96, size=336, series=7)
add_forecast_model("itransformer", "iTransformer", h=96, series=21, hidden_size=512)
add_forecast_model("informer", "Informer", h=48, hidden_size=128)
add_forecast_model("autoformer", "Autoformer", h=48, hidden_size=128)
add_forecast_model("vanillatransformer", "VanillaTransformer", h=48)
add_forecast_model("timemixer", "TimeMixer", h=96, series=7)
add_forecast_model("stemgnn", "StemGNN", h=12, size=24, series=20)
add_forecast_model("softs", "SOFTS", h=96, series=21)
add_forecast_model("rmok", "RMoK", h=96, series=7)
add_forecast_model("timexer", "TimeXer", h=48, series=7)

CATEGORIES = {"categories": (10, 50, 60, 70, 80), "dim_out": 1, "depth": 6, "heads": 8}
NETWORKS.of(
    "tab-ft_transformer",
    "tab_transformer_pytorch.FTTransformer",
    {"c": (10, [5]), "x": ("float", [20])},
    num_continuous=20,
    dim=192,
    **CATEGORIES,
)
NETWORKS.of(
    "tab-tab_transformer",
    "tab_transformer_pytorch.TabTransformer",
    {"c": (10, [5]), "x": ("float", [10])},
    num_continuous=10,
    dim=32,
    mlp_hidden_mults=(4, 2),
    mlp_act=nn.ReLU(),
    **CATEGORIES,
)


def tabnet(call, inputs, **config):
    return Call(
        found("pytorch_tabnet.tab_network.TabNet")(
            input_dim=54, output_dim=7, group_attention_matrix=torch.eye(54), **config
        ),
        call,
    ), inputs


NETWORKS.add(
    "tab-tabnet",
    lambda: tabnet(
        lambda net, c, x: net(torch.cat([c.float(), x], 1))[0],
        {"categories": (10, [2]), "numbers": ("float", [52])},
        n_d=64,
        n_a=64,
        n_steps=5,
        cat_idxs=[0, 1],
        cat_dims=[10, 40],
        cat_emb_dim=[4, 8],
    ),
    kept=4000,
    exporters=["trace"],
)
NETWORKS.add(
    "tab-tabnet_entmax",
    lambda: tabnet(
        lambda net, x: net(x)[0],
        floats(numbers=[54]),
        n_d=32,
        n_a=32,
        n_steps=3,
        mask_type="entmax",
    ),
    kept=4000,
)
