"""Speech and music networks: torchaudio, SpeechBrain, EnCodec, conformer."""

import torch
from torch import nn

from . import Call, Table, floats, found

NETWORKS = Table("audio-")


def add(name, path, inputs, call, *arguments, **config):
    """Adds a network that is called by the function `call` instead of its forward."""
    NETWORKS.add(name, lambda: (Call(found(path)(*arguments, **config), call), inputs))


def full_length(count):
    return torch.full((1,), count)


NETWORKS.of("convtasnet", "torchaudio.models.ConvTasNet", floats(mixture=[1, 16000]))
NETWORKS.of(
    "deepspeech",
    "torchaudio.models.DeepSpeech",
    floats(x=[1, 200, 26]),
    n_feature=26,
    n_hidden=1024,
)
NETWORKS.of(
    "wav2letter",
    "torchaudio.models.Wav2Letter",
    floats(x=[39, 200]),
    num_classes=40,
    input_type="mfcc",
    num_features=39,
)
NETWORKS.of(
    "wav2letter_wave",
    "torchaudio.models.Wav2Letter",
    floats(x=[1, 16000]),
    num_classes=40,
    input_type="waveform",
    num_features=1,
)
NETWORKS.of(
    "wavernn",
    "torchaudio.models.WaveRNN",
    floats(wave=[1, 2000], spec=[1, 80, 14]),
    upsample_scales=[5, 5, 8],
    n_classes=256,
    hop_length=200,
    n_res_block=10,
    n_rnn=256,
    n_fc=256,
    n_freq=80,
)
NETWORKS.of("squim_objective", "torchaudio.models.squim_objective_base", floats(wave=[16000]))
NETWORKS.of(
    "squim_subjective",
    "torchaudio.models.squim_subjective_base",
    floats(wave=[16000], reference=[16000]),
)
add(
    "conformer",
    "torchaudio.models.Conformer",
    floats(x=[200, 80]),
    lambda conformer, x: conformer(x, full_length(200))[0],
    input_dim=80,
    num_heads=4,
    ffn_dim=512,
    num_layers=4,
    depthwise_conv_kernel_size=31,
)
add(
    "wav2vec2_base",
    "torchaudio.models.wav2vec2_base",
    floats(wave=[16000]),
    lambda model, wave: model(wave)[0],
    aux_num_out=32,
)
add(
    "wavlm_small",
    "torchaudio.models.wavlm_model",
    floats(wave=[16000]),
    lambda model, wave: model(wave)[0],
    "group_norm",
    None,
    False,
    384,
    0.0,
    128,
    16,
    4,
    6,
    320,
    800,
    0.0,
    1536,
    0.0,
    0.0,
    False,
    0.0,
    None,
)


def tacotron_decode_step(tacotron, x, *state):
    return tacotron.decoder.decode(
        tacotron.decoder.prenet(x), *state, torch.zeros(1, 80, dtype=torch.bool)
    )


