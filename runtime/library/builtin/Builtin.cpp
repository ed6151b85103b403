//===- Builtin.cpp - finds the built-in kernel of a description ---------------===//
#include "runtime/library/builtin/Builtin.h"

namespace dlc::runtime {

std::unique_ptr<LibraryCall> createBuiltinCall(const nlohmann::json &desc,
                                               std::span<const BufferInfo> buffers, int threads) {
  using Make = std::unique_ptr<LibraryCall> (*)(builtin::KernelRequest &);
  // In the order of schema::BuiltinKind.
  static constexpr Make makers[] = {builtin::makeTopK,
                                    builtin::makeCumulative,
                                    builtin::makeScatterElements,
                                    builtin::makeScatterNd,
                                    builtin::makeNms,
                                    builtin::makeArgReduce,
                                    builtin::makeMaxPoolIndices,
                                    builtin::makeMaxPoolPositions,
                                    builtin::makeMaxPoolGrad,
                                    builtin::makeAvgPoolGrad,
                                    builtin::makeLanePool,
                                    builtin::makeLaneGrad,
                                    builtin::makeConvWeightGrad,
                                    builtin::makeRandom,
                                    builtin::makeGrouped,
                                    builtin::makeGrouped};
  static_assert(std::size(makers) == namesOf(schema::BuiltinKind()).size());
  const auto kind = schema::BuiltinCall::read(desc, "built-in kernel").kind;
  builtin::KernelRequest request(desc, nameOf(kind), buffers, threads);
  return makers[static_cast<size_t>(kind)](request);
}

} // namespace dlc::runtime
