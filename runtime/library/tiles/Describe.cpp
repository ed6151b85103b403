//===- Describe.cpp - configuration and calls of tile matmuls -------------===//
#include "runtime/library/tiles/Describe.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/library/products/Grouped.h"
#include "runtime/library/tiles/Convolution.h"
#include "runtime/library/tiles/WeightGradient.h"

namespace dlc::tiles {

using products::KernelConfig;
using products::Operand;

bool isAvailable() {
  static const bool answer =
      runtime::hostSupports(runtime::InstructionSet::Amx) && requestTilePermission();
  return answer;
}

KernelConfig makeKernelConfig(int parts) {
  KernelConfig config;
  config.name = parts == 3 ? "tiles:bf16x6" : parts == 2 ? "tiles:bf16x3" : "tiles:bf16x1";
  config.rows = config.columns = kBlock;
  config.depth = kDepth;
  config.leftBytes = config.rightBytes = parts * kPartBytes;
  config.parts = parts;
  config.isHere = isAvailable;
  config.packLeft = [](const KernelConfig &f, const Operand &x, const PackPosition &place,
                       void *to) {
    packLeft(x.from, x.lane, x.depth, x.lanes, x.depths, f.parts, to, place);
  };
  config.packRight = [](const KernelConfig &f, const Operand &x, const PackPosition &place,
                        void *to) {
    packRight(x.from, x.lane, x.depth, x.lanes, x.depths, f.parts, to, place);
  };
  if (parts == 1) {
    config.packLeftNarrow = [](const KernelConfig &, const products::NarrowOperand &x, void *to) {
      packLeft(x.from, x.lane, x.depth, x.lanes, x.depths, to);
    };
    config.packRightNarrow = [](const KernelConfig &, const products::NarrowOperand &x, void *to) {
      packRight(x.from, x.lane, x.depth, x.lanes, x.depths, to);
    };
    config.narrow = narrow;
    config.multiplyInPlace = multiplyInPlace;
  }
  config.multiply = multiply;
  config.enter = configureTiles;
  config.leave = releaseTiles;
  return config;
}

uint64_t packedBytes(int64_t k, int64_t n, int parts) {
  return makeKernelConfig(parts).packedBytes(k, n);
}

void packWeights(const float *b, int64_t rowStride, int64_t columnStride, int64_t k, int64_t n,
                 int parts, void *packed) {
  packRight(b, columnStride, rowStride, n, k, parts, packed);
}

} // namespace dlc::tiles

namespace dlc::runtime {

std::unique_ptr<LibraryCall> createTilesCall(const nlohmann::json &desc,
                                             std::span<const BufferInfo> buffers, int threads) {
  auto config = [&] {
    return tiles::makeKernelConfig(int(schema::TilesKernel::read(desc, "tiles").parts));
  };
  switch (schema::MatmulCall::read(desc, "tiles").kind) {
  case schema::MatmulKind::Convolution:
    return tiles::makeConvolution(desc, buffers, threads);
  case schema::MatmulKind::WeightGradient:
    return tiles::makeWeightGradient(desc, buffers, threads);
  case schema::MatmulKind::Product:
    return products::makeProduct(schema::Product::read(desc, "tiles"), config(), false, buffers,
                                 threads);
  default:
    return products::makeGrouped(desc, config(), buffers, threads);
  }
}

} // namespace dlc::runtime
