//===- GpuLibrary.h - what vendors' libraries on GPUs have in common -------===//
#ifndef DLC_CODEGEN_PROVIDERS_GPULIBRARY_H
#define DLC_CODEGEN_PROVIDERS_GPULIBRARY_H

#include "codegen/providers/Provider.h"
#include "passes/place/Cost.h"
#include "runtime/device/cuda/Loader.h"

namespace dlc {

/// What is known of the GPU that the proposals are for.
DeviceFigures gpuFigures(const Proposals &proposals);

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
