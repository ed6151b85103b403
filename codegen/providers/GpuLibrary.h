//===- GpuLibrary.h - what vendors' libraries on GPUs have in common -------===//
#ifndef DLC_CODEGEN_PROVIDERS_GPULIBRARY_H
#define DLC_CODEGEN_PROVIDERS_GPULIBRARY_H

#include "codegen/machine/Gpu.h"
#include "codegen/providers/Provider.h"
#include "runtime/device/cuda/Loader.h"

namespace dlc {

/// What is known of the GPU that the proposals are for; a common one where it is not here.
GpuFigures gpuOf(const Proposals &proposals);
/// Gigaflops of products whose operands have this type, as the clock allows.
double gpuRate(const GpuFigures &gpu, llvm::StringRef element, bool tf32);
/// Microseconds of a kernel in a graph, beside its work.
constexpr double kGpuLaunch = 2.5;

/// A library that proposes several ways to do a call, numbered from 1.
class GpuLibrary : public Provider {
public:
  /// `number`: what the way is called in a description.
  GpuLibrary(const About &about, llvm::StringLiteral number, cuda::Library library)
      : Provider(about), number(number), library(library) {}

  void propose(Proposals &proposals) const override;
  std::optional<LibraryCall> call(mlir::Operation *op, mlir::DictionaryAttr parameters, int threads,
                                  std::string *why) const override;

protected:
  /// What the call multiplies, at the rate that the library reaches.
  virtual GpuProduct productOf(const LibraryCall &call, const GpuFigures &gpu) const = 0;
  virtual std::optional<LibraryCall> describe(mlir::Operation *op, std::string *why) const = 0;
  /// Whether the device's library has a way to do it; how fast that is it may say in the call's
  /// effort.
  virtual bool takes(const std::string &device, LibraryCall &call, std::string *why) const {
    return true;
  }

private:
  llvm::StringLiteral number;
  cuda::Library library;
};

} // namespace dlc
#endif
