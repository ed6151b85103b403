//===- GpuLibrary.h - common base of the GPU vendor libraries -------------===//
#ifndef DLC_CODEGEN_PROVIDERS_GPU_GPULIBRARY_H
#define DLC_CODEGEN_PROVIDERS_GPU_GPULIBRARY_H

#include "codegen/machine/Gpu.h"
#include "codegen/providers/Provider.h"
#include "runtime/device/cuda/Loader.h"
#include "runtime/library/schema/Schema.h"

namespace dlc {

/// Returns the cost-model parameters of the target GPU, or those of a common GPU if the target is
/// unavailable.
GpuCostParameters getGpuCostParameters(const CandidateCollector &collector);
/// Peak gigaflops of matmuls with operands of this type at the GPU's clock rate.
double getArithmeticRate(const GpuCostParameters &gpu, llvm::StringRef element, bool tf32);
/// Microseconds of overhead of a kernel in a CUDA graph, added to its execution time.
constexpr double kGpuLaunch = 2.5;

/// Provider for a library that offers several implementations of a call, numbered from 1.
class GpuLibrary : public Provider {
public:
  using Choice = schema::Maybe<schema::Size> schema::GpuChoice::*;

  /// `number`: key of the implementation's number in dlc.parameters; `choice`: its field in a call
  /// description.
  GpuLibrary(const About &about, llvm::StringLiteral number, Choice choice, cuda::Library library)
      : Provider(about), number(number), choice(choice), library(library) {}

  void propose(CandidateCollector &collector) const override;
  std::optional<LibraryCall> call(mlir::Operation *op, mlir::DictionaryAttr parameters, int threads,
                                  std::string *why) const override;

protected:
  /// Returns the sizes of the call's contraction and the rate that the library reaches for it.
  virtual GpuMatmulSizes getMatmulSizes(const LibraryCall &call,
                                        const GpuCostParameters &gpu) const = 0;
  virtual std::optional<LibraryCall> describe(mlir::Operation *op, std::string *why) const = 0;
  /// Returns true if the library on `device` supports the call. May adjust the call's cost factor
  /// to correct the estimate.
  virtual bool supports(const std::string &device, LibraryCall &call, std::string *why) const {
    return true;
  }

private:
  llvm::StringLiteral number;
  Choice choice;
  cuda::Library library;
};

} // namespace dlc
#endif
