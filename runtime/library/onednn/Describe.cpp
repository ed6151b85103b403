//===- Describe.cpp - oneDNN interface for the compiler: queries before execution -===//
#include "runtime/library/onednn/Describe.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/onednn/Layout.h"
#include "runtime/library/onednn/Operation.h"
#include "runtime/program/Message.h"
#include "runtime/program/WeightsMemory.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <unordered_map>

namespace dlc::onednn {

using nlohmann::json;
using runtime::message;
using runtime::ThreadScope;

namespace {

int threadsOr(int threads) { return threads > 0 ? threads : runtime::hostThreads(); }

/// Runs `body` and returns the message of its exception, or an empty string on success. The callers
/// are compiled without exceptions.
template <typename Body> std::string catchErrorMessage(Body &&body) {
  try {
    body();
    return "";
  } catch (const std::exception &error) {
    return *error.what() ? error.what() : "unknown error";
  }
}

/// Returns the JSON layout of `argument` in the description, or null if the description has no such
/// field.
json *findLayout(json &desc, const std::string &argument) {
  if (auto ops = desc.find("post_ops"); argument.rfind("post", 0) == 0 && ops != desc.end()) {
    size_t index = std::strtoul(argument.c_str() + 4, nullptr, 10);
    return index < ops->size() ? &ops->at(index) : nullptr;
  }
  auto found = desc.find(argument);
  return found == desc.end() ? nullptr : &*found;
}

/// Returns an argument's layout if the description specifies it completely, so that oneDNN need not
/// be queried. Otherwise returns null.
MemoryDesc parseCompleteLayout(const json &desc, const std::string &argument) {
  auto found = desc.is_object() ? desc.find(argument) : desc.end();
  if (found == desc.end() || !found->is_object())
    return {};
  const auto layout = schema::Layout::read(*found, "oneDNN: '" + argument + "'");
  const std::string tag = layout.tag.value_or(layout.strides ? "strided" : "any");
  if (layout.outside || tag == "any" || parseOpaqueBytes(tag))
    return {};
  return parseLayout(layout, argument);
}

std::string dtypeOf(const std::optional<schema::Layout> &layout, const_dnnl_memory_desc_t md) {
  if (layout)
    return layout->dtype;
  dnnl_data_type_t type = dnnl_data_type_undef;
  dnnl_memory_desc_query(md, dnnl_query_data_type, &type);
  return type == dnnl_s32 ? "i32" : "f32";
}

OperationDescription describeOperation(const json &desc, const Operation &operation) {
  OperationDescription described;
  described.desc = desc;
  described.implementation = operation.implementation;
  described.properties = parseImplementation(operation.implementation);
  auto choice = schema::OnednnChoice::read(desc, "oneDNN");
  choice.impl = operation.implementation;
  // Records the number of threads for which oneDNN selected the layouts, so that a later query with
  // another number of threads keeps these layouts.
  if (!choice.threads)
    choice.threads = threads::defaultThreads();
  described.desc.update(choice.toJson());
  described.scratchpadBytes = operation.scratchBytes();
  for (const Slot &slot : operation.slots) {
    const_dnnl_memory_desc_t md = operation.layout(slot);
    json *text = findLayout(described.desc, slot.name);
    auto layout = text ? std::optional(schema::Layout::read(*text, "oneDNN")) : std::nullopt;
    Argument argument;
    argument.name = slot.name;
    argument.dims = getDims(md);
    argument.dtype = dtypeOf(layout, md);
    bool concrete = !slot.givenTag.empty() && slot.givenTag != "any";
    argument.tag = concrete ? slot.givenTag : getLayoutTag(md);
    argument.strides = getPlainStrides(md);
    argument.bytes = getMemoryBytes(md);
    argument.isOutput = slot.isOutput;
    if (layout) {
      if (argument.tag == "strided") {
        layout->strides = argument.strides;
        layout->tag.reset();
      } else if (!layout->strides || slot.givenTag == "any") {
        layout->tag = argument.tag;
        layout->strides.reset();
      }
      text->erase("tag");
      text->erase("strides");
      text->update(layout->toJson());
    }
    if (slot.outside) {
      argument.tag = slot.outsideTag;
      argument.strides = getPlainStrides(slot.outside.get());
      argument.bytes = getMemoryBytes(slot.outside.get());
    }
    described.arguments.push_back(std::move(argument));
  }
  described.ok = true;
  return described;
}

void executeReorder(const_dnnl_memory_desc_t from, const void *source, const_dnnl_memory_desc_t to,
                    void *destination) {
  dnnl_primitive_desc_t pd = nullptr;
  check(dnnl_reorder_primitive_desc_create(&pd, from, getEngine(), to, getEngine(), nullptr),
        "preparing a reorder");
  PrimitiveDesc ownedPd(pd);
  dnnl_primitive_t primitive = nullptr;
  check(dnnl_primitive_create(&primitive, pd), "creating a reorder");
  Primitive ownedPrimitive(primitive);
  dnnl_stream_t stream = nullptr;
  check(dnnl_stream_create(&stream, getEngine(), dnnl_stream_default_flags), "creating a stream");
  Stream ownedStream(stream);
  dnnl_memory_t src = nullptr, dst = nullptr;
  check(dnnl_memory_create(&src, from, getEngine(), const_cast<void *>(source)),
        "binding a source");
  Memory ownedSrc(src);
  check(dnnl_memory_create(&dst, to, getEngine(), destination), "binding a destination");
  Memory ownedDst(dst);
  dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, src}, {DNNL_ARG_TO, dst}};
  check(dnnl_primitive_execute(primitive, stream, 2, arguments), "reordering");
  check(dnnl_stream_wait(stream), "waiting for a reorder");
}

