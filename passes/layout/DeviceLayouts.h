//===- DeviceLayouts.h - layouts supported by the kernels of each kind of device ----===//
#ifndef DLC_PASSES_LAYOUT_DEVICELAYOUTS_H
#define DLC_PASSES_LAYOUT_DEVICELAYOUTS_H

#include "ir/dlc/Dialect.h"
#include "passes/Costs.h"

#include <memory>
#include <string>
#include <vector>

namespace dlc {

/// Combination of layouts for which a convolution or its gradient may have a kernel. An empty tag
/// means row-major.
struct ConvLayouts {
  std::string source, destination;
  std::string weights = {}; ///< layout of the weights, or of the weight gradient
};

/// Layouts that the kernels of one kind of device support. In this class, a product is a
/// convolution or a gradient of one.
class DeviceLayouts {
public:
  virtual ~DeviceLayouts() = default;
  /// Returns the layouts that the convolution (or gradient) prefers by itself, regardless of
  /// adjacent operations.
  virtual std::vector<std::string> preferred(mlir::Operation *product) = 0;
  /// Returns layouts for images of this rank that are candidates in addition to those that
  /// convolutions prefer, if the block has convolutions.
  virtual llvm::ArrayRef<const char *> ownTags(int64_t rank) const = 0;
  /// Returns the layouts other than row-major for which the convolution (or gradient) may have a
  /// kernel. `tags` has the layouts that occur in the block.
  virtual std::vector<ConvLayouts> offers(mlir::Operation *product,
                                          llvm::ArrayRef<std::string> tags) = 0;
  /// Returns whether the kernel of a pool, or of a pool's gradient, supports the layout.
  virtual bool pools(mlir::Operation *op, llvm::StringRef tag) = 0;
};

/// Supported layouts of all kinds of devices.
class DeviceLayoutsRegistry {
public:
  explicit DeviceLayoutsRegistry(Costs &costs);
  /// Returns the layouts of this device, or null if the device supports only row-major tensors.
  DeviceLayouts *of(OnAttr device) const;
  /// Returns the layouts of the device on which the operation's first result is placed.
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
