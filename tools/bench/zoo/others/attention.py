"""Variants of attention: vit-pytorch, x-transformers, open_clip."""

from . import Call, Table, floats, found

NETWORKS = Table()
IMAGE, LARGER, VIDEO = (
    floats(image=[3, 224, 224]),
    floats(image=[3, 256, 256]),
    floats(video=[3, 16, 128, 128]),
)
USUAL = {
    "image_size": 224,
    "patch_size": 16,
    "num_classes": 1000,
    "dim": 384,
    "depth": 6,
    "heads": 6,
    "mlp_dim": 1536,
}
FRAMES = {
    "image_size": 128,
    "frames": 16,
    "image_patch_size": 16,
    "num_classes": 400,
    "dim": 384,
    "heads": 6,
    "mlp_dim": 1536,
}


def vit(name, network, inputs=IMAGE, **config):
    NETWORKS.of(
        "vitpt-" + name, "vit_pytorch." + network, inputs, **{"num_classes": 1000, **config}
    )


for name, network, more in (
    ("xcit", "xcit.XCiT", {"cls_depth": 2, "local_patch_kernel_size": 3}),
    ("rvt", "rvt.RvT", {}),
    ("cait", "cait.CaiT", {"cls_depth": 2}),
    ("deepvit", "deepvit.DeepViT", {}),
    ("parallel", "parallel_vit.ViT", {}),
    ("uvit", "simple_uvit.SimpleUViT", {}),
    ("normalized", "normalized_vit.nViT", {}),
    ("patchmerger", "vit_with_patch_merger.ViT", {"patch_merge_layer": 3}),
    ("fft", "simple_vit_with_fft.SimpleViT", {"freq_patch_size": 16}),
    ("relpos", "simple_vit_with_relative_proj_pos_bias.SimpleViT", {}),
    ("hyper", "simple_vit_with_hyper_connections.SimpleViT", {"num_residual_streams": 4}),
    ("qknorm", "simple_vit_with_qk_norm.SimpleViT", {}),
    ("small_dataset", "vit_for_small_dataset.ViT", {}),
):
    vit(name, network, **USUAL, **more)
vit("cvt", "cvt.CvT")
vit(
    "levit",
    "levit.LeViT",
    image_size=224,
    stages=3,
    dim=(256, 384, 512),
    depth=4,
    heads=(4, 6, 8),
    mlp_mult=2,
)
vit("crossformer", "crossformer.CrossFormer")
vit("regionvit", "regionvit.RegionViT", use_peg=True)
vit(
    "nest",
    "nest.NesT",
    image_size=224,
    patch_size=4,
    dim=96,
    heads=3,
    num_hierarchies=3,
    block_repeats=(2, 2, 8),
)
vit(
    "mobilevit",
    "mobile_vit.MobileViT",
    LARGER,
    image_size=(256, 256),
    dims=[96, 120, 144],
    channels=[16, 32, 48, 48, 64, 64, 80, 80, 96, 96, 384],
)
vit("maxvit", "max_vit.MaxViT", dim_conv_stem=64, dim=64, dim_head=32, depth=(2, 2, 5, 2))
vit("vit_3d", "vit_3d.ViT", VIDEO, frame_patch_size=4, depth=6, **FRAMES)
vit(
    "vivit",
    "vivit.ViViT",
    VIDEO,
    frame_patch_size=2,
    spatial_depth=6,
    temporal_depth=4,
    use_flash_attn=False,
    **FRAMES,
)
vit(
    "vivit_factorized",
    "vivit.ViViT",
    VIDEO,
    frame_patch_size=2,
    spatial_depth=4,
    temporal_depth=4,
    variant="factorized_self_attention",
    use_flash_attn=False,
    **FRAMES,
)
vit(
    "t2t",
    "t2t.T2TViT",
    dim=384,
    image_size=224,
    depth=5,
    heads=6,
    mlp_dim=1152,
    t2t_layers=((7, 4), (3, 2), (3, 2)),
)
vit(
    "cct",
    "cct.CCT",
    img_size=224,
    embedding_dim=384,
    n_conv_layers=2,
    kernel_size=7,
    stride=2,
    padding=3,
    num_layers=14,
    num_heads=6,
    mlp_ratio=3.0,
    positional_embedding="learnable",
)
vit("pit", "pit.PiT", image_size=224, patch_size=14, dim=192, depth=(3, 3, 3), heads=6, mlp_dim=768)
vit(
    "twins_svt",
    "twins_svt.TwinsSVT",
    s3_depth=3,
    s4_depth=2,
    s4_local_patch_size=7,
    s4_emb_dim=384,
    s3_emb_dim=192,
)
vit(
    "sepvit",
    "sep_vit.SepViT",
    dim=32,
    dim_head=32,
    heads=(1, 2, 4, 8),
    depth=(1, 2, 6, 2),
    window_size=7,
)
vit(
    "scalablevit",
    "scalable_vit.ScalableViT",
    LARGER,
    dim=64,
    heads=(2, 4, 8, 16),
    depth=(2, 2, 8, 2),
    ssa_dim_key=(40, 40, 40, 32),
    reduction_factor=(8, 4, 2, 1),
    window_size=(64, 32, None, None),
)


