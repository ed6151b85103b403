//===- Operation.cpp - oneDNN primitives from JSON descriptions -----------===//
#include "runtime/library/onednn/Operation.h"

#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/onednn/Describe.h"
#include "runtime/library/onednn/Layout.h"
#include "runtime/library/onednn/UnitDimensions.h"
#include "runtime/program/Message.h"

#include <oneapi/dnnl/dnnl_debug.h>

#include <cstdlib>
#include <map>

namespace dlc::onednn {

using nlohmann::json;
using runtime::fail;
using runtime::formatList;

dnnl_engine_t getEngine() {
  static dnnl_engine_t cpu = [] {
    dnnl_engine_t made = nullptr;
    check(dnnl_engine_create(&made, dnnl_cpu, 0), "creating the CPU engine");
    return made;
  }();
  return cpu;
}

void check(dnnl_status_t status, const char *doing) {
  if (status != dnnl_success)
    fail("oneDNN: ", doing, ": ", dnnl_status2str(status));
}

MemoryDesc parseLayout(const schema::Layout &layout, const std::string &what) {
  constexpr int64_t kMaxElements = int64_t(1) << 46;
  const std::vector<int64_t> &dims = layout.dims;
  if (dims.empty() || dims.size() > DNNL_MAX_NDIMS)
    fail("oneDNN: '", what, "' has ", dims.size(), " dimensions; required: 1 to ", DNNL_MAX_NDIMS);
  int64_t elements = 1;
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(elements, dim, &elements) || elements > kMaxElements)
      fail("oneDNN: '", what, "' of dims ", formatList(dims), " is too large");
  auto type = parseType(layout.dtype);
  if (!type)
    fail("oneDNN: '", what, "': element type '", layout.dtype, "' is not supported");
  if (layout.strides) {
    dnnl_memory_desc_t md = nullptr;
    if (layout.strides->size() != dims.size() ||
        dnnl_memory_desc_create_with_strides(&md, static_cast<int>(dims.size()), dims.data(), *type,
                                             layout.strides->data()) != dnnl_success)
      fail("oneDNN: '", what, "': strides ", formatList(*layout.strides), " do not match dims ",
           formatList(dims));
    return MemoryDesc(md);
  }
  std::string tag = layout.tag.value_or("any");
  MemoryDesc md = parseTag(tag, dims, *type);
  if (!md)
    fail("oneDNN: '", what, "': there is no layout '", tag, "' for dims ", formatList(dims));
  return md;
}

MemoryDesc parseLayout(const json &layout, const std::string &what) {
  return parseLayout(schema::Layout::read(layout, "oneDNN: '" + what + "'"), what);
}

const_dnnl_memory_desc_t PrimitiveBuilder::argument(const char *name, int execArgument,
                                                    bool isOutput, bool required) {
  auto found = desc.find(name);
  if (found == desc.end() || found->is_null()) {
    if (required)
      fail(library, " needs '", name, "'");
    return nullptr;
  }
  auto layout = schema::Layout::read(*found, "oneDNN: '" + std::string(name) + "'");
  slots.push_back({name, execArgument, isOutput, parseLayout(layout, name),
                   layout.strides ? "" : layout.tag.value_or("any")});
  if (layout.outside) {
    Slot &slot = slots.back();
    slot.outsideTag = *layout.outside;
    if (slot.outsideTag == "any" || parseOpaqueBytes(slot.outsideTag))
      fail("oneDNN: '", name, "': \"outside\" must be a named layout; found: ", slot.outsideTag);
    layout.tag = layout.outside;
    layout.strides.reset();
    slot.outside = parseLayout(layout, name);
  }
  return slots.back().given.get();
}

void PrimitiveBuilder::created(dnnl_status_t status) {
  if (status == dnnl_unimplemented)
    fail("oneDNN has no ", nameOf(call.kind),
         " for these types and layouts on this machine: ", desc.dump());
  if (status != dnnl_success)
    fail("oneDNN refuses the description (", dnnl_status2str(status), "): ", desc.dump());
}

