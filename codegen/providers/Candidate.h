//===- Candidate.h - one possible implementation of an operation ----------===//
#ifndef DLC_CODEGEN_PROVIDERS_CANDIDATE_H
#define DLC_CODEGEN_PROVIDERS_CANDIDATE_H

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>
#include <string>
#include <vector>

namespace dlc {

struct Candidate {
  std::string kernel;         ///< name of the provider
  std::string implementation; ///< name of the provider's kernel, as shown to users and in databases
  /// Parameters with which the provider recreates this kernel; null if it has only one kernel.
  mlir::DictionaryAttr parameters = {};
  double estimate = 0; ///< estimated time in microseconds
  std::optional<double> measured = {};
  double error = -1; ///< measured error of the results relative to the f64 reference; -1: unknown
  int64_t workspace = 0; ///< bytes of scratch memory that the library requires
  /// Whether this is a slow reference implementation, which is dropped if there are other
  /// candidates.
  bool isReference = false;

  double time() const { return measured.value_or(estimate); }
  bool isSame(const Candidate &other) const {
    return kernel == other.kernel && implementation == other.implementation;
  }
};

/// Writes the chosen kernel (the first candidate) and all candidates as attributes of the
/// operation.
void writeCandidates(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates);
/// Returns the candidates stored on the operation; empty if no kernel was selected for it.
std::vector<Candidate> readCandidates(mlir::Operation *op);
/// Returns one line of text for each candidate.
std::vector<std::string> formatCandidates(llvm::ArrayRef<Candidate> candidates);

/// Removes the attributes of the chosen kernel and of the candidates from the operation, but not
/// kRefusedAttr.
void clearChoice(mlir::Operation *op);

} // namespace dlc
#endif
