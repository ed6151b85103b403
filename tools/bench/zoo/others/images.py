"""Image networks: segmentation_models_pytorch, MONAI, Ultralytics, docTR, Kornia, facenet-pytorch, efficientnet-pytorch, pretrainedmodels."""

from . import Call, Table, floats, found, image

NETWORKS = Table()

for decoder, encoder, side in (
    ("Unet", "resnet34", 256),
    ("UnetPlusPlus", "efficientnet-b0", 256),
    ("MAnet", "mobilenet_v2", 512),
    ("Linknet", "densenet121", 512),
    ("FPN", "timm-regnetx_032", 512),
    ("PSPNet", "resnext50_32x4d", 512),
    ("PAN", "timm-mobilenetv3_large_100", 512),
    ("DeepLabV3Plus", "mobilenet_v2", 512),
    ("UPerNet", "resnet18", 256),
    ("Segformer", "mit_b0", 512),
    ("DeepLabV3", "resnet18", 256),
    ("Unet", "mit_b1", 256),
    ("FPN", "mobileone_s1", 512),
    ("Unet", "vgg11_bn", 256),
    ("Unet", "inceptionv4", 256),
    ("Linknet", "xception", 256),
    ("Unet", "timm-res2net50_26w_4s", 256),
    ("FPN", "timm-resnest26d", 256),
    ("UPerNet", "tu-convnext_atto", 256),
    ("MAnet", "se_resnet50", 256),
):
    NETWORKS.of(
        f"smp_{decoder}_{encoder}".lower().replace("-", "_"),
        "segmentation_models_pytorch." + decoder,
        image(3, side, side),
        encoder_name=encoder,
        encoder_weights=None,
        classes=21,
    )
NETWORKS.of(
    "smp_dpt_tu_vit_small_patch16_224",
    "segmentation_models_pytorch.DPT",
    image(3, 224, 224),
    encoder_name="tu-vit_small_patch16_224",
    encoder_weights=None,
    classes=21,
    dynamic_img_size=False,
)


def add_monai_network(name, network, inputs, *arguments, **config):
    NETWORKS.of("monai_" + name, "monai.networks.nets." + network, inputs, *arguments, **config)


add_monai_network(
    "unet3d",
    "UNet",
    image(1, 96, 96, 96),
    3,
    1,
    4,
    (16, 32, 64, 128, 256),
    (2, 2, 2, 2),
    num_res_units=2,
)
add_monai_network("segresnet", "SegResNet", image(1, 64, 64, 64), 3, 16, 1, 3)
add_monai_network(
    "unetr",
    "UNETR",
    image(1, 64, 64, 64),
    1,
    4,
    (64, 64, 64),
    feature_size=8,
    hidden_size=384,
    mlp_dim=1536,
    num_heads=6,
)
add_monai_network("swinunetr", "SwinUNETR", image(1, 64, 64, 64), 1, 4, feature_size=12)
add_monai_network(
    "swinunetr2d_v2",
    "SwinUNETR",
    image(3, 256, 256),
    3,
    4,
    feature_size=24,
    spatial_dims=2,
    use_v2=True,
)
add_monai_network(
    "dynunet",
    "DynUNet",
    image(1, 64, 64, 64),
    3,
    1,
    3,
    [3, 3, 3, 3, 3],
    [1, 2, 2, 2, 2],
    [2, 2, 2, 2],
    filters=[16, 32, 64, 128, 160],
    res_block=True,
)
add_monai_network(
    "attentionunet", "AttentionUnet", image(1, 64, 64, 64), 3, 1, 2, (16, 32, 64, 128), (2, 2, 2)
)
add_monai_network("vnet", "VNet", image(1, 32, 32, 32), 3, 1, 2)
add_monai_network("basicunetplusplus", "BasicUNetPlusPlus", image(3, 128, 128), 2, 3, 2)
add_monai_network("densenet121_3d", "DenseNet121", image(1, 64, 64, 64), 3, 1, 4)
add_monai_network("flexibleunet", "FlexibleUNet", image(3, 256, 256), 3, 2, "efficientnet-b0")
add_monai_network("mednext", "MedNeXt", image(1, 64, 64, 64), 3, 16, 1, 3, kernel_size=5)
add_monai_network(
    "vitautoenc",
    "ViTAutoEnc",
    image(1, 64, 64, 64),
    1,
    (64, 64, 64),
    (16, 16, 16),
    hidden_size=384,
    mlp_dim=1536,
    num_heads=6,
    num_layers=8,
)


def yolo(name, side):
    """Adds the model of Ultralytics' own exporter: batch norms are folded into convolutions, and the boxes of all scales are one result."""
    import ultralytics
    from ultralytics.nn import modules
    from listing import initialize_as_trained

    kind = ultralytics.RTDETR if name.startswith("rtdetr") else ultralytics.YOLO
    model = kind(name + ".yaml").model.eval()
    initialize_as_trained(model)
    model = model.fuse(verbose=False).float().eval()
    for part in model.modules():
        if isinstance(part, (modules.Classify, modules.Detect, modules.RTDETRDecoder)):
            part.export, part.format = True, "onnx"
        if isinstance(part, (modules.Detect, modules.RTDETRDecoder)):
            part.dynamic, part.max_det, part.xyxy, part.shape = False, 300, False, None
        if isinstance(part, modules.C2f):
            part.forward = part.forward_split
    return model, floats(images=[3, side, side])


