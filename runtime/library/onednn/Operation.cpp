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

MemoryDesc parseLayout(const json &layout, const std::string &what) {
  constexpr int64_t kMaxElements = int64_t(1) << 46;
  if (!layout.is_object() || !layout.contains("dims") || !layout["dims"].is_array())
    fail("oneDNN: '", what, "' needs {\"dims\", \"dtype\", \"tag\" or \"strides\"}");
  auto integersOf = [&](const char *key) {
    std::vector<int64_t> values;
    for (const json &value : layout[key]) {
      if (!value.is_number_integer() || value.get<int64_t>() < 0 ||
          value.get<int64_t>() > kMaxElements)
        fail("oneDNN: '", what, "': ", key, ": required: a size; found: ", value.dump());
      values.push_back(value.get<int64_t>());
    }
    return values;
  };
  std::vector<int64_t> dims = integersOf("dims");
  if (dims.empty() || dims.size() > DNNL_MAX_NDIMS)
    fail("oneDNN: '", what, "' has ", dims.size(), " dimensions; required: 1 to ", DNNL_MAX_NDIMS);
  int64_t elements = 1;
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(elements, dim, &elements) || elements > kMaxElements)
      fail("oneDNN: '", what, "' of dims ", formatList(dims), " is too large");
  std::string dtype = layout.value("dtype", "");
  auto type = parseType(dtype);
  if (!type)
    fail("oneDNN: '", what, "': element type '", dtype, "' is not supported");
  if (auto strides = layout.find("strides"); strides != layout.end() && !strides->is_null()) {
    std::vector<int64_t> steps =
        strides->is_array() ? integersOf("strides") : std::vector<int64_t>{};
    dnnl_memory_desc_t md = nullptr;
    if (steps.size() != dims.size() ||
        dnnl_memory_desc_create_with_strides(&md, static_cast<int>(dims.size()), dims.data(), *type,
                                             steps.data()) != dnnl_success)
      fail("oneDNN: '", what, "': strides ", strides->dump(), " do not match dims ",
           formatList(dims));
    return MemoryDesc(md);
  }
  std::string tag = layout.value("tag", "any");
  MemoryDesc md = parseTag(tag, dims, *type);
  if (!md)
    fail("oneDNN: '", what, "': there is no layout '", tag, "' for dims ", formatList(dims));
  return md;
}

const_dnnl_memory_desc_t PrimitiveBuilder::argument(const char *name, int execArgument,
                                                    bool isOutput, bool required) {
  if (!has(name)) {
    if (required)
      fail("oneDNN: ", desc.value("kind", "?"), " needs '", name, "'");
    return nullptr;
  }
  const json &layout = desc[name];
  slots.push_back({name, execArgument, isOutput, parseLayout(layout, name),
                   layout.contains("strides") ? "" : layout.value("tag", "any")});
  if (layout.contains("outside")) {
    Slot &slot = slots.back();
    slot.outsideTag = layout["outside"].is_string() ? layout["outside"].get<std::string>() : "";
    json plain = {
        {"dims", layout["dims"]}, {"dtype", layout.value("dtype", "")}, {"tag", slot.outsideTag}};
    if (slot.outsideTag == "any" || parseOpaqueBytes(slot.outsideTag))
      fail("oneDNN: '", name,
           "': \"outside\" must be a named layout; found: ", layout["outside"].dump());
    slot.outside = parseLayout(plain, name);
  }
  return slots.back().given.get();
}

void PrimitiveBuilder::created(dnnl_status_t status) {
  if (status == dnnl_unimplemented)
    fail("oneDNN has no ", desc.value("kind", "?"),
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

const PrimitiveKind &findPrimitiveKind(const std::string &name) {
  static const std::map<std::string, PrimitiveKind> kinds = {
      {"convolution", {buildConvolution}},
      {"deconvolution", {buildDeconvolution}},
      {"inner_product", {buildInnerProduct}},
      {"matmul", {buildMatmul}},
      {"pooling", {buildPooling}},
      {"reorder", {buildReorder}},
      {"eltwise", {buildEltwise}},
      {"binary", {buildBinary}},
      {"softmax", {buildSoftmax}},
      {"layer_normalization", {buildLayerNormalization}},
      {"batch_normalization", {buildBatchNormalization, true}},
      {"reduction", {buildReduction}},
      {"resampling", {buildResampling}},
      {"lrn", {buildLrn}},
      {"convolution_backward_data", {buildConvolutionBackwardData}},
      {"convolution_backward_weights", {buildConvolutionBackwardWeights, true}},
      {"pooling_backward", {buildPoolingBackward}},
      {"batch_normalization_training", {buildBatchNormalizationTraining, true}},
      {"batch_normalization_backward", {buildBatchNormalizationBackward, true}},
      {"vanilla_rnn", {buildVanillaRnn, true}},
      {"lstm", {buildLstm, true}},
      {"gru", {buildGru, true}},
      {"lbr_gru", {buildLbrGru, true}},
  };
  auto found = kinds.find(name);
  if (found == kinds.end())
    fail("oneDNN: unknown kind '", name, "'");
  return found->second;
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
  if (!desc.is_object())
    fail("oneDNN: a description must be a JSON object");
  try {
    const json ordered = moveUnitDimensions(desc);
    PrimitiveBuilder builder(ordered);
    const PrimitiveKind &kind = findPrimitiveKind(builder.word("kind", ""));
    kind.build(builder);
    Operation operation;
    operation.pd.reset(builder.raw);
    operation.slots = std::move(builder.slots);
    std::map<std::string, int> seen;
    do {
      std::string name = getImplementationName(operation.pd.get());
      int count = ++seen[name];
      operation.implementation = count == 1 ? name : name + "#" + std::to_string(count);
      // The threads of oneDNN's GEMM wait for panels that other threads pack.
      operation.partsAreIndependent = !kind.meets && name.find("gemm:") == std::string::npos;
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
  return !operation.pd || isReference(operation.implementation);
}

} // namespace

Operation makeOperation(const json &desc) {
  bool isObject = desc.is_object();
  std::string name = isObject && desc.contains("impl") && desc["impl"].is_string()
                         ? desc["impl"].get<std::string>()
                         : "";
  std::string complaint;
  Operation chosen = chooseOperation(desc, name, complaint);
  if (isMissingOrReference(chosen) && chosen.implementation != name && isObject &&
      desc.contains("threads") && desc["threads"].is_number_integer()) {
    int64_t threads = desc["threads"].get<int64_t>();
    runtime::ThreadScope scope(threads > 0 && threads <= 4096 ? static_cast<int>(threads) : 0);
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