std::shared_ptr<void> allocatePacked(uint64_t bytes) {
  std::shared_ptr<void> memory = runtime::allocateWeights(bytes + 64);
  if (!memory)
    runtime::fail("out of memory for ", bytes, " bytes of packed weights");
  return memory;
}

std::string rowMajorTag(size_t rank) {
  std::string tag;
  for (size_t i = 0; i < rank; ++i)
    tag += static_cast<char>('a' + i);
  return tag;
}

} // namespace

namespace {

/// Cache of query results. Several phases of a compilation repeat the same queries, and oneDNN may
/// take milliseconds for each. The oldest entries are evicted when the cache is full.
template <typename Answer> class QueryCache {
public:
  template <typename Find> Answer answer(const json &desc, int threads, Find &&find) {
    std::string question = std::to_string(threads) + desc.dump();
    {
      std::lock_guard<std::mutex> guard(mutex);
      if (auto found = answers.find(question); found != answers.end())
        return found->second;
    }
    Answer found = find();
    keep(std::move(question), found);
    return found;
  }
  void learn(const json &desc, int threads, const Answer &answer) {
    keep(std::to_string(threads) + desc.dump(), answer);
  }

private:
  void keep(std::string question, const Answer &answer) {
    std::lock_guard<std::mutex> guard(mutex);
    if (answers.try_emplace(question, answer).second)
      order.push_back(std::move(question));
    if (order.size() > kMax) {
      answers.erase(order.front());
      order.pop_front();
    }
  }

  static constexpr size_t kMax = 2048;
  std::mutex mutex;
  std::unordered_map<std::string, Answer> answers;
  std::deque<std::string> order;
};

/// Returns the query with the layouts that oneDNN selected in place of "any" for the image
/// operands. oneDNN selects the same implementation for this query, but it may take a second to do
/// so (transposed convolutions of long rows). Returns nullopt if no layout was "any" or if a
/// selected layout has no name.
std::optional<json> replaceAnyLayouts(const json &desc, const OperationDescription &described) {
  json asked = desc;
  bool wasFree = false;
  for (const char *image : {"src", "dst", "diff_src", "diff_dst"}) {
    auto given = asked.find(image);
    auto found = described.desc.find(image);
    if (given == asked.end() || !given->is_object())
      continue;
    auto layout = schema::Layout::read(*given, "oneDNN");
    if (layout.tag != "any")
      continue;
    if (found == described.desc.end())
      return std::nullopt;
    layout.tag = schema::Layout::read(*found, "oneDNN").tag;
    if (!layout.tag || parseOpaqueBytes(*layout.tag))
      return std::nullopt;
    *given = layout.toJson();
    wasFree = true;
  }
  return wasFree ? std::optional(std::move(asked)) : std::nullopt;
}

} // namespace

std::shared_ptr<const OperationDescription> ask(const json &desc, int threads) {
  using Answer = std::shared_ptr<const OperationDescription>;
  static auto *remembered = new QueryCache<Answer>;
  threads = threadsOr(threads);
  Answer answer;
  std::string error = catchErrorMessage([&] {
    answer = remembered->answer(desc, threads, [&]() -> Answer {
      auto described = std::make_shared<OperationDescription>();
      std::string error = catchErrorMessage([&] {
        ThreadScope scope(threads);
        *described = describeOperation(desc, makeOperation(desc));
      });
      if (!error.empty())
        *described = {}, described->error = error;
      // Also cache the result for the query that specifies the selected implementation by name.
      if (described->ok && !desc.contains("impl")) {
        json named = desc;
        schema::OnednnChoice choice;
        choice.impl = described->implementation;
        named.update(choice.toJson());
        remembered->learn(named, threads, described);
        if (auto same = replaceAnyLayouts(desc, *described))
          remembered->learn(*same, threads, described);
      }
      return described;
    });
  });
  if (!answer) {
    OperationDescription failed;
    failed.error = error;
    answer = std::make_shared<OperationDescription>(std::move(failed));
  }
  return answer;
}

