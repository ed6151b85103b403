//===- Grouped.cpp - grouped matmuls as calls of dlc's own kernels --------===//
#include "codegen/providers/kernels/Grouped.h"

#include "runtime/library/products/Grouped.h"

using namespace mlir;

namespace dlc {

using nlohmann::json;

namespace {

DType dtypeOf(const json &desc) { return desc["dtype"] == "bf16" ? DType::BF16 : DType::F32; }

/// Returns an argument for constant matrices [G, K, N] ([G, N, K] if `transposed`), which are
/// packed during lowering.
CallArgument packedMatrices(const ref::Tensor &plain, bool transposed, const json &desc,
                            const MatmulKernel &kernel, const products::KernelConfig &config) {
  int64_t groups = desc["groups"], k = desc["k"], n = desc["n"];
  DType dtype = dtypeOf(desc);
  std::string layout = std::string(kernel.library) + ":" + kernel.parameters.dump() + ":" +
                       std::to_string(groups) + "x" + std::to_string(k) + "x" + std::to_string(n);
  return makePackedArgument(groups * int64_t(config.packedBytes(k, n)), layout, [=](void *to) {
    products::packMatrices(config, plain.data(), dtype, transposed, groups, k, n, to);
  });
}

} // namespace

std::optional<LibraryCall> groupedProduct(Operation *op, const MatmulKernel &kernel,
                                          const products::KernelConfig *config,
                                          const Refusal &refuse) {
  RankedTensorType a = typeOf(op->getOperand(0)), right = typeOf(op->getOperand(1)),
                   ends = typeOf(op->getOperand(2)), result = typeOf(op->getResult(0));
  for (RankedTensorType type : {a, right, ends, result})
    if (!layoutOf(type).empty() || !type.hasStaticShape())
      return refuse("an operand is not row-major");
  auto product = dyn_cast<GroupedMatmulOp>(op);
  int64_t rows = a.getDimSize(0), k = a.getDimSize(1), n = result.getShape().back(),
          groups = ends.getDimSize(0);
  LibraryCall call;
  call.library = kernel.library;
  call.implementation = kernel.implementation;
  call.desc = {{"kind", product ? "grouped_product" : "grouped_gradient"},
               {"rows", rows},
               {"groups", groups},
               {"k", k},
               {"n", n},
               {"dtype", elementName(a.getElementType())},
               {"index", elementName(ends.getElementType())}};
  if (!kernel.parameters.is_null())
    call.desc.update(kernel.parameters);
  call.flops = 2.0 * double(rows) * double(k) * double(n);
  call.addValue(op->getOperand(0));
  if (product)
    call.desc["b"] = product.getTransposeB() ? "columns" : "rows";
  ConstantOp constant = product ? constantOf(product.getB()) : ConstantOp();
  auto plain = constant && config && mustPackMatrices(call.desc, *config)
                   ? ref::Tensor::fromAttr(constant.getValue())
                   : FailureOr<ref::Tensor>(failure());
  if (succeeded(plain))
    call.desc["b"] = "packed";
  // Only the matrices of non-empty groups are read, so at most one matrix per row.
  double share = groups > 0 ? std::min(1.0, double(rows) / double(groups)) : 0;
  if (succeeded(plain))
    call.add(packedMatrices(*plain, product.getTransposeB(), call.desc, kernel, *config),
             share * double(groups) * double(config->packedBytes(k, n)));
  else
    call.add({CallArgument::Kind::Value, op->getOperand(1)},
             (product ? share : 1) * double(storageBytes(right)));
  call.addValue(op->getOperand(2));
  call.addResult(0, result);
  return call;
}

bool mustPackMatrices(const json &desc, const products::KernelConfig &config) {
  return desc["b"] == "rows" ||
         (desc["b"] == "columns" &&
          !products::canReadColumnsInPlace(config, dtypeOf(desc), desc["k"], desc["n"]));
}

double getRowsPerGroup(const LibraryCall &call) {
  double rows = call.desc["rows"], groups = call.desc["groups"];
  return std::max(1.0, rows / std::max(1.0, groups));
}

} // namespace dlc
