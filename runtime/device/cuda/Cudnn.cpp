//===- Cudnn.cpp - convolutions, their gradients and attention with cuDNN graphs -===//
#include "runtime/device/cuda/Cudnn.h"

#include "runtime/device/cuda/CudnnGraph.h"
#include "runtime/device/cuda/LibraryCall.h"
#include "runtime/library/schema/Schema.h"

#include <algorithm>
#include <list>

namespace dlc::cuda {

using namespace cudnn;
using nlohmann::json;

namespace {

/// A cuDNN handle with a mutex: a handle may be used by one thread and one stream at a time.
struct CudnnHandle {
  std::mutex mutex;
  Handle handle = nullptr;
};

/// Returns the cuDNN handle of the device. Handles are cached for the lifetime of the process.
CudnnHandle &getCudnnHandle(const Device &device) {
  static std::mutex mutex;
  static auto *sessions = new std::list<std::pair<Context, CudnnHandle>>();
  std::lock_guard<std::mutex> guard(mutex);
  for (auto &[context, session] : *sessions)
    if (context == device.context)
      return session;
  Handle made = nullptr;
  check(functions(), functions().create(&made), "creating a handle");
  sessions->emplace_back();
  sessions->back().first = device.context;
  sessions->back().second.handle = made;
  return sessions->back().second;
}

struct PlannedGraph {
  cudnn::Graph graph;
  Plan plan;
};

/// Returns the cuDNN graph and plan of a call description, from an LRU cache. Networks repeat their
/// convolutions, and building a plan may include the compilation of a kernel.
std::shared_ptr<const PlannedGraph> getPlannedGraph(const Device &device, Handle handle,
                                                    const json &desc) {
  struct Kept {
    Context context;
    std::string desc;
    std::shared_ptr<const PlannedGraph> plan;
  };
  constexpr size_t most = 256;
  static std::mutex mutex;
  static auto *kept = new std::list<Kept>();
  std::string text = desc.dump();
  {
    std::lock_guard<std::mutex> guard(mutex);
    auto found = std::find_if(kept->begin(), kept->end(), [&](const Kept &k) {
      return k.context == device.context && k.desc == text;
    });
    if (found != kept->end()) {
      kept->splice(kept->begin(), *kept, found);
      return found->plan;
    }
  }
  cudnn::Graph graph = buildGraph(functions(), desc, handle);
  const int64_t workspace =
      schema::GpuCall::read(desc, "cuDNN").workspace.value_or(int64_t{64} << 20);
  Plan plan = planOf(functions(), graph, handle, nullptr, static_cast<uint64_t>(workspace),
                     schema::GpuChoice::read(desc, "cuDNN").engine.value_or(1));
  auto made = std::make_shared<PlannedGraph>(PlannedGraph{std::move(graph), std::move(plan)});
  std::lock_guard<std::mutex> guard(mutex);
  kept->push_front({device.context, text, made});
  if (kept->size() > most)
    kept->pop_back();
  return made;
}

class CudnnCall : public LibraryCall {
public:
  CudnnCall(Device &device, const json &desc, std::span<const LibraryBuffer> buffers) {
    if (!functions().error.empty())
      throw CudnnError{
          functions().error +
          "; compile the program again with --kernels generated, or install the library"};
    session = &getCudnnHandle(device);
    std::lock_guard<std::mutex> guard(session->mutex);
    what = getPlannedGraph(device, session->handle, desc);
    const std::vector<Operand> &operands = what->graph.operands;
    if (buffers.size() != operands.size())
      throw CudnnError{"cuDNN: " + what->graph.what + " requires " +
                       std::to_string(operands.size()) +
                       " buffers; found: " + std::to_string(buffers.size())};
    for (size_t i = 0; i < operands.size(); ++i) {
      std::string name = "cuDNN: buffer '" + operands[i].name + "'";
      if (buffers[i].bytes < operands[i].bytes)
        throw CudnnError{name + " has " + formatBytes(buffers[i].bytes) +
                         "; required: " + formatBytes(operands[i].bytes)};
      if (operands[i].written && !buffers[i].writable)
        throw CudnnError{name + " is written, but is part of a constant or an input"};
      ids.push_back(operands[i].id);
    }
    for (const ScalarOperand &number : what->graph.numbers)
      ids.push_back(number.id);
    workspace = what->plan.workspace;
  }

  std::string run(Stream stream, void *const *buffers, void *scratch) override {
    const Functions &f = functions();
    try {
      OwnedDescriptor pack(f, VariantPackKind);
      const std::string doing = "setting the buffers";
      std::vector<const void *> pointers(buffers, buffers + what->graph.operands.size());
      for (const ScalarOperand &number : what->graph.numbers)
        pointers.push_back(&number.value);
      auto count = static_cast<int64_t>(ids.size());
      pack.set(PackIds, OfInt64, count, ids.data(), doing);
      pack.set(PackPointers, OfPointer, count, pointers.data(), doing);
      pack.set(PackWorkspace, OfPointer, scratch, doing);
      pack.finalize(doing);
      std::lock_guard<std::mutex> guard(session->mutex);
      check(f, f.setStream(session->handle, stream), "setting the stream");
      check(f, f.execute(session->handle, what->plan.plan.get(), pack.get()),
            "running a " + what->graph.what);
      return {};
    } catch (const CudnnError &failure) {
      return failure.text;
    }
  }

private:
  CudnnHandle *session = nullptr;
  std::shared_ptr<const PlannedGraph> what;
  std::vector<int64_t> ids;
};

} // namespace

std::unique_ptr<LibraryCall> createCudnnCall(Device &device, const json &desc,
                                             std::span<const LibraryBuffer> buffers,
                                             std::string &error) {
  try {
    return std::make_unique<CudnnCall>(device, desc, buffers);
  } catch (const CudnnError &failure) {
    error = failure.text;
  } catch (const std::exception &wrong) {
    error = wrong.what();
  }
  return nullptr;
}

} // namespace dlc::cuda
