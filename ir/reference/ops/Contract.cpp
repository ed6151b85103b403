//===- Contract.cpp - reference evaluation of matrix multiplications ------===//
#include "ir/dlc/Infer.h"
#include "ir/reference/Rows.h"

using namespace mlir;

namespace dlc {
using namespace ref;

LogicalResult MatmulOp::evaluate(Inputs inputs, Outputs outputs) {
  Tensor a = inputs[0], b = inputs[1];
  if (a.getRank() < 2 || b.getRank() < 2)
    return emitOpError("(C1) needs ranks of 2 or more");
  if (isNarrowInteger(a.getElementType())) {
    const Tensor *zero = inputs.begin() + 2;
    a = subtractZeroPoint(a, getAZeroPoint() ? zero++ : nullptr);
    b = subtractZeroPoint(b, getBZeroPoint() ? zero : nullptr);
  }
  ArrayRef<int64_t> matrixA = a.getShape().take_back(2), matrixB = b.getShape().take_back(2);
  const bool transposeA = getTransposeA(), transposeB = getTransposeB();
  const int64_t m = matrixA[transposeA], k = matrixA[!transposeA], n = matrixB[!transposeB];
  if (matrixB[transposeB] != k)
    return emitOpError("(C2) contracts ")
           << k << " elements of a with " << matrixB[transposeB] << " of b";
  ArrayRef<int64_t> batchA = a.getShape().drop_back(2), batchB = b.getShape().drop_back(2);
  std::optional<Shape> batch = broadcastShapes({batchA, batchB});
  if (!batch)
    return emitOpError("(C3) batch dimensions do not broadcast together");
  Shape shape(*batch);
  shape.append({m, n});
  Tensor y = makeResult(getY(), shape, a.getElementType());

  // Row-major strides of a along m and k, and of b along k and n.
  const int64_t stepM = transposeA ? 1 : k, stepKA = transposeA ? m : 1;
  const int64_t stepKB = transposeB ? 1 : n, stepN = transposeB ? k : 1;
  std::vector<int64_t> stridesA = broadcastStrides(batchA, *batch);
  std::vector<int64_t> stridesB = broadcastStrides(batchB, *batch);
  dispatchComputeType(y.getElement(), [&](auto zero) {
    using C = decltype(zero);
    const std::vector<C> left = loadAll<C>(a), right = loadAll<C>(b);
    std::vector<C> sums(n);
    int64_t row = 0;
    forEachIndex(*batch, [&](const std::vector<int64_t> &index) {
      int64_t placeA = 0, placeB = 0;
      for (size_t d = 0; d < index.size(); ++d) {
        placeA += index[d] * stridesA[d];
        placeB += index[d] * stridesB[d];
      }
      const C *aMatrix = left.data() + placeA * m * k, *bMatrix = right.data() + placeB * k * n;
      for (int64_t i = 0; i < m; ++i, ++row) {
        std::fill(sums.begin(), sums.end(), C(0));
        if (transposeB) {
          for (int64_t j = 0; j < n; ++j)
            for (int64_t p = 0; p < k; ++p)
              sums[j] = wrapAdd(sums[j],
                                wrapMul(aMatrix[i * stepM + p * stepKA], bMatrix[j * stepN + p]));
        } else {
          // Accumulates four rows of b at a time, so that the accumulators are loaded and stored
          // once for all four. The order of the additions is unchanged.
          const C *aRow = aMatrix + i * stepM;
          auto term = [&](int64_t p, int64_t j) {
            return wrapMul(aRow[p * stepKA], bMatrix[p * stepKB + j]);
          };
          int64_t p = 0;
          for (; p + 4 <= k; p += 4)
            for (int64_t j = 0; j < n; ++j)
              sums[j] = wrapAdd(
                  wrapAdd(wrapAdd(wrapAdd(sums[j], term(p, j)), term(p + 1, j)), term(p + 2, j)),
                  term(p + 3, j));
          for (; p < k; ++p)
            for (int64_t j = 0; j < n; ++j)
              sums[j] = wrapAdd(sums[j], term(p, j));
        }
        storeRow<C>(y, row * n, n, sums.data());
      }
    });
  });
  outputs.push_back(y);
  return success();
}

std::vector<int64_t> ref::groupBorders(const Tensor &ends, int64_t rows) {
  std::vector<int64_t> borders = {0};
  for (int64_t g = 0; g < ends.size(); ++g)
    borders.push_back(std::clamp(ends.getInt(g), borders.back(), rows));
  return borders;
}

LogicalResult GroupedMatmulOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &a = inputs[0], &b = inputs[1], &ends = inputs[2];
  if (a.getRank() != 2 || b.getRank() != 3 || ends.getRank() != 1)
    return emitOpError("(C1) needs ranks 2, 3 and 1");
  const bool transposed = getTransposeB();
  const int64_t rows = a.getShape()[0], k = a.getShape()[1], n = b.getShape()[transposed ? 1 : 2];
  if (b.getShape()[transposed ? 2 : 1] != k)
    return emitOpError("(C2) contracts ")
           << k << " elements of a with another number of elements of b";
  if (b.getShape()[0] != ends.size())
    return emitOpError("(C3) has ")
           << b.getShape()[0] << " matrices for " << ends.size() << " groups";
  Tensor y = makeResult(getY(), {rows, n}, a.getElementType());
  const std::vector<int64_t> borders = groupBorders(ends, rows);
  dispatchComputeType(y.getElement(), [&](auto zero) {
    using C = decltype(zero);
    const std::vector<C> left = loadAll<C>(a), right = loadAll<C>(b);
    std::vector<C> sums(y.size(), C(0));
    for (size_t g = 0; g + 1 < borders.size(); ++g) {
      const C *matrix = right.data() + int64_t(g) * k * n;
      for (int64_t row = borders[g]; row < borders[g + 1]; ++row)
        for (int64_t p = 0; p < k; ++p)
          for (int64_t j = 0; j < n; ++j)
            sums[row * n + j] += left[row * k + p] * matrix[transposed ? j * k + p : p * n + j];
    }
    storeAll<C>(y, sums);
  });
  outputs.push_back(y);
  return success();
}

LogicalResult GroupedWeightGradOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &a = inputs[0], &dy = inputs[1], &ends = inputs[2];
  if (a.getRank() != 2 || dy.getRank() != 2 || ends.getRank() != 1)
    return emitOpError("(C1) needs ranks 2, 2 and 1");
  const int64_t rows = a.getShape()[0], k = a.getShape()[1], n = dy.getShape()[1];
  if (dy.getShape()[0] != rows)
    return emitOpError("(C2) has ") << rows << " rows of a and another number of rows of dy";
  Tensor db = makeResult(getDb(), {ends.size(), k, n}, a.getElementType());
  const std::vector<int64_t> borders = groupBorders(ends, rows);
  dispatchComputeType(db.getElement(), [&](auto zero) {
    using C = decltype(zero);
    const std::vector<C> left = loadAll<C>(a), right = loadAll<C>(dy);
    std::vector<C> sums(db.size(), C(0));
    for (size_t g = 0; g + 1 < borders.size(); ++g)
      for (int64_t row = borders[g]; row < borders[g + 1]; ++row)
        for (int64_t p = 0; p < k; ++p)
          for (int64_t j = 0; j < n; ++j)
            sums[(int64_t(g) * k + p) * n + j] += left[row * k + p] * right[row * n + j];
    storeAll<C>(db, sums);
  });
  outputs.push_back(db);
  return success();
}

} // namespace dlc
