//===- Call.cpp - creation and execution of attention calls ---------------===//
#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/Library.h"
#include "runtime/library/attention/Describe.h"
#include "runtime/library/attention/Heads.h"
#include "runtime/library/tiles/Describe.h"
#include "runtime/program/Message.h"

namespace dlc::attention {

using runtime::fail;

int lanes() { return runtime::hostLanes(); }

bool hasTiles() { return lanes() == 16 && tiles::isAvailable(); }

namespace {

MatmulBackend selectMatmulBackend(const Attention &request) {
  if (!hostSupports(runtime::getKernelSet(request.lanes)))
    fail("attention: ", request.lanes,
         " lanes require AVX-512, which this processor lacks; compile the model on this machine");
  if (request.parts && !tiles::isAvailable())
    fail(
        "attention: bf16 parts require AMX tiles, which this processor lacks; compile the model on "
        "this machine");
  return {runtime::selectKernels(
              request.lanes, [] { return &scalarKernels(); }, [] { return &avx2Kernels(); },
              [] { return &avx512Kernels(); }),
          request.parts};
}

class AttentionCall : public runtime::LibraryCall {
public:
  AttentionCall(const nlohmann::json &desc, std::span<const runtime::BufferInfo> buffers,
                int threads)
      : request(Attention::parse(desc)), units(selectMatmulBackend(request)),
        threads(std::max(1, threads)) {
    describe::BufferChecker given(buffers, "attention");
    request.check(given);
    given.end();
    perThread = request.isGradient ? AttentionBackward::scratchBytes(request, units)
                                   : AttentionForward::scratchBytes(request, units);
  }

  std::string implementation() const override {
    if (request.parts)
      return "attention:bf16x" + std::string(request.parts == 3   ? "6"
                                             : request.parts == 2 ? "3"
                                                                  : "1");
    return "attention:" + std::string(runtime::getKernelSetName(request.lanes));
  }
  uint64_t scratchBytes() const override { return static_cast<uint64_t>(perThread * threads); }

  void execute(void *const *pointers, const runtime::CallContext &context) override {
    AttentionBuffers buffers = named(pointers);
    auto *scratch = static_cast<char *>(context.scratch);
    int team = std::min(threads, std::max(1, context.threads));
    if (!request.isGradient) {
      int64_t blocks = AttentionForward::blocks(request);
      each<AttentionForward>(
          buffers, scratch, team, request.heads * blocks,
          [&](AttentionForward &one, int64_t i) { one.run(i / blocks, i % blocks); },
          [&](int64_t i) {
            int64_t last = (i % blocks + 1) * AttentionForward::kQueries - 1;
            return request.seen(std::min(last, request.queries - 1));
          });
      return;
    }
    // If each thread computes complete heads, the probabilities of a pair of blocks are computed
    // once, and the pair takes five matmuls. Otherwise they are computed twice, and the pair takes
    // seven.
    int64_t rounds = (request.heads + team - 1) / team;
    if (request.heads * 7 >= rounds * team * 5) {
      each<AttentionBackward>(
          buffers, scratch, team, request.heads,
          [](AttentionBackward &one, int64_t i) { one.run(i); }, [](int64_t) { return 1; });
      return;
    }
    int64_t rows = AttentionBackward::queryBlocks(request),
            columns = AttentionBackward::keyBlocks(request);
    each<AttentionBackward>(
        buffers, scratch, team, request.heads * rows,
        [&](AttentionBackward &one, int64_t i) { one.runQueries(i / rows, i % rows); },
        [&](int64_t i) {
          int64_t last = (i % rows + 1) * AttentionBackward::kQueries - 1;
          return request.seen(std::min(last, request.queries - 1));
        });
    each<AttentionBackward>(
        buffers, scratch, team, request.heads * columns,
        [&](AttentionBackward &one, int64_t i) { one.runKeys(i / columns, i % columns); },
        [&](int64_t i) {
          int64_t before = request.causal ? i % columns * AttentionBackward::kKeys : 0;
          return std::max<int64_t>(1, request.queries - before);
        });
  }

private:
  AttentionBuffers named(void *const *pointers) const {
    AttentionBuffers b;
    size_t next = 0;
    auto take = [&] { return static_cast<char *>(pointers[next++]); };
    b.q = take(), b.k = take(), b.v = take();
    if (request.isGradient) {
      b.y = take();
      b.lse = reinterpret_cast<float *>(take());
      b.dy = take();
    }
    if (request.maskKind != MaskKind::None)
      b.mask = take();
    if (request.isGradient) {
      b.dq = take(), b.dk = take(), b.dv = take();
    } else {
      b.y = take();
      if (request.hasSums)
        b.lse = reinterpret_cast<float *>(take());
    }
    return b;
  }

  /// Calls work(one, i) for all i below `count`. Each thread gets a contiguous range of nearly
  /// equal cost.
  template <typename One, typename Work, typename Cost>
  void each(const AttentionBuffers &buffers, char *scratch, int team, int64_t count,
            const Work &work, const Cost &cost) const {
    int64_t all = 0;
    for (int64_t i = 0; i < count; ++i)
      all += cost(i);
    runtime::parallelFor(team, team, 1, [&](int64_t begin, int64_t end, int thread) {
      if (units.parts)
        tiles::configureTiles();
      One one(request, units, &buffers, ScratchAllocator(scratch + thread * perThread));
      int64_t before = 0;
      for (int64_t i = 0; i < count; ++i) {
        // An item belongs to the thread's share that contains the middle of the item's cost.
        int64_t share = (2 * before + cost(i)) * team / (2 * all);
        if (share >= begin && share < end)
          work(one, i);
        before += cost(i);
      }
      if (units.parts)
        tiles::releaseTiles();
    });
  }

  Attention request;
  MatmulBackend units;
  int threads;
  int64_t perThread = 0;
};

} // namespace

int64_t scratchBytes(const nlohmann::json &desc, int threads) {
  try {
    Attention request = Attention::parse(desc);
    MatmulBackend units = selectMatmulBackend(request);
    return threads * (request.isGradient ? AttentionBackward::scratchBytes(request, units)
                                         : AttentionForward::scratchBytes(request, units));
  } catch (const Error &) {
    return -1;
  }
}

} // namespace dlc::attention

namespace dlc::runtime {

std::unique_ptr<LibraryCall> createAttentionCall(const nlohmann::json &desc,
                                                 std::span<const BufferInfo> buffers, int threads) {
  return std::make_unique<attention::AttentionCall>(desc, buffers, threads);
}

} // namespace dlc::runtime