add(
    "tacotron2_decoder_step",
    "torchaudio.models.Tacotron2",
    floats(
        x=[80],
        ah=[1024],
        ac=[1024],
        dh=[1024],
        dc=[1024],
        aw=[80],
        awc=[80],
        ctx=[512],
        memory=[80, 512],
        processed=[80, 128],
    ),
    tacotron_decode_step,
    n_symbol=148,
)
add(
    "tacotron2_postnet",
    "torchaudio.models.Tacotron2",
    floats(mel=[80, 200]),
    lambda tacotron, mel: mel + tacotron.postnet(mel),
    n_symbol=148,
)
for name, inputs, call in (
    ("transcriber", floats(x=[132, 80]), lambda rnnt, x: rnnt.transcribe(x, full_length(132))[0]),
    (
        "predictor",
        {"tokens": (1024, [20])},
        lambda rnnt, tokens: rnnt.predict(tokens, full_length(20), None)[0],
    ),
    (
        "joiner",
        floats(source=[30, 512], target=[20, 512]),
        lambda rnnt, a, b: rnnt.join(a, full_length(30), b, full_length(20))[0],
    ),
):
    add(
        "rnnt_" + name,
        "torchaudio.models.emformer_rnnt_model",
        inputs,
        call,
        input_dim=80,
        encoding_dim=512,
        num_symbols=1024,
        segment_length=16,
        right_context_length=4,
        time_reduction_input_dim=128,
        time_reduction_stride=4,
        transformer_num_heads=8,
        transformer_ffn_dim=1024,
        transformer_num_layers=6,
        transformer_dropout=0.0,
        transformer_activation="gelu",
        transformer_left_context_length=30,
        transformer_max_memory_size=0,
        transformer_weight_init_scale_strategy="depthwise",
        transformer_tanh_on_mem=True,
        symbol_embedding_dim=256,
        num_lstm_layers=2,
        lstm_layer_norm=True,
        lstm_layer_norm_epsilon=1e-3,
        lstm_dropout=0.0,
    )

for name, inputs in (("Encoder", floats(wave=[1, 16000])), ("Decoder", floats(z=[128, 50]))):
    NETWORKS.of(
        "encodec_" + name.lower(),
        "encodec.modules.SEANet" + name,
        inputs,
        channels=1,
        dimension=128,
        n_filters=32,
        norm="weight_norm",
        causal=True,
    )
NETWORKS.of(
    "conformer_lucid",
    "conformer.Conformer",
    floats(x=[200, 256]),
    dim=256,
    depth=6,
    dim_head=64,
    heads=4,
    ff_mult=4,
    conv_expansion_factor=2,
    conv_kernel_size=31,
)


def add_speechbrain_network(name, network, inputs, *arguments, **config):
    NETWORKS.of(
        "speechbrain_" + name, "speechbrain.lobes.models." + network, inputs, *arguments, **config
    )


add_speechbrain_network(
    "ecapa",
    "ECAPA_TDNN.ECAPA_TDNN",
    floats(x=[200, 80]),
    80,
    lin_neurons=192,
    channels=[512, 512, 512, 512, 1536],
)
add_speechbrain_network("xvector", "Xvector.Xvector", floats(x=[200, 40]), in_channels=40)
add_speechbrain_network(
    "contextnet", "ContextNet.ContextNet", floats(x=[200, 80]), input_shape=(1, 200, 80), alpha=0.5
)
add_speechbrain_network("resnet", "ResNet.ResNet", floats(x=[200, 80]), input_size=80)
add_speechbrain_network("cnn14", "Cnn14.Cnn14", floats(x=[100, 64]), mel_bins=64, emb_dim=512)
add_speechbrain_network(
    "diffwave",
    "DiffWave.DiffWave",
    {"wave": ("float", [1, 8192]), "step": (50, []), "mel": ("float", [80, 32])},
    80,
    12,
    64,
    10,
    50,
    unconditional=False,
)
add(
    "speechbrain_transformer_asr",
    "speechbrain.lobes.models.transformer.Transformer.TransformerEncoder",
    floats(x=[200, 256]),
    lambda encoder, x: encoder(x)[0],
    4,
    8,
    1024,
    d_model=256,
    activation=nn.GELU,
    normalize_before=True,
)


def crdnn(**config):
    return found("speechbrain.lobes.models.CRDNN.CRDNN")(
        input_shape=[1, 200, 40],
        rnn_layers=2,
        rnn_neurons=256,
        dnn_neurons=256,
        rnn_bidirectional=True,
        **config,
    ), floats(x=[200, 40])


NETWORKS.add("speechbrain_crdnn", crdnn, exporters=["trace"])
NETWORKS.add(
    "speechbrain_crdnn_gru",
    lambda: crdnn(rnn_class=found("speechbrain.nnet.RNN.GRU")),
    exporters=["trace"],
)
