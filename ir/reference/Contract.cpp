//===- Contract.cpp - matrix products -------------------------------------===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"

using namespace mlir;

namespace dlc {
using namespace ref;

LogicalResult MatmulOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &a = inputs[0], &b = inputs[1];
  if (a.getRank() < 2 || b.getRank() < 2)
    return emitOpError("(C1) needs ranks of 2 or more");
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

  // Steps of a along m and k, of b along k and n.
  const int64_t stepM = transposeA ? 1 : k, stepKA = transposeA ? m : 1;
  const int64_t stepKB = transposeB ? 1 : n, stepN = transposeB ? k : 1;
  std::vector<int64_t> stridesA = broadcastStrides(batchA, *batch);
  std::vector<int64_t> stridesB = broadcastStrides(batchB, *batch);
  withCompute(y.getElement(), [&](auto zero) {
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
          for (int64_t p = 0; p < k; ++p) {
            const C scale = aMatrix[i * stepM + p * stepKA];
            const C *bRow = bMatrix + p * stepKB;
            for (int64_t j = 0; j < n; ++j)
              sums[j] = wrapAdd(sums[j], wrapMul(scale, bRow[j]));
          }
        }
        storeRow<C>(y, row * n, n, sums.data());
      }
    });
  });
  outputs.push_back(y);
  return success();
}

} // namespace dlc
