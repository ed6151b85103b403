//===- Operation.h - oneDNN primitives from JSON descriptions -------------===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_OPERATION_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_OPERATION_H

#include "runtime/library/onednn/Handles.h"
#include "runtime/library/schema/Schema.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace dlc::onednn {

/// Buffer of an operation. The slots of an operation are in the buffer order of Desc.md.
struct Slot {
  std::string name;
  int execArgument = 0;
  bool isOutput = false;
  /// Layout in the description, which may be `any`. The primitive descriptor determines the actual
  /// layout.
  MemoryDesc given;
  std::string givenTag;
  /// Layout of the command's buffer if the description has "outside"; otherwise null. The call
  /// reorders between this layout and the primitive's layout.
  MemoryDesc outside;
  std::string outsideTag;
};

/// Collects the attributes and buffers of one oneDNN primitive while its descriptor is built by a
/// function of Kinds*.cpp. All methods throw dlc::Error.
class PrimitiveBuilder {
public:
  explicit PrimitiveBuilder(const nlohmann::json &desc)
      : desc(desc), call(schema::OnednnCall::read(desc, "oneDNN")),
        library(std::string("oneDNN: ") + nameOf(call.kind)) {}

  /// Reads the parameters of the kind.
  template <typename Record> Record read() const { return Record::read(desc, library); }

  /// Adds desc[name] as the next buffer and returns its layout. Returns null without adding a
  /// buffer if the field is missing and not required.
  const_dnnl_memory_desc_t argument(const char *name, int execArgument, bool isOutput = false,
                                    bool required = true);

  /// Sets the post-ops, the math mode, the scales and the zero points, and adds their buffers. Must
  /// be called after the kind's own arguments are added.
  void attributes();
  /// Checks the status that a dnnl_*_primitive_desc_create function returned. Throws dlc::Error if
  /// the function failed.
  void created(dnnl_status_t status);

  const nlohmann::json &desc;
  const schema::OnednnCall call;
  const std::string library; ///< prefix of messages
  std::vector<Slot> slots;
  Attributes attr;
  dnnl_primitive_desc_t raw = nullptr;
  /// Forward primitive descriptor that a gradient refers to. oneDNN reads it again when it advances
  /// to the gradient's next implementation.
  PrimitiveDesc forward;

private:
  void postOps(dnnl_post_ops_t list);
  void quantization(const schema::QuantizationMasks &masks, bool scales);
};

/// Returns the descriptor of a memory layout. Error messages call the layout `what`.
MemoryDesc parseLayout(const nlohmann::json &layout, const std::string &what);
MemoryDesc parseLayout(const schema::Layout &layout, const std::string &what);

/// Returns oneDNN's enumerator of an eltwise or binary algorithm. Throws dlc::Error for other
/// algorithms.
dnnl_alg_kind_t eltwiseAlgorithmOf(schema::OnednnAlgorithm algorithm);
dnnl_alg_kind_t binaryAlgorithmOf(schema::OnednnAlgorithm algorithm);
/// Default values of the parameters alpha and beta of an eltwise algorithm, for descriptions
/// without these parameters.
float defaultAlpha(schema::OnednnAlgorithm algorithm);
float defaultBeta(schema::OnednnAlgorithm algorithm);

/// Adds the optional arguments "scale" and "shift" to the builder's buffers and returns the
/// normalization flags of those that are present.
unsigned addScaleAndShift(PrimitiveBuilder &builder);
/// Returns the epsilon of a normalization.
float readEpsilon(const PrimitiveBuilder &builder);

/// Each of these functions creates the oneDNN descriptor of one kind of primitive in `builder.raw`.
/// `builder.desc` must be a JSON object.
void buildConvolution(PrimitiveBuilder &builder);
void buildDeconvolution(PrimitiveBuilder &builder);
void buildInnerProduct(PrimitiveBuilder &builder);
void buildMatmul(PrimitiveBuilder &builder);
void buildPooling(PrimitiveBuilder &builder);
void buildReorder(PrimitiveBuilder &builder);
void buildEltwise(PrimitiveBuilder &builder);
void buildBinary(PrimitiveBuilder &builder);
void buildSoftmax(PrimitiveBuilder &builder);
void buildLayerNormalization(PrimitiveBuilder &builder);
void buildBatchNormalization(PrimitiveBuilder &builder);
void buildReduction(PrimitiveBuilder &builder);
void buildResampling(PrimitiveBuilder &builder);
void buildLrn(PrimitiveBuilder &builder);
void buildConvolutionBackwardData(PrimitiveBuilder &builder);
void buildConvolutionBackwardWeights(PrimitiveBuilder &builder);
void buildPoolingBackward(PrimitiveBuilder &builder);
void buildBatchNormalizationTraining(PrimitiveBuilder &builder);
void buildBatchNormalizationBackward(PrimitiveBuilder &builder);
void buildVanillaRnn(PrimitiveBuilder &builder);
void buildLstm(PrimitiveBuilder &builder);
void buildGru(PrimitiveBuilder &builder);
void buildLbrGru(PrimitiveBuilder &builder);

/// Primitive descriptor of one implementation, with its buffers.
struct Operation {
  std::vector<Slot> slots;
  PrimitiveDesc pd;
  std::string implementation;
  bool isReference = false; ///< slow reference code
  /// Set if the primitive's threads do not synchronize with one another during execution.
  bool partsAreIndependent = false;

  /// Returns the layout in which the primitive accesses the slot's tensor.
  const_dnnl_memory_desc_t layout(const Slot &slot) const;
  /// Returns the layout of the command's buffer for the slot. It may differ from layout().
  const_dnnl_memory_desc_t bufferLayout(const Slot &slot) const;
  bool isStaged(const Slot &slot) const;
  /// Returns the size of the primitive's own scratchpad, rounded up. Staged buffers follow it in
  /// the scratch memory.
  uint64_t scratchpadBytes() const;
  uint64_t stagedBytes(const Slot &slot) const;
  uint64_t scratchBytes() const;
};

/// Creates the implementation that the field "impl" names if it exists, otherwise the first one
/// that supports the description.
Operation makeOperation(const nlohmann::json &desc);
/// Creates all oneDNN implementations of `desc`, in oneDNN's order of preference.
std::vector<Operation> makeOperations(const nlohmann::json &desc);

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_OPERATION_H
