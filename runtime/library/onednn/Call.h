//===- Call.h - an operation ready to execute ---------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_CALL_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_CALL_H

#include "runtime/library/Library.h"
#include "runtime/library/onednn/Operation.h"

namespace dlc::onednn {

class Call : public runtime::LibraryCall {
public:
  /// Throws dlc::Error when a buffer is too small or must be writable and is not.
  Call(const nlohmann::json &desc, std::span<const runtime::BufferInfo> buffers);

  void execute(void *const *buffers, const runtime::CallContext &context) override;
  std::string implementation() const override { return name; }
  uint64_t scratchBytes() const override { return ownScratch; }

  /// Whether a description asks for one thread.
  static bool isAlone(const nlohmann::json &desc);

private:
  /// A buffer whose contents the primitive takes in another layout.
  struct Staging {
    size_t slot = 0;
    bool isOutput = false;
    uint64_t offset = 0; // into the scratch memory
    Primitive reorder;
    Memory outside;
  };
  static Staging makeStaging(const Operation &operation, const Slot &slot, size_t index,
                             uint64_t offset);
  void reorder(const Staging &staging, void *buffer);
  void run(dnnl_primitive_t what, std::span<const dnnl_exec_arg_t> with, bool partsStandAlone);

  std::string name;
  bool partsStandAlone = false;
  bool alone = false; // one thread runs it
  Primitive primitive;
  Stream stream;
  std::vector<Memory> memories; // the last one is the scratchpad
  std::vector<void *> bound;
  std::vector<dnnl_exec_arg_t> arguments;
  std::vector<Staging> stagings;
  size_t slotCount = 0;
  bool scratchIsBuffer = false; // the last buffer; else the caller's own
  uint64_t ownScratch = 0;
};

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_CALL_H
