//===- Candidate.h - one possible implementation of an operation ----------===//
#ifndef DLC_CODEGEN_PROVIDERS_CANDIDATE_H
#define DLC_CODEGEN_PROVIDERS_CANDIDATE_H

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>
#include <string>
#include <vector>

namespace dlc {

/// Attributes that kernel selection sets on an operation: the name of the chosen provider, ..
constexpr llvm::StringLiteral kKernelAttr = "dlc.kernel";
/// .. the kernel's parameters, if it has any, ..
constexpr llvm::StringLiteral kParametersAttr = "dlc.parameters";
/// .. all candidates, with the chosen one first, ..
constexpr llvm::StringLiteral kCandidatesAttr = "dlc.candidates";
/// .. and why the kernels requested by --kernels cannot implement the operation.
constexpr llvm::StringLiteral kRefusedAttr = "dlc.refused";

struct Candidate {
  std::string kernel;         ///< the provider's name
  std::string implementation; ///< the provider's kernel, as shown to users and in databases
  /// What the provider needs to make this kernel again; null if it has only one kernel.
  mlir::DictionaryAttr parameters = {};
  double estimate = 0; ///< microseconds
  std::optional<double> measured = {};
  double error = -1;        ///< measured error relative to f64; -1: unknown
  int64_t workspace = 0;    ///< bytes of scratch memory that the library requires
  bool isReference = false; ///< slow reference implementation, dropped if others exist

  double time() const { return measured.value_or(estimate); }
  bool isSame(const Candidate &other) const {
    return kernel == other.kernel && implementation == other.implementation;
  }
};

/// Writes the choice (the first candidate) and all candidates as attributes of the operation.
void writeCandidates(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates);
/// Returns the candidates stored on the operation; empty if no kernel was selected for it.
std::vector<Candidate> candidatesOf(mlir::Operation *op);
/// Returns one line of text for each candidate.
std::vector<std::string> linesOf(llvm::ArrayRef<Candidate> candidates);

/// Removes the choice and the candidates from the operation, but not kRefusedAttr.
void clearChoice(mlir::Operation *op);

} // namespace dlc
#endif
