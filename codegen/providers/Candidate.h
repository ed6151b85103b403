//===- Candidate.h - one way to do an operation ---------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_CANDIDATE_H
#define DLC_CODEGEN_PROVIDERS_CANDIDATE_H

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>
#include <string>
#include <vector>

namespace dlc {

/// What selection leaves on an operation: the name of the provider that was chosen, ..
constexpr llvm::StringLiteral kKernelAttr = "dlc.kernel";
/// .. its parameters, where it has any, ..
constexpr llvm::StringLiteral kParametersAttr = "dlc.parameters";
/// .. all that stood for election, the choice first, ..
constexpr llvm::StringLiteral kCandidatesAttr = "dlc.candidates";
/// .. and why the kernels that were asked for by name cannot do it.
constexpr llvm::StringLiteral kRefusedAttr = "dlc.refused";

struct Candidate {
  std::string kernel;         ///< the provider's name
  std::string implementation; ///< which of its kernels; what people and tuning databases see
  /// What the provider needs to make this kernel again; null where it has one way only.
  mlir::DictionaryAttr parameters = {};
  double estimate = 0; ///< microseconds
  std::optional<double> measured = {};
  double error = -1;        ///< measured, against f64; -1: unknown
  int64_t workspace = 0;    ///< bytes of scratch memory that a library asks for
  bool isReference = false; ///< a library's last resort, and ours: it stands alone, or not at all

  double time() const { return measured.value_or(estimate); }
  bool isSame(const Candidate &other) const {
    return kernel == other.kernel && implementation == other.implementation;
  }
};

/// Writes the choice (the first) and the election on the operation.
void writeCandidates(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates);
/// The election, as it was written; empty where the operation took part in none.
std::vector<Candidate> candidatesOf(mlir::Operation *op);
/// A line about each for people.
std::vector<std::string> linesOf(llvm::ArrayRef<Candidate> candidates);

/// Takes off what selection wrote.
void clearChoice(mlir::Operation *op);

} // namespace dlc
#endif
