//===- Parse.h - what descriptions of products have in common -------------------===//
#ifndef DLC_RUNTIME_LIBRARY_PRODUCTS_PARSE_H
#define DLC_RUNTIME_LIBRARY_PRODUCTS_PARSE_H

#include "runtime/library/products/Panel.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace dlc::products {

inline int64_t upTo(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
inline int64_t blocksOf(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }

/// All throw dlc::Error.
int64_t sizeOf(const nlohmann::json &desc, const char *name);
void sizesOf(const nlohmann::json &desc, const char *name, size_t count, int64_t least,
             int64_t *to);
std::vector<int64_t> stridesOf(const nlohmann::json &value, size_t rank, const char *what);
int partsOf(const nlohmann::json &desc);

struct Posts {
  Epilogue epilogue; ///< without addresses
  std::vector<std::vector<int64_t>> operandStrides;
};
/// The post-ops of a result whose strides are `rank` many, after a sum of k products.
Posts postsOf(const nlohmann::json &desc, size_t rank, int64_t k);

inline bool hasOperand(const Post &post) {
  return post.kind >= PostKind::Add && post.kind <= PostKind::ReluGradient;
}

} // namespace dlc::products

#endif // DLC_RUNTIME_LIBRARY_PRODUCTS_PARSE_H
