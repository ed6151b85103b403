//===- ContractKernel.h - a generated matmul kernel as a function, for tests ----===//
#ifndef DLC_TEST_CODEGEN_CONTRACTKERNEL_H
#define DLC_TEST_CODEGEN_CONTRACTKERNEL_H

#include "codegen/cpu/contract/Contract.h"
#include "runtime/device/cpu/Parallel.h"
#include "test/codegen/Jit.h"

#include <cstdlib>
#include <memory>
#include <vector>

namespace dlc::test {

/// Description of a matmul without MLIR types.
struct Product {
  int64_t m, n, k;
  std::vector<cpu::BatchDim> batch;
  bool transposeA = false, transposeB = false, packedB = false, packedA = false;
  /// Element types. f: f32, b: bf16, h: f16, d: f64, c: i8, u: ui8; for packed operands also i: i32
  /// with values of at most 9 bits.
  char typeA = 'f', typeB = 'f';
  int32_t zeroA = 0, zeroB = 0; ///< zero points of integer operands
  /// Number of padding elements after each row.
  int64_t padA = 0, padB = 0, padC = 0;
  bool biasAndRelu = false; ///< uses a fourth buffer with the bias

  bool sumsIntegers() const { return typeA == 'c' || typeA == 'u' || typeA == 'i'; }
  int64_t leadingA() const { return (transposeA ? m : k) + padA; }
  int64_t leadingB() const { return (transposeB ? k : n) + padB; }
  int64_t leadingC() const { return n + padC; }
};

/// Compiled matmul kernel. Its buffers are A, B (packed if requested), C and the bias.
class ContractKernel {
public:
  ContractKernel(const Product &product, const cpu::Target &target = cpu::hostTarget());
  void operator()(const void *a, const void *b, void *c, const void *bias = nullptr,
                  int threads = 1) const;
  /// Packs the operand that the kernel expects packed, A or B, with the alignment of a program's
  /// constants.
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> pack(const void *a, const void *b) const;

  cpu::ContractPlan plan;
  size_t codeBytes() const { return kernel->codeBytes(); }

private:
  Product product;
  std::unique_ptr<Kernel> kernel;
};

} // namespace dlc::test

#endif // DLC_TEST_CODEGEN_CONTRACTKERNEL_H