def add_x_transformer(name, kind="Decoder", **config):
    def make():
        attention = found("x_transformers." + kind)(dim=512, depth=6, heads=8, **config)
        positions = not {"rotary_pos_emb", "alibi_pos_bias", "rel_pos_bias"} & set(config)
        wrapper = found("x_transformers.TransformerWrapper")
        return wrapper(
            num_tokens=20000, max_seq_len=256, attn_layers=attention, use_abs_pos_emb=positions
        ), {"tokens": (20000, [256])}

    NETWORKS.add("xt-" + name, make)


add_x_transformer("rotary", rotary_pos_emb=True)
add_x_transformer("alibi", alibi_pos_bias=True, alibi_num_heads=4)
add_x_transformer("t5_relative", "Encoder", rel_pos_bias=True)
add_x_transformer("talking_heads", attn_pre_talking_heads=True, attn_post_talking_heads=True)
add_x_transformer("gated", attn_gate_values=True, ff_glu=True, ff_swish=True)
add_x_transformer("macaron", "Encoder", macaron=True, use_rmsnorm=True)
add_x_transformer(
    "gqa_qknorm", attn_kv_heads=2, attn_qk_norm=True, rotary_pos_emb=True, use_simple_rmsnorm=True
)
add_x_transformer("memory_kv", "Encoder", attn_num_mem_kv=16, ff_relu_squared=True)
add_x_transformer("topk", attn_sparse_topk=8)
add_x_transformer("sandwich", sandwich_norm=True, shift_tokens=1, ff_no_bias=True)


def add_clip_encoder(name, model, side=None):
    """Adds one encoder of a CLIP model: the image encoder for images of `side` pixels or, without `side`, the text encoder."""

    def make():
        whole = found("open_clip.create_model")(model, pretrained=None)
        if side:
            return whole.visual, floats(image=[3, side, side])
        del whole.visual
        return Call(whole, lambda whole, tokens: whole.encode_text(tokens, normalize=True)), {
            "tokens": (49408, [77])
        }

    NETWORKS.add("clip-" + name, make)


add_clip_encoder("mobileclip_s1_image", "MobileCLIP-S1", 256)
add_clip_encoder("mobileclip2_s0_image", "MobileCLIP2-S0", 256)
add_clip_encoder("vit_b_32_text", "ViT-B-32")
add_clip_encoder("vit_s_32_text", "ViT-S-32")
add_clip_encoder("siglip_image", "ViT-B-16-SigLIP", 224)
add_clip_encoder("siglip2_b32_image", "ViT-B-32-SigLIP2-256", 256)
add_clip_encoder("rn50_image", "RN50", 224)
add_clip_encoder("eva02_b16_image", "EVA02-B-16", 224)
add_clip_encoder("pe_core_s_image", "PE-Core-S-16-384", 384)
