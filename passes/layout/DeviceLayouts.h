//===- DeviceLayouts.h - which layouts kernels of a kind of device have ---===//
#ifndef DLC_PASSES_LAYOUT_DEVICELAYOUTS_H
#define DLC_PASSES_LAYOUT_DEVICELAYOUTS_H

#include "passes/layout/Ask.h"

#include <memory>
#include <string>
#include <vector>

namespace dlc {

/// The layouts that a convolution or its gradient would have. Empty: plain.
struct Offer {
  std::string source, destination;
  std::string weights = {}; ///< of the operand, or of the gradient in them
};

/// What is known of the kernels of one kind of device. Products are convolutions and their
/// gradients.
class DeviceLayouts {
public:
  virtual ~DeviceLayouts() = default;
  /// What a product asks for, were it alone.
  virtual std::vector<std::string> wanted(mlir::Operation *product) = 0;
  /// Layouts that any image of this rank may have where a block has products.
  virtual llvm::ArrayRef<const char *> ownTags(int64_t rank) const = 0;
  /// What there may be kernels for beside those for plain tensors, with these layouts about.
  virtual std::vector<Offer> offers(mlir::Operation *product, llvm::ArrayRef<std::string> tags) = 0;
  /// Whether a pool, or a pool's gradient, follows.
  virtual bool pools(mlir::Operation *op, llvm::StringRef tag) = 0;
};

/// A row for each kind of device that has layouts.
class LayoutsOfDevices {
public:
  explicit LayoutsOfDevices(LayoutOracle &oracle);
  /// Null where all is plain.
  DeviceLayouts *of(OnAttr device) const;
  /// Of the device of the operation's first result.
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
