//===- Call.cpp - an operation ready to execute -------------------------------===//
#include "runtime/library/onednn/Call.h"

#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/onednn/Layout.h"
#include "runtime/program/Message.h"

#include <oneapi/dnnl/dnnl_debug.h>

namespace dlc::onednn {

using runtime::fail;

Call::Call(const nlohmann::json &desc, std::span<const runtime::BufferInfo> buffers) {
  Operation operation = makeOperation(desc);
  name = operation.implementation;
  size_t count = operation.slots.size();
  uint64_t scratch = operation.scratchpadBytes();
  if (buffers.size() != count && buffers.size() != count + 1) {
    std::string names;
    for (const Slot &slot : operation.slots)
      names += " " + slot.name;
    fail("oneDNN ", desc.value("kind", "?"), " takes ", count, " buffers (", names.substr(1),
         ") and perhaps a scratchpad, ", buffers.size(), " given");
  }
  auto addMemory = [&](const_dnnl_memory_desc_t md, int execArgument) {
    dnnl_memory_t memory = nullptr;
    check(dnnl_memory_create(&memory, md, engine(), DNNL_MEMORY_NONE), "making a memory object");
    memories.emplace_back(memory);
    arguments.push_back({execArgument, memory});
    bound.push_back(nullptr);
  };
  for (size_t i = 0; i < count; ++i) {
    const Slot &slot = operation.slots[i];
    const_dnnl_memory_desc_t md = operation.layout(slot);
    uint64_t needed = bytesOf(md);
    if (buffers[i].bytes < needed)
      fail("oneDNN ", desc.value("kind", "?"), ": buffer ", i, " ('", slot.name, "') has ",
           buffers[i].bytes, " bytes, ", needed, " needed");
    if (slot.isOutput && !buffers[i].writable)
      fail("oneDNN ", desc.value("kind", "?"), ": buffer ", i, " ('", slot.name,
           "') is written but lies in a constant or an input");
    addMemory(md, slot.execArgument);
  }
  bufferCount = count;
  if (scratch > 0) {
    // The planner may have given the scratchpad a place in the arena; this machine may need more.
    if (buffers.size() == count + 1 && buffers[count].bytes >= scratch && buffers[count].writable)
      bufferCount = count + 1;
    else
      ownScratch = scratch;
    addMemory(dnnl_primitive_desc_query_md(operation.pd.get(), dnnl_query_scratchpad_md, 0),
              DNNL_ARG_SCRATCHPAD);
  }
  dnnl_primitive_t made = nullptr;
  check(dnnl_primitive_create(&made, operation.pd.get()), "making a primitive");
  primitive.reset(made);
  dnnl_stream_t madeStream = nullptr;
  check(dnnl_stream_create(&madeStream, engine(), dnnl_stream_default_flags), "making a stream");
  stream.reset(madeStream);
}

void Call::execute(void *const *buffers, const runtime::CallContext &context) {
  for (size_t i = 0; i < memories.size(); ++i) {
    void *wanted = i < bufferCount ? buffers[i] : context.scratch;
    if (wanted == bound[i])
      continue;
    check(dnnl_memory_set_data_handle(memories[i].get(), wanted), "binding a buffer");
    bound[i] = wanted;
  }
  dnnl_status_t status = dnnl_primitive_execute(
      primitive.get(), stream.get(), static_cast<int>(arguments.size()), arguments.data());
  if (status != dnnl_success)
    fail("oneDNN (", name, ") failed: ", dnnl_status2str(status));
}

} // namespace dlc::onednn

namespace dlc::runtime {

std::unique_ptr<LibraryCall> makeOneDnnCall(const nlohmann::json &desc,
                                            std::span<const BufferInfo> buffers, int threads) {
  ThreadScope scope(threads);
  return std::make_unique<onednn::Call>(desc, buffers);
}

} // namespace dlc::runtime
