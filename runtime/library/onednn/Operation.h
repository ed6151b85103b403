//===- Operation.h - a JSON description turned into a oneDNN primitive --------===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_OPERATION_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_OPERATION_H

#include "runtime/library/describe/Fields.h"
#include "runtime/library/onednn/Handles.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace dlc::onednn {

/// One buffer of the operation, in the order of Desc.md.
struct Slot {
  std::string name;
  int execArgument = 0;
  bool isOutput = false;
  /// As the description gave it; what it becomes is known once the primitive descriptor exists.
  MemoryDesc given;
  std::string givenTag;
  /// What the buffer holds where that need not be what the primitive takes ("outside"): the call
  /// reorders between the two.
  MemoryDesc outside;
  std::string outsideTag;
};

/// What the builders of the kinds (Kinds*.cpp) work with. Everything throws dlc::Error.
class Builder : public describe::Fields {
public:
  explicit Builder(const nlohmann::json &desc)
      : Fields(desc, "oneDNN: " + desc.value("kind", "?")), desc(desc) {}

  /// desc[name] as the next buffer; null (and no buffer) if it is absent and not required.
  const_dnnl_memory_desc_t argument(const char *name, int execArgument, bool isOutput = false,
                                    bool required = true);

  /// Post-ops, math mode, scales: adds their buffers. Call after the kind's own arguments.
  void attributes();
  /// Takes the status of a dnnl_*_primitive_desc_create.
  void created(dnnl_status_t status);

  const nlohmann::json &desc;
  std::vector<Slot> slots;
  Attributes attr;
  dnnl_primitive_desc_t raw = nullptr;
  /// The forward operation that a gradient was made for: the library reads it again when it goes on
  /// to the next implementation.
  PrimitiveDesc forward;

private:
  void postOps(dnnl_post_ops_t list);
  void quantization(const char *name, bool scales);
};

/// The description's memory layout {"dims", "dtype", "tag"|"strides"}; `what` names it in messages.
MemoryDesc layoutOf(const nlohmann::json &layout, const std::string &what);

dnnl_alg_kind_t eltwiseAlgorithm(const std::string &name);
dnnl_alg_kind_t binaryAlgorithm(const std::string &name);

/// Scale and shift as slots; returns their flags.
unsigned scaleAndShift(Builder &builder);

/// Called with a builder whose `desc` is checked to be an object; leave `raw` set.
void buildConvolution(Builder &builder);
void buildDeconvolution(Builder &builder);
void buildInnerProduct(Builder &builder);
void buildMatmul(Builder &builder);
void buildPooling(Builder &builder);
void buildReorder(Builder &builder);
void buildEltwise(Builder &builder);
void buildBinary(Builder &builder);
void buildSoftmax(Builder &builder);
void buildLayerNormalization(Builder &builder);
void buildBatchNormalization(Builder &builder);
void buildReduction(Builder &builder);
void buildResampling(Builder &builder);
void buildLrn(Builder &builder);
void buildConvolutionBackwardData(Builder &builder);
void buildConvolutionBackwardWeights(Builder &builder);
void buildPoolingBackward(Builder &builder);
void buildBatchNormalizationTraining(Builder &builder);
void buildBatchNormalizationBackward(Builder &builder);
void buildVanillaRnn(Builder &builder);
void buildLstm(Builder &builder);
void buildGru(Builder &builder);
void buildLbrGru(Builder &builder);

/// A primitive descriptor with its buffers, standing at one implementation.
struct Operation {
  std::vector<Slot> slots;
  PrimitiveDesc pd;
  std::string implementation;
  /// Its threads do not wait for one another while they work.
  bool partsStandAlone = false;

  /// As the primitive takes it.
  const_dnnl_memory_desc_t layout(const Slot &slot) const;
  /// As the command's buffer holds it.
  const_dnnl_memory_desc_t bufferLayout(const Slot &slot) const;
  bool isStaged(const Slot &slot) const;
  /// The primitive's own scratchpad, rounded up; what is staged comes behind it.
  uint64_t scratchpadBytes() const;
  uint64_t stagedBytes(const Slot &slot) const;
  uint64_t scratchBytes() const;
};

/// The implementation that desc["impl"] names if it exists, else the first that fits.
Operation makeOperation(const nlohmann::json &desc);
/// All implementations in oneDNN's order.
std::vector<Operation> makeOperations(const nlohmann::json &desc);

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_OPERATION_H
