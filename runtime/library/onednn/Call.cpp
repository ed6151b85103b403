//===- Call.cpp - creation and execution of oneDNN calls ------------------===//
#include "runtime/library/onednn/Call.h"

#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/onednn/Layout.h"
#include "runtime/program/Message.h"

#include <oneapi/dnnl/dnnl_debug.h>

#include <algorithm>

namespace dlc::onednn {

using runtime::fail;

OneDnnCall::OneDnnCall(const nlohmann::json &desc, const schema::OnednnCall &call,
                       std::span<const runtime::BufferInfo> buffers)
    : alone(call.alone) {
  Operation operation = makeOperation(desc);
  name = operation.implementation;
  partsAreIndependent = operation.partsAreIndependent;
  size_t count = operation.slots.size();
  uint64_t scratch = operation.scratchBytes(), staged = operation.scratchpadBytes();
  if (buffers.size() != count && buffers.size() != count + 1) {
    std::string names;
    for (const Slot &slot : operation.slots)
      names += " " + slot.name;
    fail("oneDNN ", nameOf(call.kind), " takes ", count, " buffers (", names.substr(1),
         ") and optionally a scratchpad; found: ", buffers.size());
  }
  auto addMemory = [&](const_dnnl_memory_desc_t md, int execArgument) {
    dnnl_memory_t memory = nullptr;
    check(dnnl_memory_create(&memory, md, getEngine(), DNNL_MEMORY_NONE),
          "creating a memory object");
    memories.emplace_back(memory);
    arguments.push_back({execArgument, memory});
    bound.push_back(nullptr);
  };
  for (size_t i = 0; i < count; ++i) {
    const Slot &slot = operation.slots[i];
    uint64_t needed = getMemoryBytes(operation.bufferLayout(slot));
    if (buffers[i].bytes < needed)
      fail("oneDNN ", nameOf(call.kind), ": buffer ", i, " ('", slot.name, "') has ",
           buffers[i].bytes, " bytes; required: ", needed);
    if (slot.isOutput && !buffers[i].writable)
      fail("oneDNN ", nameOf(call.kind), ": buffer ", i, " ('", slot.name,
           "') is written, but is part of a constant or an input");
    addMemory(operation.layout(slot), slot.execArgument);
    if (operation.isStaged(slot)) {
      stagings.push_back(makeStaging(operation, slot, i, staged));
      staged += operation.stagedBytes(slot);
    }
  }
  slotCount = count;
  // The program may have a scratchpad buffer, but this machine may need a larger one. In this case
  // the scratchpad is in the caller's scratch memory.
  scratchIsBuffer =
      buffers.size() == count + 1 && buffers[count].bytes >= scratch && buffers[count].writable;
  ownScratch = scratchIsBuffer ? 0 : scratch;
  if (operation.scratchpadBytes() > 0)
    addMemory(dnnl_primitive_desc_query_md(operation.pd.get(), dnnl_query_scratchpad_md, 0),
              DNNL_ARG_SCRATCHPAD);
  dnnl_primitive_t made = nullptr;
  check(dnnl_primitive_create(&made, operation.pd.get()), "creating a primitive");
  primitive.reset(made);
  dnnl_stream_t madeStream = nullptr;
  check(dnnl_stream_create(&madeStream, getEngine(), dnnl_stream_default_flags),
        "creating a stream");
  stream.reset(madeStream);
}

OneDnnCall::Staging OneDnnCall::makeStaging(const Operation &operation, const Slot &slot,
                                            size_t index, uint64_t offset) {
  Staging staging;
  staging.slot = index;
  staging.isOutput = slot.isOutput;
  staging.offset = offset;
  const_dnnl_memory_desc_t inside = operation.layout(slot), outside = slot.outside.get();
  dnnl_primitive_desc_t pd = nullptr;
  check(dnnl_reorder_primitive_desc_create(&pd, slot.isOutput ? inside : outside, getEngine(),
                                           slot.isOutput ? outside : inside, getEngine(), nullptr),
        "preparing a reorder");
  PrimitiveDesc owned(pd);
  dnnl_primitive_t made = nullptr;
  check(dnnl_primitive_create(&made, pd), "creating a reorder");
  staging.reorder.reset(made);
  dnnl_memory_t memory = nullptr;
  check(dnnl_memory_create(&memory, outside, getEngine(), DNNL_MEMORY_NONE),
        "creating a memory object");
  staging.outside.reset(memory);
  return staging;
}

void OneDnnCall::run(dnnl_primitive_t what, std::span<const dnnl_exec_arg_t> with,
                     bool partsAreIndependent) {
  bool before = threads::setPartsIndependent(partsAreIndependent);
  dnnl_status_t status =
      dnnl_primitive_execute(what, stream.get(), static_cast<int>(with.size()), with.data());
  threads::setPartsIndependent(before);
  if (status != dnnl_success)
    fail("oneDNN (", name, ") failed: ", dnnl_status2str(status));
}

void OneDnnCall::reorder(const Staging &staging, void *buffer) {
  check(dnnl_memory_set_data_handle(staging.outside.get(), buffer), "binding a buffer");
  dnnl_memory_t inside = memories[staging.slot].get(), outside = staging.outside.get();
  dnnl_exec_arg_t both[] = {{DNNL_ARG_FROM, staging.isOutput ? inside : outside},
                            {DNNL_ARG_TO, staging.isOutput ? outside : inside}};
  run(staging.reorder.get(), both, true);
}

void OneDnnCall::execute(void *const *buffers, const runtime::CallContext &context) {
  runtime::ThreadScope scope(alone ? 1 : 0);
  char *scratch = static_cast<char *>(scratchIsBuffer ? buffers[slotCount] : context.scratch);
  auto bind = [&](size_t i, void *wanted) {
    if (wanted == bound[i])
      return;
    check(dnnl_memory_set_data_handle(memories[i].get(), wanted), "binding a buffer");
    bound[i] = wanted;
  };
  for (const Staging &staging : stagings)
    bind(staging.slot, scratch + staging.offset);
  auto isStaged = [&](size_t i) {
    return std::any_of(stagings.begin(), stagings.end(),
                       [&](const Staging &staging) { return staging.slot == i; });
  };
  for (size_t i = 0; i < memories.size(); ++i)
    if (i >= slotCount)
      bind(i, scratch);
    else if (stagings.empty() || !isStaged(i))
      bind(i, buffers[i]);
  for (const Staging &staging : stagings)
    if (!staging.isOutput)
      reorder(staging, buffers[staging.slot]);
  run(primitive.get(), arguments, partsAreIndependent);
  for (const Staging &staging : stagings)
    if (staging.isOutput)
      reorder(staging, buffers[staging.slot]);
}

} // namespace dlc::onednn

namespace dlc::runtime {

std::unique_ptr<LibraryCall> createOneDnnCall(const nlohmann::json &desc,
                                              std::span<const BufferInfo> buffers, int threads) {
  const auto call = schema::OnednnCall::read(desc, "oneDNN");
  ThreadScope scope(call.alone ? 1 : threads);
  return std::make_unique<onednn::OneDnnCall>(desc, call, buffers);
}

} // namespace dlc::runtime
