//===- Grouped.cpp - grouped matmuls as calls of dlc's own kernels --------===//
#include "codegen/providers/kernels/Grouped.h"

#include "runtime/library/products/Grouped.h"

using namespace mlir;

namespace dlc {

namespace {

/// Returns an argument for constant matrices [G, K, N] ([G, N, K] if `transposed`), which are
/// packed during lowering.
CallArgument packedMatrices(const ref::Tensor &plain, bool transposed,
                            const schema::Grouped &fields, const MatmulKernel &kernel,
                            const products::KernelConfig &config) {
  int64_t groups = fields.groups, k = fields.k, n = fields.n;
  DType dtype = fields.dtype;
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
  schema::Grouped fields;
  fields.kind = product ? schema::GroupedKind::Product : schema::GroupedKind::Gradient;
  fields.rows = rows, fields.groups = groups, fields.k = k, fields.n = n;
  fields.dtype = *parseDType(elementName(a.getElementType()));
  fields.index = *parseDType(elementName(ends.getElementType()));
  call.flops = 2.0 * double(rows) * double(k) * double(n);
  call.addValue(op->getOperand(0));
  if (product)
    fields.b = product.getTransposeB() ? schema::Matrices::Columns : schema::Matrices::Rows;
  ConstantOp constant = product ? constantOf(product.getB()) : ConstantOp();
  auto plain = constant && config && mustPackMatrices(fields, *config)
                   ? ref::Tensor::fromAttr(constant.getValue())
                   : FailureOr<ref::Tensor>(failure());
  if (succeeded(plain))
    fields.b = schema::Matrices::Packed;
  // Only the matrices of non-empty groups are read, so at most one matrix per row.
  double share = groups > 0 ? std::min(1.0, double(rows) / double(groups)) : 0;
  if (succeeded(plain))
    call.add(packedMatrices(*plain, product.getTransposeB(), fields, kernel, *config),
             share * double(groups) * double(config->packedBytes(k, n)));
  else
    call.add({CallArgument::Kind::Value, op->getOperand(1)},
             (product ? share : 1) * double(storageBytes(right)));
  call.addValue(op->getOperand(2));
  call.addResult(0, result);
  call.desc = fields.toJson();
  if (!kernel.parameters.is_null())
    call.desc.update(kernel.parameters);
  return call;
}

bool mustPackMatrices(const schema::Grouped &fields, const products::KernelConfig &config) {
  return fields.b == schema::Matrices::Rows ||
         (fields.b == schema::Matrices::Columns &&
          !products::canReadColumnsInPlace(config, fields.dtype, fields.k, fields.n));
}

double getRowsPerGroup(const schema::Grouped &fields) {
  double rows = double(fields.rows), groups = double(fields.groups);
  return std::max(1.0, rows / std::max(1.0, groups));
}

} // namespace dlc