std::vector<OperationDescription> describeAll(const json &desc, int threads) {
  static auto *remembered = new QueryCache<std::vector<OperationDescription>>;
  threads = threadsOr(threads);
  std::vector<OperationDescription> all;
  catchErrorMessage([&] {
    all = remembered->answer(desc, threads, [&] {
      ThreadScope scope(threads);
      std::vector<OperationDescription> found;
      for (const Operation &operation : makeOperations(desc))
        found.push_back(describeOperation(desc, operation));
      return found;
    });
  });
  return all;
}

PackedWeights packWeights(const json &desc, std::string_view argument, const void *plain,
                          std::string_view plainTag, std::string_view plainDtype, int threads) {
  PackedWeights packed;
  packed.error = catchErrorMessage([&] {
    ThreadScope scope(threadsOr(threads));
    Operation operation;
    MemoryDesc said = parseCompleteLayout(desc, std::string(argument));
    const_dnnl_memory_desc_t to = said.get();
    if (!said) {
      operation = makeOperation(desc);
      const Slot *slot = nullptr;
      for (const Slot &candidate : operation.slots)
        if (candidate.name == argument)
          slot = &candidate;
      if (!slot)
        runtime::fail("oneDNN ", nameOf(schema::OnednnCall::read(desc, "oneDNN").kind),
                      " has no argument '", argument, "'");
      to = operation.bufferLayout(*slot);
    }
    std::vector<int64_t> dims = getDims(to);
    dnnl_data_type_t type = dnnl_data_type_undef;
    dnnl_memory_desc_query(to, dnnl_query_data_type, &type);
    if (!plainDtype.empty()) {
      auto parsed = parseType(plainDtype);
      if (!parsed)
        runtime::fail("oneDNN: element type '", plainDtype, "' is not supported");
      type = *parsed;
    }
    std::string tag = plainTag.empty() ? rowMajorTag(dims.size()) : std::string(plainTag);
    MemoryDesc from = parseTag(tag, dims, type);
    if (!from || tag == "any" || parseOpaqueBytes(tag))
      runtime::fail("oneDNN: '", tag, "' is not a plain layout of ", runtime::formatList(dims));
    packed.bytes = getMemoryBytes(to);
    packed.data = allocatePacked(packed.bytes);
    void *memory = packed.data.get();
    // A reorder may leave padding and compensation areas unwritten. Programs must not depend on, or
    // contain, previous contents of the memory.
    if (packed.bytes != dnnl_memory_desc_get_size(from.get()))
      std::memset(memory, 0, packed.bytes);
    if (packed.bytes > 0)
      executeReorder(from.get(), plain, to, memory);
  });
  packed.ok = packed.error.empty();
  return packed;
}

std::optional<uint64_t> layoutBytes(const json &layout) {
  std::optional<uint64_t> bytes;
  catchErrorMessage([&] {
    const auto fields = schema::Layout::read(layout, "oneDNN: layout");
    if (auto promised = parseOpaqueBytes(fields.tag.value_or(""))) {
      bytes = promised;
      return;
    }
    MemoryDesc md = parseLayout(fields, "layout");
    dnnl_format_kind_t kind = dnnl_format_kind_undef;
    dnnl_memory_desc_query(md.get(), dnnl_query_format_kind, &kind);
    if (kind == dnnl_blocked)
      bytes = getMemoryBytes(md.get());
  });
  return bytes;
}

std::string reorder(const json &from, const void *source, const json &to, void *destination,
                    int threads) {
  return catchErrorMessage([&] {
    ThreadScope scope(threadsOr(threads));
    auto isOpaque = [](const json &layout) {
      return parseOpaqueBytes(schema::Layout::read(layout, "oneDNN").tag.value_or("")).has_value();
    };
    if (!layoutBytes(from) || !layoutBytes(to) || isOpaque(from) || isOpaque(to))
      runtime::fail("oneDNN: a reorder requires two concrete layouts; found: ", from.dump(),
                    " and ", to.dump());
    MemoryDesc fromDesc = parseLayout(from, "src"), toDesc = parseLayout(to, "dst");
    executeReorder(fromDesc.get(), source, toDesc.get(), destination);
  });
}

bool sumsInt8Exactly() {
  // The enumerators of oneDNN are bit sets; the differences are the bits of AVX-VNNI and of AVX-512
  // VNNI.
  constexpr unsigned vnni = dnnl_cpu_isa_avx2_vnni & ~dnnl_cpu_isa_avx2,
                     vnni512 = dnnl_cpu_isa_avx512_core_vnni & ~dnnl_cpu_isa_avx512_core;
  unsigned isa = unsigned(dnnl_get_effective_cpu_isa());
  return (isa & vnni) == vnni || (isa & vnni512) == vnni512;
}

std::string libraryVersion() {
  const dnnl_version_t *version = dnnl_version();
  return message("oneDNN ", version->major, ".", version->minor, ".", version->patch);
}

} // namespace dlc::onednn
