//===- HostWork.cpp - kernel launches and library calls on host threads ------===//
#include "runtime/session/HostWork.h"

#include "runtime/device/cpu/Parallel.h"
#include "runtime/program/Format.h"
#include "runtime/session/collectives/Collectives.h"
#include "runtime/session/collectives/ShardCopy.h"

#include <vector>

namespace dlc::runtime {

HostWork makeHostLaunch(const Plan &plan, const Command &command, const Span &code) {
  const char *address = static_cast<const char *>(code.data) + plan.kernels[command.kernel].offset;
  HostWork work;
  work.kernel = reinterpret_cast<KernelFn>(const_cast<char *>(address));
  work.extent = command.extent;
  work.grain = command.grain;
  work.scratch = format::alignUp(command.scratch, 64);
  return work;
}

namespace {
/// Runs a library call on one thread, for reproducible programs: the summation order of a library
/// often depends on its number of threads.
class SingleThreadCall : public LibraryCall {
public:
  explicit SingleThreadCall(std::unique_ptr<LibraryCall> given) : inner(std::move(given)) {}
  void execute(void *const *buffers, const CallContext &context) override {
    ThreadScope scope(1);
    inner->execute(buffers, {context.scratch, 1});
  }
  std::string implementation() const override { return inner->implementation(); }
  uint64_t scratchBytes() const override { return inner->scratchBytes(); }

private:
  std::unique_ptr<LibraryCall> inner;
};
} // namespace

std::vector<BufferInfo> bufferInfos(const Plan &plan, const Command &command) {
  std::vector<BufferInfo> buffers;
  for (uint32_t index : command.buffers) {
    const Buffer &buffer = plan.buffers[index];
    buffers.push_back({buffer.bytes, buffer.space == MemorySpace::Arena ||
                                         buffer.space == MemorySpace::Output ||
                                         (buffer.space == MemorySpace::State && buffer.fresh)});
  }
  return buffers;
}

std::unique_ptr<LibraryCall> hostCall(const Plan &plan, const Command &command, int threads,
                                      World *world) {
  std::vector<BufferInfo> buffers = bufferInfos(plan, command);
  if (command.library == kCollectiveLibrary)
    return collectiveCall(command.desc, buffers, world);
  if (command.library == kShardCopyLibrary)
    return shardCopyCall(command.desc, buffers, world);
  if (plan.reproducible)
    return std::make_unique<SingleThreadCall>(
        createCall(command.library, command.desc, buffers, 1));
  return createCall(command.library, command.desc, buffers, threads);
}

void HostWork::run(void *const *buffers, char *memory, int threads) const {
  if (call)
    return call->execute(buffers, {memory, threads});
  const void *const *context = kernelContext();
  memory = scratch ? memory : nullptr;
  if (extent <= grain || threads == 1) {
    if (extent > 0)
      kernel(buffers, 0, extent, memory, context);
    return;
  }
  parallelFor(threads, extent, grain, [&](int64_t begin, int64_t end, int thread) {
    kernel(buffers, begin, end, memory ? memory + thread * scratch : nullptr, context);
  });
}

} // namespace dlc::runtime
