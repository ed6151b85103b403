//===- PostOps.h - parsed description of a matmul's epilogue --------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_POSTOPS_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_POSTOPS_H

#include "runtime/library/schema/Schema.h"
#include "runtime/library/simd/Post.h"

namespace dlc::describe {

/// Epilogue of a matmul, parsed from the fields "scale" and "post_ops" of its description.
struct DLC_EXPORT PostOps {
  /// Operations of the epilogue. Its operand addresses are null until a call sets them.
  simd::Epilogue epilogue;
  std::vector<std::vector<int64_t>> operandStrides;

  /// Parses the post-ops of a description, whose result has rank `rank`.
  static PostOps of(const schema::Record &fields, const std::vector<schema::PostOp> &ops,
                    double scale, size_t rank);
};

inline bool hasOperand(const simd::PostOp &post) {
  return post.kind != simd::PostOpKind::Activate && post.kind != simd::PostOpKind::Sum;
}

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_POSTOPS_H
