"""Detectors of torchvision with non-maximum suppression inside: what they give back has a size that the run finds."""
from . import Call, Table, found, image

NETWORKS = Table("torchvision_", exporters=("trace",), whole=True, kept=1 << 17)


def detector(name, side):
    """Its scores alone, since boxes of nearly equal scores may stand in any order; spread as training spreads them."""
    module = found("torchvision.models.detection." + name)(weights=None, weights_backbone=None)
    for part, value in module.named_parameters():
        if "cls" in part or "classification" in part:
            value.data.mul_(20)
    return Call(module, lambda detect, x: detect([x])[0]["scores"]), image(3, side, side)


for name, side in (("ssdlite320_mobilenet_v3_large", 320), ("ssd300_vgg16", 300), ("retinanet_resnet50_fpn", 512), ("fcos_resnet50_fpn", 512),
                   ("fasterrcnn_mobilenet_v3_large_320_fpn", 320), ("fasterrcnn_mobilenet_v3_large_fpn", 640), ("fasterrcnn_resnet50_fpn", 512)):
    NETWORKS.add(name, lambda name=name, side=side: detector(name, side))
