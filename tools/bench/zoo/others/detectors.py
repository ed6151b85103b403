"""Detectors that include non-maximum suppression: their results have a data-dependent size, or are padded."""

from . import Call, Table, found, image

NETWORKS = Table(exporters=("trace",), whole=True, kept=1 << 17)


def add_detector(name, side):
    """Adds a detector that returns only the scores, because boxes with nearly equal scores may be in any order.
    Weights are scaled so that scores are spread as after training."""
    module = found("torchvision.models.detection." + name)(weights=None, weights_backbone=None)
    for part, value in module.named_parameters():
        if "cls" in part or "classification" in part:
            value.data.mul_(20)
    return Call(module, lambda detect, x: detect([x])[0]["scores"]), image(3, side, side)


for name, side in (
    ("ssdlite320_mobilenet_v3_large", 320),
    ("ssd300_vgg16", 300),
    ("retinanet_resnet50_fpn", 512),
    ("fcos_resnet50_fpn", 512),
    ("fasterrcnn_mobilenet_v3_large_320_fpn", 320),
    ("fasterrcnn_mobilenet_v3_large_fpn", 640),
    ("fasterrcnn_resnet50_fpn", 512),
):
    NETWORKS.add("torchvision_" + name, lambda name=name, side=side: add_detector(name, side))


def add_yolo_with_nms(name, side):
    """Adds the model of Ultralytics' own exporter with `nms=True`, which returns only the scores."""
    import ultralytics.cfg
    from ultralytics.engine.exporter import NMSModel
    from . import images

    model, inputs = images.yolo(name, side)
    for part in model.model[-1].cv3:
        part[-1].bias.data.normal_(-2)
        part[-1].weight.data.mul_(20)
    arguments = ultralytics.cfg.get_cfg(
        overrides={
            "format": "onnx",
            "nms": True,
            "conf": 0.25,
            "iou": 0.7,
            "max_det": 300,
            "opset": 17,
        }
    )
    return Call(NMSModel(model, arguments).eval(), lambda detect, x: detect(x)[..., 4]), {
        key: (kind, [1, *shape]) for key, (kind, shape) in inputs.items()
    }


for name in ("yolov8n", "yolo11n"):
    NETWORKS.add(f"ultralytics_{name}_nms", lambda name=name: add_yolo_with_nms(name, 640))
