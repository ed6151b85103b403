//===- Call.cpp - call of a matmul with block-quantized weights in vectors -===//
#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/blocks/Describe.h"
#include "runtime/library/products/Operands.h"

namespace dlc::blocks {

using products::MatmulDesc;
using products::One;
using products::Operands;
using runtime::parallelFor;

namespace {

/// Maximum number of elements of the left operand that one thread quantizes alone.
constexpr int64_t kAlone = 1 << 15;
/// Minimum number of weight panels for each thread.
constexpr int64_t kTogether = 4;

class BlockMatmulCall : public runtime::LibraryCall {
public:
  BlockMatmulCall(const schema::Product &desc, const schema::BlocksKernel &kernel,
                  std::span<const runtime::BufferInfo> buffers, int threads)
      : shape(makeShape(kernel, desc.n, desc.k)), config(makeKernelConfig(shape, kernel.lanes)),
        kernels(*runtime::selectKernels(
            config.columns, [] { return &scalarKernels; }, [] { return &avx2Kernels; },
            [] { return &avx512Kernels; })),
        operands(MatmulDesc(desc, config), buffers), threads(std::max(1, threads)) {
    checkProduct(operands.product);
  }

  std::string implementation() const override { return config.name; }

  uint64_t scratchBytes() const override {
    return static_cast<uint64_t>(digitBytes() + blockBytes() + this->threads * copyBytes());
  }

  void execute(void *const *buffers, const runtime::CallContext &context) override {
    const int team = std::min(threads, std::max(1, context.threads));
    for (int64_t i = 0; i < operands.count; ++i)
      one(operands.at(i, buffers), static_cast<char *>(context.scratch), team);
  }

private:
  void one(const One &given, char *scratch, int team) const {
    const MatmulDesc &product = operands.product;
    auto *digits = reinterpret_cast<int8_t *>(scratch);
    auto *blocks = reinterpret_cast<BlockFactors *>(scratch + digitBytes());
    const QuantizedRows rows{digits, blocks, product.m};
    auto prepare = [&](int64_t begin, int64_t end, int thread) {
      auto *copy =
          reinterpret_cast<float *>(scratch + digitBytes() + blockBytes() + thread * copyBytes());
      for (int64_t row = begin; row < end; ++row) {
        const float *x = given.a + row * rowStep();
        if (depthStep() != 1) {
          for (int64_t k = 0; k < shape.k; ++k)
            copy[k] = x[k * depthStep()];
          x = copy;
        }
        kernels.digits(shape, x, row, rows);
      }
    };
    parallelFor(product.m * shape.k <= kAlone ? 1 : team, product.m, 1, prepare);
    const int64_t dstRow = product.dstStrides[product.dstStrides.size() - 2];
    parallelFor(team, shape.panels, kTogether, [&](int64_t begin, int64_t end, int) {
      kernels.multiply(shape, rows, given.b, begin, end, given.dst, dstRow, given.epilogue);
    });
  }

  int64_t rowStep() const {
    const auto &strides = operands.product.aStrides;
    return strides[strides.size() - 2];
  }
  int64_t depthStep() const { return operands.product.aStrides.back(); }
  int64_t digitBytes() const {
    return products::upTo(operands.product.m * shape.blocks * shape.digits * shape.depth, 64);
  }
  int64_t blockBytes() const {
    return products::upTo(operands.product.m * shape.blocks * int64_t(sizeof(BlockFactors)), 64);
  }
  int64_t copyBytes() const {
    return depthStep() == 1 ? 0 : products::upTo(shape.k * int64_t(sizeof(float)), 64);
  }

  Shape shape;
  products::KernelConfig config;
  const Kernels &kernels;
  Operands operands;
  int threads;
};

} // namespace

void checkProduct(const MatmulDesc &product) {
  if (!product.isPacked)
    runtime::fail("blocks: 'b' must be packed");
  if (product.change)
    runtime::fail("blocks: a prologue is not supported");
}

} // namespace dlc::blocks

namespace dlc::runtime {

std::unique_ptr<LibraryCall> createBlocksCall(const nlohmann::json &desc,
                                              std::span<const BufferInfo> buffers, int threads) {
  const auto product = schema::Product::read(desc, "blocks");
  const auto kernel = schema::BlocksKernel::read(desc, "blocks");
  if (kernel.parts)
    return blocks::makeTilesCall(product, kernel, buffers, threads);
  return std::make_unique<blocks::BlockMatmulCall>(product, kernel, buffers, threads);
}

} // namespace dlc::runtime