for name, side in (
    ("yolov3-tiny", 640),
    ("yolov6n", 640),
    ("yolov8n", 640),
    ("yolov8s-seg", 640),
    ("yolov8n-pose", 640),
    ("yolov8n-cls", 224),
    ("yolov8n-ghost", 640),
    ("yolov8n-p2", 640),
    ("yolov9t", 640),
    ("yolov10n", 640),
    ("yolo11n", 640),
    ("yolo11n-obb", 640),
    ("yolo12n", 640),
    ("yolo26n", 640),
    ("yolo26n-seg", 640),
    ("rtdetr-l", 416),
    ("rtdetr-resnet50", 416),
):
    NETWORKS.add(
        "ultralytics_" + name.replace("-", "_"), lambda name=name, side=side: yolo(name, side)
    )
NETWORKS.add("ultralytics_yolov5nu", lambda: yolo("yolov5n", 640))

for group, name, side, config in (
    ("detection", "db_resnet50", 512, {}),
    ("detection", "db_mobilenet_v3_large", 1024, {}),
    ("detection", "linknet_resnet18", 768, {}),
    ("detection", "fast_tiny", 448, {}),
    ("recognition", "crnn_vgg16_bn", 0, {}),
    ("recognition", "crnn_mobilenet_v3_small", 0, {}),
    ("recognition", "sar_resnet31", 0, {}),
    ("recognition", "vitstr_small", 0, {}),
    ("recognition", "parseq", 0, {}),
    ("recognition", "master", 0, {"max_length": 20}),
    ("recognition", "viptr_tiny", 0, {}),
    ("classification", "textnet_tiny", 256, {}),
    ("classification", "magc_resnet31", 32, {}),
    ("classification", "vip_tiny", 32, {}),
    ("classification", "starnet_s3", 224, {}),
    ("layout", "lw_detr_s", 640, {}),
    ("table_structure", "tablecenternet", 512, {}),
):
    if group != "classification":
        config["exportable"] = True
    if group in ("recognition", "detection", "table_structure"):
        config["pretrained_backbone"] = False
    NETWORKS.of(
        "doctr_" + name,
        f"doctr.models.{group}.{name}",
        image(3, side or 32, side or 128),
        pretrained=False,
        **config,
    )


def add_kornia_network(name, network, inputs, *arguments, **config):
    NETWORKS.of("kornia_" + name, "kornia." + network, inputs, *arguments, **config)


for name in ("HardNet", "HardNet8", "SOSNet", "TFeat", "HyNet", "OriNet"):
    add_kornia_network(name.lower(), "feature." + name, image(1, 32, 32), pretrained=False)
add_kornia_network("mkd", "feature.MKDDescriptor", image(1, 32, 32), whitening=None)
add_kornia_network("sift", "feature.SIFTDescriptor", image(1, 41, 41))
add_kornia_network("keynet", "feature.KeyNet", image(1, 240, 320), pretrained=False)
add_kornia_network("defmo", "feature.DeFMO", image(6, 96, 128), pretrained=False)
add_kornia_network("xfeat", "feature.XFeatModel", image(3, 480, 640))
add_kornia_network(
    "tinyvit",
    "models.tiny_vit.TinyViT",
    image(3, 224, 224),
    embed_dims=(64, 128, 160, 320),
    depths=(2, 2, 6, 2),
    num_heads=(2, 4, 5, 10),
)
add_kornia_network("mobilevit", "models.vit_mobile.MobileViT", image(3, 256, 256))
add_kornia_network(
    "vit", "models.vit.VisionTransformer", image(3, 224, 224), embed_dim=192, depth=12, num_heads=3
)
add_kornia_network(
    "efficientvit_b0", "models.efficient_vit.backbone.efficientvit_backbone_b0", image(3, 224, 224)
)
add_kornia_network("dexined", "models.dexined.DexiNed", image(3, 160, 160), pretrained=False)
add_kornia_network("yunet", "models.yunet.YuNet", image(3, 320, 320), "test", False)
add_kornia_network("smallsr", "models.small_sr.SmallSRNet", image(1, 224, 224), 3, pretrained=False)


@NETWORKS.network()
def kornia_loftr():
    return Call(
        found("kornia.feature.LoFTR")(None), lambda loftr, a, b: loftr({"image0": a, "image1": b})
    ), floats(image0=[1, 160, 160], image1=[1, 160, 160])


NETWORKS.of(
    "facenet_inceptionresnetv1",
    "facenet_pytorch.InceptionResnetV1",
    image(3, 160, 160),
    pretrained=None,
)
NETWORKS.of(
    "facenet_pnet", "facenet_pytorch.models.mtcnn.PNet", image(3, 320, 240), pretrained=False
)
NETWORKS.of("facenet_rnet", "facenet_pytorch.models.mtcnn.RNet", image(3, 24, 24), pretrained=False)
NETWORKS.of("facenet_onet", "facenet_pytorch.models.mtcnn.ONet", image(3, 48, 48), pretrained=False)
for name, side in (
    ("nasnetamobile", 224),
    ("bninception", 224),
    ("dpn68", 224),
    ("inceptionresnetv2", 299),
    ("se_resnext50_32x4d", 224),
    ("polynet", 331),
    ("xception", 299),
    ("fbresnet152", 224),
):
    NETWORKS.of(
        "pretrained_" + name,
        "pretrainedmodels." + name,
        image(3, side, side),
        num_classes=1000,
        pretrained=None,
    )


@NETWORKS.network()
def efficientnet_pytorch_b0():
    model = found("efficientnet_pytorch.EfficientNet").from_name("efficientnet-b0")
    model.set_swish(memory_efficient=False)
    return model, image(3, 224, 224)
