//===- Describe.cpp - configuration and calls of vector matmuls -----------===//
#include "runtime/library/vectors/Describe.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/library/products/Grouped.h"
#include "runtime/library/vectors/Kernels.h"
#include "runtime/program/Message.h"

namespace dlc::vectors {

using products::KernelConfig;
using products::Operand;
using products::PackPosition;

namespace {

const Kernels &selectKernels(int64_t lanes) {
  return *runtime::selectKernels(
      lanes, [] { return &scalarMatmulKernels(); }, [] { return &avx2MatmulKernels(); },
      [] { return &avx512MatmulKernels(); });
}

const Kernels &selectKernels(const KernelConfig &config) {
  return selectKernels(config.columns / 2);
}

void packBlocks(const KernelConfig &config, const Operand &x, int64_t width,
                const PackPosition &place, float *to) {
  const Kernels &kernels = selectKernels(config);
  const int64_t between = width * x.depths;
  kernels.pack(x.from, x.lane, x.depth, x.lanes, x.depths, width, between, to);
  if (place.sums)
    kernels.sums(to, x.lanes, x.depths, width, between, !place.isFirst, place.sums);
}

void packNarrow(const KernelConfig &config, const products::NarrowOperand &x, int64_t width,
                float *to) {
  selectKernels(config).packNarrow(x.from, x.lane, x.depth, x.lanes, x.depths, width,
                                   width * x.depths, to);
}

} // namespace

int64_t lanes() { return runtime::hostLanes(); }

KernelConfig makeKernelConfig(int64_t lanes, int64_t rows) {
  if (lanes != 8 && lanes != 16)
    runtime::fail("product: 'lanes' must be 8 or 16; found: ", lanes);
  const Kernels &kernels = selectKernels(lanes);
  // All blocks have the same number of rows, except for the last one.
  int64_t blocks = (rows + kernels.maxRows - 1) / kernels.maxRows;
  KernelConfig config;
  config.name = "vectors:" + std::string(runtime::getKernelSetName(lanes));
  config.rows = (rows + blocks - 1) / blocks;
  config.columns = 2 * lanes;
  config.depth = 1;
  config.fewColumns = kFewColumns;
  config.depthAtOnce = lanes == 16 ? 1024 : 512;
  config.leftBytes = config.rows * int64_t(sizeof(float));
  config.rightBytes = config.columns * int64_t(sizeof(float));
  config.isHere = lanes == 16 ? [] { return runtime::hostLanes() >= 16; } : [] { return true; };
  config.packLeft = [](const KernelConfig &f, const Operand &x, const PackPosition &place,
                       void *to) { packBlocks(f, x, f.rows, place, static_cast<float *>(to)); };
  config.packRight = [](const KernelConfig &f, const Operand &x, const PackPosition &place,
                        void *to) { packBlocks(f, x, f.columns, place, static_cast<float *>(to)); };
  config.packLeftNarrow = [](const KernelConfig &f, const products::NarrowOperand &x, void *to) {
    packNarrow(f, x, f.rows, static_cast<float *>(to));
  };
  config.packRightNarrow = [](const KernelConfig &f, const products::NarrowOperand &x, void *to) {
    packNarrow(f, x, f.columns, static_cast<float *>(to));
  };
  config.narrow = kernels.narrow;
  config.anyRows = true;
  config.multiply = kernels.multiply;
  config.strassen = kernels.strassen;
  config.enter = config.leave = [] {};
  return config;
}

KernelConfig makeGroupedConfig(int64_t lanes) {
  return makeKernelConfig(lanes, selectKernels(lanes).maxRows);
}

KernelConfig makeKernelConfig(const schema::VectorsKernel &kernel, int64_t m) {
  return makeKernelConfig(kernel.lanes, kernel.strassen ? (m + 1) / 2 : m);
}

uint64_t packedBytes(int64_t k, int64_t n, int64_t lanes) {
  return makeKernelConfig(lanes, 1).packedBytes(k, n);
}

void packWeights(const float *b, int64_t rowStride, int64_t columnStride, int64_t k, int64_t n,
                 int64_t lanes, void *packed) {
  KernelConfig config = makeKernelConfig(lanes, 1);
  config.packRight(config, {b, columnStride, rowStride, n, k}, {}, packed);
}

} // namespace dlc::vectors

namespace dlc::runtime {

std::unique_ptr<LibraryCall> createVectorsCall(const nlohmann::json &desc,
                                               std::span<const BufferInfo> buffers, int threads) {
  const auto kernel = schema::VectorsKernel::read(desc, "vectors");
  if (schema::MatmulCall::read(desc, "vectors").kind != schema::MatmulKind::Product)
    return products::makeGrouped(desc, vectors::makeGroupedConfig(kernel.lanes), buffers, threads);
  const auto product = schema::Product::read(desc, "vectors");
  return products::makeProduct(product, vectors::makeKernelConfig(kernel, product.m),
                               kernel.strassen, buffers, threads);
}

} // namespace dlc::runtime
