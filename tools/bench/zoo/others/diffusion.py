"""Diffusion steps and latent decoders of diffusers, smaller than the published models."""

from . import Call, Table, found, image

NETWORKS = Table("diffusers_")
TIME = 1000, []


def add(name, network, inputs, constants=None, whole=False, **config):
    """Adds a network of diffusers that is called with its inputs by name, and with the constant arguments in `constants`."""

    def call(module, *x):
        return module(**dict(zip(inputs, x)), **(constants or {}), return_dict=False)

    NETWORKS.add(
        name, lambda: (Call(found("diffusers." + network)(**config), call), inputs), whole=whole
    )


def add_vae_decoder(name, network, latent, **config):
    NETWORKS.add(
        name,
        lambda: (
            Call(
                found("diffusers." + network)(**config),
                lambda module, z: module.decode(z, return_dict=False)[0],
            ),
            {"latent": latent},
        ),
    )


def latent_input(*shape):
    return "float", list(shape)


STEP = {
    "sample": latent_input(4, 32, 32),
    "timestep": TIME,
    "encoder_hidden_states": latent_input(77, 512),
}
add(
    "unet2dcondition",
    "UNet2DConditionModel",
    STEP,
    sample_size=32,
    block_out_channels=(128, 256, 512, 512),
    cross_attention_dim=512,
)
add(
    "controlnet",
    "ControlNetModel",
    {**STEP, "controlnet_cond": latent_input(3, 256, 256)},
    block_out_channels=(128, 256, 512, 512),
    cross_attention_dim=512,
)
add(
    "unet2d",
    "UNet2DModel",
    {"sample": latent_input(3, 64, 64), "timestep": TIME},
    sample_size=64,
    block_out_channels=(64, 128, 256, 256),
)
add(
    "unet1d",
    "UNet1DModel",
    {"sample": latent_input(2, 16384), "timestep": TIME},
    sample_size=16384,
    sample_rate=16000,
    extra_in_channels=64,
)
add(
    "unetspatiotemporal",
    "UNetSpatioTemporalConditionModel",
    {
        "sample": latent_input(6, 8, 16, 16),
        "timestep": TIME,
        "encoder_hidden_states": latent_input(1, 256),
        "added_time_ids": latent_input(3),
    },
    block_out_channels=(64, 128, 256, 256),
    num_attention_heads=(2, 4, 8, 8),
    cross_attention_dim=256,
    num_frames=6,
    layers_per_block=1,
)
add(
    "unet3dcondition",
    "UNet3DConditionModel",
    {
        "sample": latent_input(4, 8, 16, 16),
        "timestep": TIME,
        "encoder_hidden_states": latent_input(77, 256),
    },
    block_out_channels=(64, 128, 256, 256),
    cross_attention_dim=256,
    layers_per_block=1,
)
add(
    "kandinsky3",
    "Kandinsky3UNet",
    {
        "sample": latent_input(4, 32, 32),
        "timestep": TIME,
        "encoder_hidden_states": latent_input(64, 512),
        "encoder_attention_mask": (2, [64]),
    },
    time_embedding_dim=256,
    layers_per_block=2,
    block_out_channels=(64, 128, 256, 256),
    cross_attention_dim=256,
    encoder_hid_dim=512,
)

