//===- Call.cpp - creation and execution of Winograd convolution calls ----===//
#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/Library.h"
#include "runtime/library/winograd/Describe.h"
#include "runtime/library/winograd/Plan.h"
#include "runtime/library/winograd/Statistics.h"
#include "runtime/program/Message.h"
#include "runtime/program/WeightsMemory.h"

#include <cstring>

namespace dlc::winograd {

using runtime::fail;
using runtime::parallelFor;

namespace {

const Kernels &selectKernels(const Convolution &request) {
  if (runtime::hostLanes() < request.lanes)
    fail("winograd: blocks of ", request.lanes,
         " channels need AVX-512, which this processor lacks");
  return *runtime::selectKernels(
      request.lanes, [&] { return scalarKernels(request.outputs, request.side); },
      [&] { return avx2Kernels(request.outputs, request.side); },
      [&] { return avx512Kernels(request.outputs, request.side); });
}

class WinogradCall : public runtime::LibraryCall {
public:
  WinogradCall(const nlohmann::json &desc, std::span<const runtime::BufferInfo> buffers,
               int threads)
      : request(Convolution::parse(desc)), kernels(selectKernels(request)),
        threads(std::max(1, threads)), plan(request, this->threads) {
    describe::BufferChecker given(buffers, "winograd");
    if (request.isGradient) {
      given.need("src", request.sourceElements(), sizeof(float));
      given.need("diff_dst", request.resultElements(), sizeof(float));
      given.need("diff_weights", request.weightElements(), sizeof(float), true);
    } else {
      request.check(given,
                    request.isPacked ? request.pointWeightElements() : request.weightElements());
      if (request.hasStatistics)
        for (const char *name : {"first", "shift", "square"})
          given.need(name, request.features, sizeof(float), true);
    }
    given.end();
  }

  std::string implementation() const override {
    std::string m = std::to_string(request.outputs), r = std::to_string(request.side);
    return "winograd:f" + m + "x" + m + "_" + r + "x" + r + ":" +
           std::string(runtime::getKernelSetName(request.lanes)) +
           (request.hasStatistics ? ":statistics" : "");
  }
  uint64_t scratchBytes() const override {
    return static_cast<uint64_t>(plan.scratch) * sizeof(float);
  }

  void execute(void *const *buffers, const runtime::CallContext &context) override {
    auto *scratch = static_cast<float *>(context.scratch);
    int team = std::min(threads, std::max(1, context.threads));
    if (request.isGradient)
      weightGradient(static_cast<const float *>(buffers[0]), static_cast<const float *>(buffers[1]),
                     static_cast<float *>(buffers[2]), scratch, team);
    else
      convolution(buffers, scratch, team);
  }

private:
  TileData tileData(float *memory, int64_t blocks, int64_t first, int64_t count) const {
    return {memory, pointStep(count * blocks, request.lanes), first, count};
  }

  int64_t countAt(int64_t first) const {
    return std::min(plan.tiles, request.shape.tiles() - first);
  }

  /// Computes the results of the tiles in `data` for the output channel blocks [begin, end).
  void resultsOf(const TileData &data, const PointWeights &weights, float *products, int64_t begin,
                 int64_t end, const float *bias, const EpilogueStep *steps, float *to,
                 float *statistics) const {
    for (int64_t o = begin; o < end; o += plan.outBlocks) {
      int64_t stop = std::min(end, o + plan.outBlocks);
      TileData sums = tileData(products, stop - o, data.first, data.count);
      kernels.product(request.shape, data, weights, sums, o, stop);
      kernels.result(request.shape, sums, to, o, stop, bias, steps,
                     static_cast<int>(request.steps.size()), statistics);
    }
  }

  void convolution(void *const *buffers, float *scratch, int team) const {
    const Shape &shape = request.shape;
    size_t next = 0;
    auto *x = static_cast<const float *>(buffers[next++]);
    auto *w = static_cast<float *>(buffers[next++]);
    auto *bias = request.hasBias ? static_cast<const float *>(buffers[next++]) : nullptr;
    std::vector<EpilogueStep> steps = request.steps;
    for (EpilogueStep &step : steps)
      if (step.kind >= EpilogueStep::AddTensor)
        step.operand = static_cast<const float *>(buffers[next++]);
    auto *y = static_cast<float *>(buffers[next++]);
    auto sumsOf = [&](int64_t part) {
      return request.hasStatistics ? scratch + plan.sums + part * plan.sumsStep : nullptr;
    };
    PointWeights weights = request.weightsAt(request.isPacked ? w : scratch + plan.weights);
    if (!request.isPacked)
      parallelFor(team, shape.outBlocks, 2, [&](int64_t begin, int64_t end, int) {
        kernels.weights(shape, w, request.isTransposed, weights, begin, end);
      });
    if (!plan.sharesTiles) {
      parallelFor(team, plan.parts(shape), 1, [&](int64_t begin, int64_t end, int thread) {
        for (int64_t part = begin; part < end; ++part) {
          TileData data = tileData(scratch + plan.data + thread * plan.dataStep, shape.inBlocks,
                                   part * plan.tiles, countAt(part * plan.tiles));
          kernels.data(shape, x, data, 0, shape.inBlocks);
          resultsOf(data, weights, scratch + plan.other + thread * plan.otherStep, 0,
                    shape.outBlocks, bias, steps.data(), y, sumsOf(part));
        }
      });
    } else {
      for (int64_t part = 0; part < plan.parts(shape); ++part) {
        int64_t first = part * plan.tiles;
        TileData data = tileData(scratch + plan.data, shape.inBlocks, first, countAt(first));
        parallelFor(team, shape.inBlocks, 1, [&](int64_t begin, int64_t end, int) {
          kernels.data(shape, x, data, begin, end);
        });
        parallelFor(team, shape.outBlocks, 2, [&](int64_t begin, int64_t end, int thread) {
          resultsOf(data, weights, scratch + plan.other + thread * plan.otherStep, begin, end, bias,
                    steps.data(), y, sumsOf(part));
        });
      }
    }
    if (request.hasStatistics)
      writeStatistics(request, plan, sumsOf(0),
                      {static_cast<float *>(buffers[next]), static_cast<float *>(buffers[next + 1]),
                       static_cast<float *>(buffers[next + 2])},
                      team);
  }

