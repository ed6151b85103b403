//===- Inputs.cpp - a model's inputs and its sparse initializers ----------===//
#include "frontend/onnx/Importer.h"

using namespace mlir;

namespace dlc::onnxfront {

Type Importer::inputType(const onnx::ValueInfoProto &input, Build &b) {
  const onnx::TypeProto *declared = &input.type();
  // A graph input of optional type is imported as the value that the optional contains.
  if (declared->has_optional_type())
    declared = &declared->optional_type().elem_type();
  std::string what = "input '" + input.name() + "' ";
  if (!declared->has_tensor_type()) {
    b.error(what + "is not a tensor; the inputs of a program must be tensors");
    return {};
  }
  const auto &tensor = declared->tensor_type();
  Type element = toElementType(tensor.elem_type(), &context);
  if (!element) {
    b.error(
        what + "has the element type " + dataTypeName(tensor.elem_type()) +
        ", which is not supported; dlc has f16, bf16, f32, f64, bool and integers of 4 to 64 bits");
    return {};
  }
  Dims dims;
  std::string symbolic;
  for (int i = 0; i < tensor.shape().dim_size(); ++i) {
    const auto &dim = tensor.shape().dim(i);
    // Some exporters write a negative size for a dynamic dimension.
    const bool isStatic = dim.has_dim_value() && dim.dim_value() >= 0;
    dims.push_back(isStatic ? dim.dim_value() : -1);
    if (!isStatic && symbolic.empty())
      symbolic = "dimension " + std::to_string(i) +
                 (dim.dim_param().empty() ? "" : " ('" + dim.dim_param() + "')");
  }
  const Dims *given = nullptr;
  Dims ofValue;
  if (auto it = options.shapes.find(input.name()); it != options.shapes.end())
    given = &it->second;
  if (auto it = options.values.find(input.name()); it != options.values.end()) {
    ofValue = it->second.getShape().vec();
    given = &ofValue;
    if (it->second.getElementType() != element) {
      b.error(what +
              "has another element type than the value that is given for it; convert the value");
      return {};
    }
  }
  if (given) {
    auto text = [](const Dims &dims) {
      std::string out;
      for (int64_t d : dims)
        out += (out.empty() ? "" : "x") + (d < 0 ? std::string("?") : std::to_string(d));
      return "[" + out + "]";
    };
    bool fits = !tensor.has_shape() || given->size() == dims.size();
    for (size_t i = 0; fits && tensor.has_shape() && i < dims.size(); ++i)
      fits = dims[i] < 0 || dims[i] == (*given)[i];
    for (int64_t d : *given)
      fits &= d >= 0;
    if (!b.require(fits, what + "has the declared shape " + text(dims) +
                             ", which the given shape " + text(*given) + " contradicts"))
      return {};
    dims = *given;
  } else if (!tensor.has_shape() || !symbolic.empty()) {
    b.error(what + (tensor.has_shape() ? "has the dynamic " + symbolic : "has no declared shape") +
            "; give its shape, as by --shape " + input.name() + "=1x3x224x224");
    return {};
  }
  int64_t n = 1;
  for (int64_t d : dims) {
    if (!b.require(d >= 0 && (d == 0 || n <= Build::countLimit / d),
                   what + "has an invalid or too large shape"))
      return {};
    n *= std::max<int64_t>(d, 1);
  }
  return RankedTensorType::get(dims, element);
}

Value Importer::sparse(const onnx::SparseTensorProto &sparse, Build &b) {
  std::string reason;
  auto values = modelFile.tensor(sparse.values(), &context, reason);
  if (failed(values))
    return b.error("the values of a sparse tensor: " + reason);
  auto indices = modelFile.tensor(sparse.indices(), &context, reason);
  if (failed(indices))
    return b.error("the indices of a sparse tensor: " + reason);
  Dims dims(sparse.dims().begin(), sparse.dims().end());
  int64_t n = 1;
  for (int64_t d : dims) {
    if (!b.require(d >= 0 && (d == 0 || n <= (int64_t(1) << 28) / d),
                   "a sparse tensor has an invalid or too large shape"))
      return {};
    n *= d;
  }
  auto result = ref::Tensor::empty(RankedTensorType::get(dims, values->getElementType()));
  bool flat = indices->getRank() == 1;
  int64_t r = int64_t(dims.size());
  if (!b.require(
          values->getRank() == 1 && indices->getElementType().isInteger(64) &&
              indices->size() == values->size() * (flat ? 1 : r),
          "a sparse tensor's indices must be i64, one (or one per dimension) for each value"))
    return {};
  Dims strides = ref::rowMajorStrides(dims);
  for (int64_t i = 0; i < values->size(); ++i) {
    int64_t at = flat ? indices->getInt(i) : 0;
    bool inside = true;
    for (int64_t d = 0; !flat && d < r; ++d) {
      int64_t index = indices->getInt(i * r + d);
      inside &= index >= 0 && index < dims[d];
      at += index * strides[d];
    }
    if (!b.require(inside && at >= 0 && at < n, "a sparse tensor's index is out of range"))
      return {};
    result.isFloat() ? result.setDouble(at, values->getDouble(i))
                     : result.setInt(at, values->getInt(i));
  }
  return b.constant(result, sparse.values().name());
}

} // namespace dlc::onnxfront
