//===- Describe.cpp - form and call factory of matmuls in vectors ---------===//
#include "runtime/library/vectors/Describe.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/library/products/Grouped.h"
#include "runtime/library/vectors/Kernels.h"
#include "runtime/program/Message.h"

namespace dlc::vectors {

using products::Form;
using products::Operand;
using products::Place;

namespace {

const Kernels &kernelsOf(const Form &form) {
  return form.columns == 32 ? avx512Kernels() : avx2Kernels();
}

void packBlocks(const Form &form, const Operand &x, int64_t width, const Place &place, float *to) {
  const Kernels &kernels = kernelsOf(form);
  const int64_t between = width * x.depths;
  kernels.pack(x.from, x.lane, x.depth, x.lanes, x.depths, width, between, to);
  if (place.sums)
    kernels.sums(to, x.lanes, x.depths, width, between, !place.isFirst, place.sums);
}

void packNarrow(const Form &form, const products::NarrowOperand &x, int64_t width, float *to) {
  kernelsOf(form).packNarrow(x.from, x.lane, x.depth, x.lanes, x.depths, width, width * x.depths,
                             to);
}

} // namespace

int64_t lanes() { return runtime::hostLanes(); }

Form formOf(int64_t lanes, int64_t rows) {
  if (lanes != 8 && lanes != 16)
    runtime::fail("product: 'lanes' must be 8 or 16; found: ", lanes);
  const Kernels &kernels = lanes == 16 ? avx512Kernels() : avx2Kernels();
  // All blocks have the same number of rows, except for the last one.
  int64_t blocks = (rows + kernels.mostRows - 1) / kernels.mostRows;
  Form form;
  form.name = lanes == 16 ? "vectors:avx512" : "vectors:avx2";
  form.rows = (rows + blocks - 1) / blocks;
  form.columns = 2 * lanes;
  form.depth = 1;
  form.fewColumns = kFewColumns;
  form.depthAtOnce = lanes == 16 ? 1024 : 512;
  form.leftBytes = form.rows * int64_t(sizeof(float));
  form.rightBytes = form.columns * int64_t(sizeof(float));
  form.isHere = lanes == 16 ? [] { return runtime::hostLanes() >= 16; }
                            : [] { return runtime::hostLanes() >= 8; };
  form.packLeft = [](const Form &f, const Operand &x, const Place &place, void *to) {
    packBlocks(f, x, f.rows, place, static_cast<float *>(to));
  };
  form.packRight = [](const Form &f, const Operand &x, const Place &place, void *to) {
    packBlocks(f, x, f.columns, place, static_cast<float *>(to));
  };
  form.packLeftNarrow = [](const Form &f, const products::NarrowOperand &x, void *to) {
    packNarrow(f, x, f.rows, static_cast<float *>(to));
  };
  form.packRightNarrow = [](const Form &f, const products::NarrowOperand &x, void *to) {
    packNarrow(f, x, f.columns, static_cast<float *>(to));
  };
  form.narrow = kernels.narrow;
  form.anyRows = true;
  form.multiply = kernels.multiply;
  form.strassen = kernels.strassen;
  form.enter = form.leave = [] {};
  return form;
}

Form groupedForm(int64_t lanes) {
  return formOf(lanes, (lanes == 16 ? avx512Kernels() : avx2Kernels()).mostRows);
}

Form formOf(const nlohmann::json &desc) {
  const describe::Fields fields(desc, "vectors");
  int64_t m = fields.size("m", 1);
  return formOf(fields.integer("lanes", 8, 16), fields.flag("strassen") ? (m + 1) / 2 : m);
}

uint64_t packedBytes(int64_t k, int64_t n, int64_t lanes) {
  return formOf(lanes, 1).packedBytes(k, n);
}

void packWeights(const float *b, int64_t rowStride, int64_t columnStride, int64_t k, int64_t n,
                 int64_t lanes, void *packed) {
  Form form = formOf(lanes, 1);
  form.packRight(form, {b, columnStride, rowStride, n, k}, {}, packed);
}

} // namespace dlc::vectors

namespace dlc::runtime {

std::unique_ptr<LibraryCall> createVectorsCall(const nlohmann::json &desc,
                                               std::span<const BufferInfo> buffers, int threads) {
  if (const describe::Fields fields(desc, "vectors"); describe::Grouped::isKind(fields.kind()))
    return products::makeGrouped(desc, vectors::groupedForm(fields.integer("lanes", 8, 16)),
                                 buffers, threads);
  return products::makeProduct(desc, vectors::formOf(desc), buffers, threads);
}

} // namespace dlc::runtime
