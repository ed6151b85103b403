//===- Call.cpp - creation and execution of direct convolution calls ------===//
#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/Library.h"
#include "runtime/library/direct/Describe.h"
#include "runtime/library/direct/Plan.h"
#include "runtime/program/Message.h"
#include "runtime/program/WeightsMemory.h"

namespace dlc::direct {

using runtime::fail;
using runtime::parallelFor;

namespace {

const Kernels &selectKernels(const Convolution &request) {
  if (runtime::hostLanes() < request.lanes)
    fail("direct: blocks of ", request.lanes, " channels need AVX-512, which this processor lacks");
  return *runtime::selectKernels(
      request.lanes, [] { return &scalarKernels; }, [] { return &avx2Kernels; },
      [] { return &avx512Kernels; });
}

class DirectConvolutionCall : public runtime::LibraryCall {
public:
  DirectConvolutionCall(const nlohmann::json &desc, std::span<const runtime::BufferInfo> buffers,
                        int threads)
      : request(Convolution::parse(desc)), kernels(selectKernels(request)),
        threads(std::max(1, threads)), plan(request, this->threads) {
    describe::BufferChecker given(buffers, "direct");
    request.check(given, request.weightElements());
    given.end();
  }

  std::string implementation() const override {
    return "direct:" + std::string(runtime::getKernelSetName(request.lanes));
  }
  uint64_t scratchBytes() const override {
    return static_cast<uint64_t>(plan.scratch) * sizeof(float);
  }

  void execute(void *const *buffers, const runtime::CallContext &context) override {
    size_t next = 0;
    auto *x = static_cast<const float *>(buffers[next++]);
    auto *w = static_cast<const float *>(buffers[next++]);
    auto *bias = request.hasBias ? static_cast<const float *>(buffers[next++]) : nullptr;
    std::vector<EpilogueStep> steps = request.steps;
    for (EpilogueStep &step : steps)
      if (step.kind >= EpilogueStep::AddTensor)
        step.operand = static_cast<const float *>(buffers[next++]);
    auto *y = static_cast<float *>(buffers[next]);
    auto *scratch = static_cast<float *>(context.scratch);
    const Epilogue epilogue{bias, steps.data(), static_cast<int>(steps.size())};
    const int team = std::min(threads, std::max(1, context.threads));
    auto results = [&](int64_t part, const float *copied, int64_t pair, int thread) {
      const PixelRange pixels = plan.part(request, part);
      const int64_t block = 2 * pair;
      kernels.results(request.shape, pixels, rowsOf(pixels, x, copied),
                      w + block * request.lanes * request.shape.depth * request.lanes, block,
                      block + 1 < request.shape.outBlocks,
                      scratch + plan.sums + thread * plan.sumsStep, epilogue, y);
    };
    auto copy = [&](int64_t part, float *to) {
      if (const PixelRange pixels = plan.part(request, part); !request.readsInPlace())
        kernels.gather(request.shape, x, pixels, to, pixels.count * request.lanes);
    };
    if (plan.sharesPixels)
      parallelFor(team, request.pairs() * plan.parts, 1,
                  [&](int64_t begin, int64_t end, int thread) {
                    float *copies = scratch + thread * plan.dataStep;
                    for (int64_t part = 0; part < plan.parts; ++part)
                      copy(part, copies + part * plan.partStep);
                    for (int64_t unit = begin; unit < end; ++unit) {
                      int64_t part = unit % plan.parts;
                      results(part, copies + part * plan.partStep, unit / plan.parts, thread);
                    }
                  });
    else
      parallelFor(team, plan.parts, 1, [&](int64_t begin, int64_t end, int thread) {
        float *copied = scratch + thread * plan.dataStep;
        for (int64_t part = begin; part < end; ++part) {
          copy(part, copied);
          for (int64_t pair = 0; pair < request.pairs(); ++pair)
            results(part, copied, pair, thread);
        }
      });
  }

private:
  DataRows rowsOf(const PixelRange &pixels, const float *x, const float *copied) const {
    if (!request.readsInPlace())
      return {copied, pixels.count * request.lanes};
    const int64_t block = request.positions() * request.lanes;
    return {x + pixels.image * request.shape.inBlocks * block + pixels.first * request.lanes,
            block};
  }

  Convolution request;
  const Kernels &kernels;
  int threads;
  WorkPartition plan;
};

} // namespace

uint64_t packedBytes(const nlohmann::json &desc) {
  try {
    return static_cast<uint64_t>(Convolution::parse(desc).weightElements()) * sizeof(float);
  } catch (const Error &) {
    return 0;
  }
}

SourceAccess describeSourceAccess(const nlohmann::json &desc, int threads) {
  try {
    const Convolution request = Convolution::parse(desc);
    const WorkPartition plan(request, threads);
    return {request.readsInPlace(), plan.sharesPixels, plan.windowPart(request)};
  } catch (const Error &) {
    return {};
  }
}

PackedWeights packWeights(const nlohmann::json &desc, const float *plain, int threads) {
  PackedWeights packed;
  try {
    const Convolution request = Convolution::parse(desc);
    const Kernels &kernels = selectKernels(request);
    packed.bytes = packedBytes(desc);
    // The size is a multiple of 64 bytes, also with blocks of 8 channels.
    packed.data = runtime::allocateWeights(packed.bytes);
    if (!packed.data)
      fail("cannot allocate ", packed.bytes, " bytes for packed weights");
    parallelFor(threads, request.shape.outBlocks, 2, [&](int64_t begin, int64_t end, int) {
      kernels.weights(request.shape, plain, static_cast<float *>(packed.data.get()), begin, end);
    });
  } catch (const Error &error) {
    packed.data = nullptr;
    packed.error = error.what();
  }
  return packed;
}

} // namespace dlc::direct

namespace dlc::runtime {

std::unique_ptr<LibraryCall> createDirectCall(const nlohmann::json &desc,
                                              std::span<const BufferInfo> buffers, int threads) {
  return std::make_unique<direct::DirectConvolutionCall>(desc, buffers, threads);
}

} // namespace dlc::runtime