NARROW = {"num_attention_heads": 6, "attention_head_dim": 64}
add(
    "dit",
    "DiTTransformer2DModel",
    {"hidden_states": latent_input(4, 32, 32), "timestep": TIME, "class_labels": TIME},
    num_layers=12,
    out_channels=8,
    **NARROW,
)
add(
    "pixart",
    "PixArtTransformer2DModel",
    {
        "hidden_states": latent_input(4, 32, 32),
        "encoder_hidden_states": latent_input(120, 512),
        "timestep": TIME,
        "encoder_attention_mask": (2, [120]),
    },
    {"added_cond_kwargs": {"resolution": None, "aspect_ratio": None}},
    num_layers=10,
    cross_attention_dim=384,
    caption_channels=512,
    sample_size=32,
    **NARROW,
)
add(
    "sd3",
    "SD3Transformer2DModel",
    {
        "hidden_states": latent_input(16, 32, 32),
        "encoder_hidden_states": latent_input(77, 512),
        "pooled_projections": latent_input(512),
        "timestep": TIME,
    },
    sample_size=32,
    num_layers=6,
    num_attention_heads=8,
    joint_attention_dim=512,
    caption_projection_dim=512,
    pooled_projection_dim=512,
    pos_embed_max_size=32,
    dual_attention_layers=(0, 1, 2),
    qk_norm="rms_norm",
)
add(
    "flux",
    "FluxTransformer2DModel",
    {
        "hidden_states": latent_input(1, 256, 64),
        "encoder_hidden_states": latent_input(1, 64, 512),
        "pooled_projections": latent_input(1, 256),
        "timestep": latent_input(1),
        "img_ids": latent_input(256, 3),
        "txt_ids": latent_input(64, 3),
        "guidance": latent_input(1),
    },
    whole=True,
    num_layers=3,
    num_single_layers=6,
    joint_attention_dim=512,
    pooled_projection_dim=256,
    guidance_embeds=True,
    axes_dims_rope=(16, 24, 24),
    **NARROW,
)
add(
    "cogvideox",
    "CogVideoXTransformer3DModel",
    {
        "hidden_states": latent_input(3, 16, 16, 16),
        "encoder_hidden_states": latent_input(64, 512),
        "timestep": TIME,
    },
    num_attention_heads=6,
    num_layers=8,
    text_embed_dim=512,
    sample_width=16,
    sample_height=16,
    sample_frames=9,
    max_text_seq_length=64,
    time_embed_dim=256,
)
add(
    "wan",
    "WanTransformer3DModel",
    {
        "hidden_states": latent_input(16, 3, 16, 16),
        "timestep": TIME,
        "encoder_hidden_states": latent_input(64, 512),
    },
    text_dim=512,
    ffn_dim=1536,
    num_layers=8,
    **NARROW,
)
add(
    "auraflow",
    "AuraFlowTransformer2DModel",
    {
        "hidden_states": latent_input(4, 32, 32),
        "encoder_hidden_states": latent_input(64, 512),
        "timestep": latent_input(),
    },
    sample_size=32,
    num_mmdit_layers=2,
    num_single_dit_layers=6,
    attention_head_dim=128,
    num_attention_heads=4,
    joint_attention_dim=512,
    caption_projection_dim=512,
    pos_embed_max_size=256,
)
add(
    "sana",
    "SanaTransformer2DModel",
    {
        "hidden_states": latent_input(32, 16, 16),
        "encoder_hidden_states": latent_input(64, 512),
        "timestep": TIME,
    },
    num_attention_heads=12,
    num_layers=8,
    num_cross_attention_heads=6,
    cross_attention_head_dim=64,
    cross_attention_dim=384,
    caption_channels=512,
    sample_size=16,
)
add(
    "prior",
    "PriorTransformer",
    {
        "hidden_states": latent_input(512),
        "timestep": TIME,
        "proj_embedding": latent_input(512),
        "encoder_hidden_states": latent_input(77, 512),
    },
    num_attention_heads=8,
    num_layers=8,
    embedding_dim=512,
)
NETWORKS.of("t2iadapter", "diffusers.T2IAdapter", image(3, 512, 512), channels=[64, 128, 256, 256])


@NETWORKS.network()
def unet_sdxl():
    model = found("diffusers.UNet2DConditionModel")(
        sample_size=32,
        block_out_channels=(96, 192, 384),
        cross_attention_dim=512,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
        transformer_layers_per_block=(1, 2, 4),
        attention_head_dim=(3, 6, 12),
        use_linear_projection=True,
        addition_embed_type="text_time",
        addition_time_embed_dim=64,
        projection_class_embeddings_input_dim=512 + 6 * 64,
    )
    call = lambda model, x, t, e, text, ids: model(
        x, t, e, added_cond_kwargs={"text_embeds": text, "time_ids": ids}, return_dict=False
    )
    return Call(model, call), {
        **STEP,
        "text_embeds": latent_input(512),
        "time_ids": latent_input(6),
    }


add(
    "vqmodel",
    "VQModel",
    {"sample": latent_input(3, 128, 128)},
    down_block_types=("DownEncoderBlock2D",) * 3,
    up_block_types=("UpDecoderBlock2D",) * 3,
    block_out_channels=(32, 64, 128),
    layers_per_block=2,
)
add_vae_decoder(
    "autoencoderkl",
    "AutoencoderKL",
    latent_input(4, 32, 32),
    down_block_types=("DownEncoderBlock2D",) * 4,
    up_block_types=("UpDecoderBlock2D",) * 4,
    block_out_channels=(32, 64, 128, 128),
    layers_per_block=2,
)
add_vae_decoder("autoencodertiny", "AutoencoderTiny", latent_input(4, 32, 32))
BLOCKS = ("ResBlock",) * 3 + ("EfficientViTBlock",) * 3
add_vae_decoder(
    "autoencoderdc",
    "AutoencoderDC",
    latent_input(32, 8, 8),
    encoder_block_types=BLOCKS,
    decoder_block_types=BLOCKS,
    encoder_block_out_channels=(32, 64, 128, 128, 256, 256),
    decoder_block_out_channels=(32, 64, 128, 128, 256, 256),
    encoder_layers_per_block=(0, 1, 1, 1, 1, 1),
)
add_vae_decoder(
    "oobleck",
    "AutoencoderOobleck",
    latent_input(64, 32),
    encoder_hidden_size=32,
    decoder_channels=32,
)
