//===- DeviceLayouts.h - layouts supported by the kernels of each kind of device ----===//
#ifndef DLC_PASSES_LAYOUT_DEVICELAYOUTS_H
#define DLC_PASSES_LAYOUT_DEVICELAYOUTS_H

#include "passes/layout/LayoutOracle.h"

#include <memory>
#include <string>
#include <vector>

namespace dlc {

/// Layouts for which a convolution or its gradient may have a kernel. An empty tag means row-major.
struct Offer {
  std::string source, destination;
  std::string weights = {}; ///< layout of the weights, or of their gradient
};

/// Layouts that the kernels of one kind of device support. In this class, products are convolutions
/// and their gradients.
class DeviceLayouts {
public:
  virtual ~DeviceLayouts() = default;
  /// Layouts that the product would choose by itself.
  virtual std::vector<std::string> preferred(mlir::Operation *product) = 0;
  /// Additional layouts of images of this rank, if the block has products.
  virtual llvm::ArrayRef<const char *> ownTags(int64_t rank) const = 0;
  /// Layouts other than row-major for which the product may have a kernel. `tags`: layouts that
  /// occur in the block.
  virtual std::vector<Offer> offers(mlir::Operation *product, llvm::ArrayRef<std::string> tags) = 0;
  /// Whether a pool, or a pool's gradient, supports the layout.
  virtual bool pools(mlir::Operation *op, llvm::StringRef tag) = 0;
};

/// The supported layouts of all kinds of devices.
class LayoutsOfDevices {
public:
  explicit LayoutsOfDevices(LayoutOracle &oracle);
  /// Layouts of this device. Null if the device supports only row-major tensors.
  DeviceLayouts *of(OnAttr device) const;
  /// Layouts of the device of the operation's first result.
  DeviceLayouts *of(mlir::Operation *op) const;

private:
  struct Row {
    uint32_t capability;
    std::unique_ptr<DeviceLayouts> layouts;
  };
  std::vector<Row> rows;
};

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_DEVICELAYOUTS_H
