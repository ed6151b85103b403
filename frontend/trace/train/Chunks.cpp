//===- Chunks.cpp - sums that do not depend on the number of ranks --------===//
#include "frontend/trace/train/Chunks.h"

#include "dlc/collective.hpp"
#include "frontend/trace/State.h"
#include "frontend/trace/train/Shares.h"
#include "ir/dlc/Attributes.h"

namespace dlc {

using namespace trace;

namespace {

/// Returns the means of several tensors over all chunks of all ranks. `own` contains the tensors
/// for each of this rank's chunks.
std::vector<Tensor> meansInOrder(const std::vector<std::vector<Tensor>> &own, int64_t chunks,
                                 int64_t world) {
  std::vector<Tensor> all;
  for (const std::vector<Tensor> &chunk : own)
    all.insert(all.end(), chunk.begin(), chunk.end());
  Tensor gathered = all_gather(optim::flattenAndConcat(all), world);
  const int64_t size = gathered.dim(0) / chunks;
  Tensor sum = narrow(gathered, 0, 0, size);
  for (int64_t chunk = 1; chunk < chunks; ++chunk)
    sum = sum + narrow(gathered, 0, chunk * size, size);
  Tensor mean = sum * (1 / double(chunks));
  std::vector<Tensor> means;
  int64_t begin = 0;
  for (const Tensor &like : own[0]) {
    means.push_back(optim::sliceAndReshape(mean, begin, like.shape()));
    begin += optim::countElements(like.shape());
  }
  return means;
}

} // namespace

BatchPartResults averageChunksInOrder(const std::vector<BatchPartResults> &own, int64_t chunks,
                                      int64_t world) {
  // Marks the module as reproducible: results must not depend on the number of threads, because the
  // number of threads per rank depends on the number of ranks.
  State &state = *State::current();
  state.function->getParentOfType<mlir::ModuleOp>()->setAttr(kReproducibleAttr,
                                                             state.builder.getUnitAttr());
  BatchPartResults result;
  result.gradients = own[0].gradients;
  std::vector<std::vector<Tensor>> figures;
  for (const BatchPartResults &part : own)
    figures.push_back(part.figures);
  result.figures = meansInOrder(figures, chunks, world);
  const std::vector<Parameter> &parameters = result.gradients.parameters;
  const std::vector<size_t> oneRule(parameters.size());
  for (const std::vector<size_t> &bucket : optim::makeBuckets(parameters, oneRule)) {
    std::vector<std::vector<Tensor>> values(own.size());
    for (size_t part = 0; part < own.size(); ++part)
      for (size_t i : bucket)
        values[part].push_back(own[part].gradients.values[i]);
    std::vector<Tensor> means = meansInOrder(values, chunks, world);
    for (size_t k = 0; k < bucket.size(); ++k)
      result.gradients.values[bucket[k]] = means[k];
  }
  return result;
}

} // namespace dlc