const_dnnl_memory_desc_t Operation::layout(const Slot &slot) const {
  const_dnnl_memory_desc_t md =
      dnnl_primitive_desc_query_md(pd.get(), dnnl_query_exec_arg_md, slot.execArgument);
  // oneDNN does not report the descriptors of scales and zero points, so use the descriptor that
  // was passed in.
  bool known = md && dnnl_memory_desc_get_size(md) > 0;
  return known ? md : slot.given.get();
}

const_dnnl_memory_desc_t Operation::bufferLayout(const Slot &slot) const {
  return slot.outside ? slot.outside.get() : layout(slot);
}

bool Operation::isStaged(const Slot &slot) const {
  return slot.outside && !dnnl_memory_desc_equal(slot.outside.get(), layout(slot));
}

static uint64_t roundedUp(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

uint64_t Operation::scratchpadBytes() const {
  const_dnnl_memory_desc_t md = dnnl_primitive_desc_query_md(pd.get(), dnnl_query_scratchpad_md, 0);
  return md ? roundedUp(dnnl_memory_desc_get_size(md)) : 0;
}

uint64_t Operation::stagedBytes(const Slot &slot) const {
  return isStaged(slot) ? roundedUp(dnnl_memory_desc_get_size(layout(slot))) : 0;
}

uint64_t Operation::scratchBytes() const {
  uint64_t bytes = scratchpadBytes();
  for (const Slot &slot : slots)
    bytes += stagedBytes(slot);
  return bytes;
}

namespace {

struct PrimitiveKind {
  void (*build)(PrimitiveBuilder &);
  /// Set if the threads of this kind of primitive synchronize during execution to share partial
  /// sums.
  bool meets = false;
};

const PrimitiveKind &kindOf(schema::OnednnKind kind) {
  // In the order of schema::OnednnKind.
  static constexpr PrimitiveKind kinds[] = {
      {buildConvolution},
      {buildDeconvolution},
      {buildInnerProduct},
      {buildMatmul},
      {buildPooling},
      {buildReorder},
      {buildEltwise},
      {buildBinary},
      {buildSoftmax},
      {buildLayerNormalization},
      {buildBatchNormalization, true},
      {buildReduction},
      {buildResampling},
      {buildLrn},
      {buildConvolutionBackwardData},
      {buildConvolutionBackwardWeights, true},
      {buildPoolingBackward},
      {buildBatchNormalizationTraining, true},
      {buildBatchNormalizationBackward, true},
      {buildVanillaRnn, true},
      {buildLstm, true},
      {buildGru, true},
      {buildLbrGru, true},
  };
  static_assert(std::size(kinds) == namesOf(schema::OnednnKind()).size());
  return kinds[static_cast<size_t>(kind)];
}

std::string getImplementationName(const_dnnl_primitive_desc_t pd) {
  const char *text = nullptr;
  dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &text);
  return text ? text : "";
}

/// Returns true if each opaque layout that oneDNN selects has the same size as at compile time.
/// Otherwise sets `complaint`, if it is not null, to the error message.
bool hasSameOpaqueSizes(const Operation &operation, std::string *complaint) {
  for (const Slot &slot : operation.slots) {
    auto promised = parseOpaqueBytes(slot.givenTag);
    if (!promised)
      continue;
    uint64_t found = dnnl_memory_desc_get_size(operation.layout(slot));
    if (found == *promised)
      continue;
    if (complaint)
      *complaint = runtime::message("oneDNN: '", slot.name, "' was packed into ", *promised,
                                    " bytes; required by oneDNN on this machine: ", found,
                                    "; compile the model again");
    return false;
  }
  return true;
}

/// Returns true if the primitive's workspace has the element type and layout of the description.
/// The workspace is a value of the program, so both must be as described.
bool hasSameWorkspace(const Operation &operation) {
  for (const Slot &slot : operation.slots) {
    if (slot.name != "workspace")
      continue;
    const_dnnl_memory_desc_t found =
        dnnl_primitive_desc_query_md(operation.pd.get(), dnnl_query_workspace_md, 0);
    dnnl_data_type_t wanted = dnnl_data_type_undef, type = dnnl_data_type_undef;
    dnnl_memory_desc_query(slot.given.get(), dnnl_query_data_type, &wanted);
    if (!found || dnnl_memory_desc_query(found, dnnl_query_data_type, &type) != dnnl_success ||
        type != wanted)
      return false;
    if (slot.givenTag != "any" && !dnnl_memory_desc_equal(found, slot.given.get()))
      return false;
  }
  return true;
}

/// Calls `visit` for each oneDNN implementation of `desc`, until `visit` returns false.
template <typename Visit> void forEachImplementation(const json &desc, Visit &&visit) {
  try {
    const json ordered = moveUnitDimensions(desc);
    PrimitiveBuilder builder(ordered);
    const PrimitiveKind &kind = kindOf(builder.call.kind);
    kind.build(builder);
    Operation operation;
    operation.pd.reset(builder.raw);
    operation.slots = std::move(builder.slots);
    std::map<std::string, int> seen;
    do {
      std::string name = getImplementationName(operation.pd.get());
      int count = ++seen[name];
      operation.implementation = count == 1 ? name : name + "#" + std::to_string(count);
      operation.isReference = parseImplementation(name).isReference;
      operation.partsAreIndependent = !kind.meets && !parseImplementation(name).isGemm;
      if (hasSameWorkspace(operation) && !visit(operation))
        return;
    } while (dnnl_primitive_desc_next_impl(operation.pd.get()) == dnnl_success);
  } catch (const json::exception &error) {
    fail("oneDNN: invalid description: ", error.what());
  }
}

Operation copyOperation(const Operation &operation) {
  Operation copy;
  copy.implementation = operation.implementation;
  copy.isReference = operation.isReference;
  copy.partsAreIndependent = operation.partsAreIndependent;
  dnnl_primitive_desc_t pd = nullptr;
  check(dnnl_primitive_desc_clone(&pd, operation.pd.get()), "copying a descriptor");
  copy.pd.reset(pd);
  for (const Slot &slot : operation.slots) {
    dnnl_memory_desc_t md = nullptr;
    check(dnnl_memory_desc_clone(&md, slot.given.get()), "copying a layout");
    copy.slots.push_back(
        {slot.name, slot.execArgument, slot.isOutput, MemoryDesc(md), slot.givenTag});
    if (!slot.outside)
      continue;
    check(dnnl_memory_desc_clone(&md, slot.outside.get()), "copying a layout");
    copy.slots.back().outside.reset(md);
    copy.slots.back().outsideTag = slot.outsideTag;
  }
  return copy;
}

} // namespace

