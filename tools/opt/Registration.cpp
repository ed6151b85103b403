//===- Registration.cpp - dialects and passes of the IR tools -------------===//
#include "tools/opt/Registration.h"

#include "codegen/Passes.h"
#include "codegen/Pipeline.h"
#include "codegen/select/KernelCosts.h"
#include "frontend/mlir/stablehlo/Import.h"
#include "ir/reference/Passes.h"
#include "passes/Passes.h"

#include "mlir/Transforms/Passes.h"

void dlc::registerToolDialects(mlir::DialectRegistry &registry) {
  registerDialects(registry);
  registerStablehloDialects(registry);
}

void dlc::registerToolPasses() {
  mlir::registerTransformsPasses();
  registerPasses([](const ModelOptions &options) {
    return createKernelCosts(resolveDefaults(CompileOptions(options)));
  });
  registerCodegenPasses(addImportPasses);
  ref::registerReferencePasses();
  registerImportPasses();
}
