"""Image restoration and super-resolution: the architectures of spandrel, mostly smaller than published, so that they run in about a second."""

from . import Table, floats, image

NETWORKS = Table("spandrel_")


def add(name, network, inputs, **config):
    NETWORKS.of(name, "spandrel.architectures." + network, inputs, **config)


DIRECT = {"upscale": 2, "upsampler": "pixelshuffledirect"}
WINDOWS = {"window_size": 8, "mlp_ratio": 2, **DIRECT}
add("esrgan", "ESRGAN.ESRGAN", image(3, 64, 64), num_filters=32, num_blocks=6)
add("compact", "Compact.Compact", image(3, 64, 64), num_feat=48, num_conv=16)
add(
    "swinir",
    "SwinIR.SwinIR",
    image(3, 64, 64),
    embed_dim=60,
    depths=[6, 6],
    num_heads=[6, 6],
    **WINDOWS,
)
add(
    "swin2sr",
    "Swin2SR.Swin2SR",
    image(3, 64, 64),
    embed_dim=60,
    depths=[4, 4],
    num_heads=[6, 6],
    **WINDOWS,
)
add(
    "hat",
    "HAT.HAT",
    image(3, 32, 32),
    img_size=32,
    embed_dim=96,
    depths=(3, 3),
    num_heads=(6, 6),
    window_size=8,
    upscale=2,
)
add(
    "dat",
    "DAT.DAT",
    image(3, 64, 64),
    embed_dim=60,
    split_size=[8, 16],
    depth=[3, 3],
    num_heads=[6, 6],
    expansion_factor=2.0,
    upsampler="pixelshuffledirect",
)
add(
    "drct",
    "DRCT.DRCT",
    image(3, 32, 32),
    img_size=32,
    embed_dim=96,
    depths=(6, 6),
    num_heads=(6, 6),
    window_size=8,
    upscale=2,
    upsampler="pixelshuffle",
)
add("craft", "CRAFT.CRAFT", image(3, 64, 64))
add(
    "rgt",
    "RGT.RGT",
    image(3, 64, 64),
    embed_dim=60,
    depth=[3, 3],
    num_heads=[6, 6],
    mlp_ratio=2.0,
    split_size=[8, 8],
)
add(
    "grl",
    "GRL.GRL",
    image(3, 64, 64),
    embed_dim=48,
    depths=[2, 2],
    num_heads_window=[2, 2],
    num_heads_stripe=[2, 2],
    stripe_size=[16, 16],
    **DIRECT,
)
add("span", "SPAN.SPAN", image(3, 128, 128), num_in_ch=3, num_out_ch=3)
add("omnisr", "OmniSR.OmniSR", image(3, 64, 64), block_num=1, res_num=2)
add("safmn", "SAFMN.SAFMN", image(3, 128, 128), dim=36)
add(
    "nafnet",
    "NAFNet.NAFNet",
    image(3, 128, 128),
    width=24,
    middle_blk_num=4,
    enc_blk_nums=[2, 2, 4, 4],
    dec_blk_nums=[2, 2, 2, 2],
)
add("scunet", "SCUNet.SCUNet", image(3, 64, 64), config=[2, 2, 2, 2, 2, 2, 2], dim=64)
add("realcugan2x", "RealCUGAN.UpCunet2x", image(3, 80, 80))
add("realcugan2xfast", "RealCUGAN.UpCunet2x_fast", image(3, 80, 80))
add("plksr", "PLKSR.PLKSR", image(3, 64, 64), n_blocks=8)
add("realplksr", "PLKSR.RealPLKSR", image(3, 64, 64), n_blocks=8, dysample=True)
add("mosr", "MoSR.MoSR", image(3, 64, 64), n_block=8)
add(
    "gfpgan",
    "GFPGAN.GFPGAN",
    image(3, 256, 256),
    out_size=256,
    num_style_feat=256,
    channel_multiplier=1,
    num_mlp=4,
    narrow=0.25,
)
add(
    "restoreformer",
    "RestoreFormer.RestoreFormer",
    image(3, 128, 128),
    n_embed=256,
    embed_dim=128,
    ch=32,
    ch_mult=(1, 2, 2, 4),
    resolution=128,
    z_channels=128,
)
add(
    "retinexformer",
    "RetinexFormer.RetinexFormer",
    image(3, 128, 128),
    stage=1,
    num_blocks=[1, 2, 2],
)
add("hvicidnet", "HVICIDNet.HVICIDNet", image(3, 128, 128))
add("uformer", "Uformer.Uformer", image(3, 128, 128), img_size=128, embed_dim=16)
add("rcan", "RCAN.RCAN", image(3, 64, 64), n_resgroups=3, n_resblocks=4)
add("fbcnn", "FBCNN.FBCNN", image(3, 64, 64), nb=2)
add("drunet", "DRUNet.DRUNet", image(3, 128, 128), in_nc=3, out_nc=3, nc=[32, 64, 128, 256], nb=2)
add("fdat", "FDAT.FDAT", image(3, 64, 64), embed_dim=60, num_groups=2)
add(
    "fftformer",
    "FFTformer.FFTformer",
    image(3, 64, 64),
    dim=24,
    num_blocks=[1, 1, 2],
    num_refinement_blocks=1,
)
add(
    "kbnet_s",
    "KBNet.KBNet_s",
    image(3, 64, 64),
    width=32,
    middle_blk_num=2,
    enc_blk_nums=[1, 1, 2, 2],
    dec_blk_nums=[1, 1, 1, 1],
)
add("ipt", "IPT.IPT", image(3, 48, 48), n_feats=32, num_heads=4, num_layers=2)
add("swiftsrgan", "SwiftSRGAN.SwiftSRGAN", image(3, 96, 96))
add("dncnn", "DnCNN.DnCNN", image(1, 128, 128))
add("lama", "LaMa.LaMa", floats(image=[3, 128, 128], mask=[1, 128, 128]), in_nc=4)