  void weightGradient(const float *x, const float *dy, float *dw, float *scratch, int team) const {
    const Shape &shape = request.shape;
    float *sums = scratch + plan.weights;
    int64_t points = request.points();
    auto weightsAt = [&](int64_t part) {
      return request.weightsAt(sums + part * plan.weightsStep);
    };
    auto transform = [&](float *data, float *gradient, int64_t first, auto &&use) {
      use(tileData(data, shape.inBlocks, first, countAt(first)),
          tileData(gradient, shape.outBlocks, first, countAt(first)));
    };
    if (plan.sharesTiles) {
      parallelFor(team, plan.weightsStep, 4096, [&](int64_t begin, int64_t end, int) {
        std::memset(sums + begin, 0, static_cast<size_t>(end - begin) * sizeof(float));
      });
      for (int64_t first = 0; first < shape.tiles(); first += plan.tiles)
        transform(scratch + plan.data, scratch + plan.other, first,
                  [&](const TileData &data, const TileData &gradient) {
                    int64_t blocks = shape.inBlocks + shape.outBlocks;
                    parallelFor(team, blocks, 1, [&](int64_t begin, int64_t end, int) {
                      if (begin < shape.inBlocks)
                        kernels.data(shape, x, data, begin, std::min(end, shape.inBlocks));
                      if (end > shape.inBlocks)
                        kernels.gradient(shape, dy, gradient,
                                         std::max<int64_t>(0, begin - shape.inBlocks),
                                         end - shape.inBlocks);
                    });
                    parallelFor(
                        team, points * shape.outBlocks, 2, [&](int64_t begin, int64_t end, int) {
                          kernels.weightProduct(shape, data, gradient, weightsAt(0), begin, end);
                        });
                  });
    } else {
      parallelFor(team, plan.weightParts, 1, [&](int64_t begin, int64_t end, int) {
        std::memset(sums + begin * plan.weightsStep, 0,
                    static_cast<size_t>((end - begin) * plan.weightsStep) * sizeof(float));
      });
      parallelFor(team, plan.parts(shape), 1, [&](int64_t begin, int64_t end, int thread) {
        for (int64_t part = begin; part < end; ++part)
          transform(scratch + plan.data + thread * plan.dataStep,
                    scratch + plan.other + thread * plan.otherStep, part * plan.tiles,
                    [&](const TileData &data, const TileData &gradient) {
                      kernels.data(shape, x, data, 0, shape.inBlocks);
                      kernels.gradient(shape, dy, gradient, 0, shape.outBlocks);
                      kernels.weightProduct(shape, data, gradient, weightsAt(thread), 0,
                                            points * shape.outBlocks);
                    });
      });
    }
    parallelFor(team, shape.outBlocks * shape.inBlocks, 1, [&](int64_t begin, int64_t end, int) {
      kernels.weightResult(shape, weightsAt(0), plan.weightParts, plan.weightsStep, dw, begin, end);
    });
  }

  Convolution request;
  const Kernels &kernels;
  int threads;
  WorkPartition plan;
};

} // namespace

uint64_t packedBytes(const nlohmann::json &desc) {
  try {
    return static_cast<uint64_t>(Convolution::parse(desc).pointWeightElements()) * sizeof(float);
  } catch (const Error &) {
    return 0;
  }
}

PackedWeights packWeights(const nlohmann::json &desc, const float *plain, int threads) {
  PackedWeights packed;
  try {
    Convolution request = Convolution::parse(desc);
    const Kernels &kernels = selectKernels(request);
    packed.bytes = (packedBytes(desc) + 63) / 64 * 64;
    packed.data = runtime::allocateWeights(packed.bytes);
    void *memory = packed.data.get();
    if (!memory)
      fail("cannot allocate ", packed.bytes, " bytes for packed weights");
    // The padding between points is never read, but it is stored in the program, so it must be
    // initialized.
    std::memset(memory, 0, packed.bytes);
    packed.bytes = packedBytes(desc);
    parallelFor(threads, request.shape.outBlocks, 2, [&](int64_t begin, int64_t end, int) {
      kernels.weights(request.shape, plain, request.isTransposed,
                      request.weightsAt(static_cast<float *>(memory)), begin, end);
    });
  } catch (const Error &error) {
    packed.data = nullptr;
    packed.error = error.what();
  }
  return packed;
}

} // namespace dlc::winograd

namespace dlc::runtime {

std::unique_ptr<LibraryCall> createWinogradCall(const nlohmann::json &desc,
                                                std::span<const BufferInfo> buffers, int threads) {
  return std::make_unique<winograd::WinogradCall>(desc, buffers, threads);
}

} // namespace dlc::runtime
