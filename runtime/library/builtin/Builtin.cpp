//===- Builtin.cpp - finds the built-in kernel of a description ---------------===//
#include "runtime/library/builtin/Builtin.h"

#include <map>

namespace dlc::runtime {

std::unique_ptr<LibraryCall> createBuiltinCall(const nlohmann::json &desc,
                                               std::span<const BufferInfo> buffers, int threads) {
  using Make = std::unique_ptr<LibraryCall> (*)(builtin::KernelRequest &);
  static const std::map<std::string, Make> makers = {
      {"topk", builtin::makeTopK},
      {"cumulative", builtin::makeCumulative},
      {"scatter_elements", builtin::makeScatterElements},
      {"scatter_nd", builtin::makeScatterNd},
      {"nms", builtin::makeNms},
      {"arg_reduce", builtin::makeArgReduce},
      {"max_pool_indices", builtin::makeMaxPoolIndices},
      {"max_pool_positions", builtin::makeMaxPoolPositions},
      {"max_pool_grad", builtin::makeMaxPoolGrad},
      {"avg_pool_grad", builtin::makeAvgPoolGrad},
      {"lane_pool", builtin::makeLanePool},
      {"lane_weight_grad", builtin::makeLaneGrad},
      {"conv_weight_grad", builtin::makeConvWeightGrad},
      {"random", builtin::makeRandom},
      {"grouped_product", builtin::makeGrouped},
      {"grouped_gradient", builtin::makeGrouped},
  };
  const describe::Fields fields(desc, "built-in kernel");
  auto found = makers.find(fields.kind());
  if (found == makers.end()) {
    std::string known;
    for (const auto &[name, make] : makers)
      known += (known.empty() ? "" : ", ") + name;
    fields.complain("unknown kind '", fields.kind(), "'; the known kinds are ", known);
  }
  builtin::KernelRequest request(desc, buffers, threads);
  return found->second(request);
}

} // namespace dlc::runtime
