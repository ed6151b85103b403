//===- Call.h - oneDNN primitive call, ready to execute -------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_CALL_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_CALL_H

#include "runtime/library/Library.h"
#include "runtime/library/onednn/Operation.h"

namespace dlc::onednn {

class OneDnnCall : public runtime::LibraryCall {
public:
  /// Creates the primitive of a description. Throws dlc::Error if a buffer is too small, or if an
  /// output buffer is not writable.
  OneDnnCall(const nlohmann::json &desc, const schema::OnednnCall &call,
             std::span<const runtime::BufferInfo> buffers);

  void execute(void *const *buffers, const runtime::CallContext &context) override;
  std::string implementation() const override { return name; }
  uint64_t scratchBytes() const override { return ownScratch; }

private:
  /// Buffer whose layout differs from the layout that the primitive requires, with the reorder
  /// between the two layouts.
  struct Staging {
    size_t slot = 0;
    bool isOutput = false;
    uint64_t offset = 0; // offset of the primitive's copy in the scratch memory
    Primitive reorder;
    Memory outside;
  };
  static Staging makeStaging(const Operation &operation, const Slot &slot, size_t index,
                             uint64_t offset);
  void reorder(const Staging &staging, void *buffer);
  void run(dnnl_primitive_t what, std::span<const dnnl_exec_arg_t> with, bool partsAreIndependent);

  std::string name;
  bool partsAreIndependent = false;
  bool alone = false; // the call runs on one thread
  Primitive primitive;
  Stream stream;
  std::vector<Memory> memories; // memory objects of the arguments; the scratchpad is the last one
  std::vector<void *> bound;
  std::vector<dnnl_exec_arg_t> arguments;
  std::vector<Staging> stagings;
  size_t slotCount = 0;
  // The scratchpad is the last buffer instead of the caller's scratch memory.
  bool scratchIsBuffer = false;
  uint64_t ownScratch = 0;
};

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_CALL_H
