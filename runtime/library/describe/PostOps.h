//===- PostOps.h - parsed description of a matmul's epilogue --------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_POSTOPS_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_POSTOPS_H

#include "runtime/library/describe/Fields.h"
#include "runtime/library/simd/Post.h"

namespace dlc::describe {

/// The fields "scale" and "post_ops" of a description.
struct DLC_EXPORT Posts {
  simd::Epilogue epilogue; ///< epilogue whose operand addresses are not set yet
  std::vector<std::vector<int64_t>> operandStrides;

  /// Reads the post-ops of a result of rank `rank`.
  static Posts read(const Fields &fields, size_t rank);
};

inline bool hasOperand(const simd::Post &post) {
  return post.kind >= simd::PostKind::Add && post.kind <= simd::PostKind::ReluGradient;
}

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_POSTOPS_H
