//===- Builtin.cpp - finds the built-in kernel of a description ---------------===//
#include "runtime/library/builtin/Builtin.h"

#include "runtime/program/Message.h"

#include <map>

namespace dlc::runtime {

std::unique_ptr<LibraryCall> createBuiltinCall(const nlohmann::json &desc,
                                               std::span<const BufferInfo> buffers, int threads) {
  using Make = std::unique_ptr<LibraryCall> (*)(const builtin::Request &);
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
      {"conv_weight_grad", builtin::makeConvWeightGrad},
      {"random", builtin::makeRandom},
  };
  try {
    std::string kind = desc.value("kind", "");
    auto found = makers.find(kind);
    if (found == makers.end()) {
      std::string known;
      for (const auto &[name, make] : makers)
        known += (known.empty() ? "" : ", ") + name;
      fail("unknown built-in kernel '", kind, "'; known are ", known);
    }
    return found->second({desc, buffers, threads});
  } catch (const nlohmann::json::exception &error) {
    fail("built-in kernel: wrong description: ", error.what());
  }
}

} // namespace dlc::runtime