std::vector<Operation> makeOperations(const json &desc) {
  std::vector<Operation> operations;
  forEachImplementation(desc, [&](const Operation &operation) {
    operations.push_back(copyOperation(operation));
    return true;
  });
  return operations;
}

namespace {

/// Returns the implementation `name`, or the first implementation that supports the layouts. If
/// there is none, the result has no primitive descriptor, and `complaint` may be the reason.
Operation chooseOperation(const json &desc, const std::string &name, std::string &complaint) {
  Operation first, wanted;
  forEachImplementation(desc, [&](const Operation &operation) {
    if (!hasSameOpaqueSizes(operation, complaint.empty() ? &complaint : nullptr))
      return true;
    if (!first.pd)
      first = copyOperation(operation);
    if (name.empty() || operation.implementation != name)
      return !name.empty();
    wanted = copyOperation(operation);
    return false;
  });
  return wanted.pd ? std::move(wanted) : std::move(first);
}

bool isMissingOrReference(const Operation &operation) {
  return !operation.pd || operation.isReference;
}

} // namespace

Operation makeOperation(const json &desc) {
  const auto call = schema::OnednnCall::read(desc, "oneDNN");
  const std::string name = call.impl.value_or("");
  std::string complaint;
  Operation chosen = chooseOperation(desc, name, complaint);
  if (isMissingOrReference(chosen) && chosen.implementation != name && call.threads) {
    runtime::ThreadScope scope(static_cast<int>(*call.threads));
    Operation original = chooseOperation(desc, name, complaint);
    if (!isMissingOrReference(original))
      chosen = std::move(original);
  }
  if (!chosen.pd)
    fail(complaint.empty() ? "oneDNN: no implementation supports the layouts of " + desc.dump()
                           : complaint);
  return chosen;
}

} // namespace dlc::onednn
