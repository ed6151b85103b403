//===- Candidates.h - all kernels that could do an operation --------------===//
#ifndef DLC_CODEGEN_SELECT_CANDIDATES_H
#define DLC_CODEGEN_SELECT_CANDIDATES_H

#include "codegen/Pipeline.h"
#include "codegen/select/Cost.h"

namespace dlc {

struct Candidate {
  std::string kernel; ///< builtin, onednn, generated, contract, cuda, cublaslt, cudnn: who makes it
  std::string implementation; ///< which of the provider's; what people see
  double estimate = 0;        ///< microseconds
  std::optional<double> measured;
  double error = -1;        ///< measured, against f64; -1: unknown
  int64_t workspace = 0;    ///< bytes of scratch memory that a library asks for
  bool isReference = false; ///< a library's last resort, and ours: it stands alone, or not at all

  double time() const { return measured.value_or(estimate); }
};

/// What stood for election for each operation, the choice first.
using Choices = llvm::DenseMap<mlir::Operation *, std::vector<Candidate>>;

/// Who can do it, the cheapest by estimate first. `refusals` gets why others cannot. With `every`,
/// library providers give all implementations worth a measurement, not only the one that they
/// prefer; `generated`: and who generates code.
std::vector<Candidate> candidatesFor(mlir::Operation *op, const CompileOptions &options,
                                     const cpu::Target &target, bool every, std::string &refusals,
                                     bool generated = true);

/// The same for an operation on a GPU.
std::vector<Candidate> gpuCandidatesFor(mlir::Operation *op, llvm::StringRef device, bool every,
                                        std::string &refusals);

/// Whether the kernel's provider has several ways, told apart by the implementation's name.
bool hasImplementations(llvm::StringRef kernel);

/// Takes those out that want more scratch memory than the options allow, where others stay.
void boundWorkspace(std::vector<Candidate> &candidates, const CompileOptions &options,
                    std::string &refusals);

/// Puts those in front that `options.kernels` asks for; the order is otherwise kept.
void preferKernels(std::vector<Candidate> &candidates, llvm::StringRef kernels);

/// Writes the choice (the first) and the election on the operation.
void writeChoice(mlir::Operation *op, llvm::ArrayRef<Candidate> candidates);
/// Whether that was the choice.
bool runsOn(mlir::Operation *op, llvm::StringRef kernel);

} // namespace dlc
#endif
