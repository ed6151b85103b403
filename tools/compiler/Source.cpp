//===- Source.cpp - a model file and the modules imported from it ---------===//
#include "tools/compiler/Source.h"

#include "codegen/Pipeline.h"
#include "dlc/Error.h"
#include "frontend/mlir/Import.h"
#include "frontend/table/FrontEnds.h"
#include "runtime/program/Checker.h"
#include "runtime/program/Reader.h"
#include "runtime/session/capi/ResultShape.h"
#include "tools/compiler/Diagnostics.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <span>

using namespace mlir;

namespace dlc {

Type elementTypeOf(MLIRContext &context, DType dtype) {
  Builder b(&context);
  auto unsignedType = [&](unsigned width) {
    return IntegerType::get(&context, width, IntegerType::Unsigned);
  };
  switch (dtype) {
  case DType::F32:
    return b.getF32Type();
  case DType::F16:
    return b.getF16Type();
  case DType::BF16:
    return b.getBF16Type();
  case DType::F64:
    return b.getF64Type();
  case DType::I4:
    return b.getIntegerType(4);
  case DType::U4:
    return unsignedType(4);
  case DType::I8:
    return b.getI8Type();
  case DType::I16:
    return b.getI16Type();
  case DType::I32:
    return b.getI32Type();
  case DType::I64:
    return b.getI64Type();
  case DType::U8:
    return unsignedType(8);
  case DType::U16:
    return unsignedType(16);
  case DType::U32:
    return unsignedType(32);
  case DType::U64:
    return unsignedType(64);
  case DType::Bool:
    return b.getI1Type();
  }
  return {};
}

std::optional<DType> dtypeOf(Type type) {
  if (!type)
    return std::nullopt;
  for (int i = 0; i < kDTypeCount; ++i)
    if (elementTypeOf(*type.getContext(), DType(i)) == type)
      return DType(i);
  return std::nullopt;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  if (shape.empty())
    return "0-d";
  std::string text;
  for (int64_t d : shape)
    text += (text.empty() ? "" : "x") + (d < 0 ? std::string("?") : std::to_string(d));
  return text;
}

bool ValueInfo::isStatic() const {
  return hasRank && llvm::none_of(shape, [](int64_t d) { return d < 0; });
}

std::string ValueInfo::text() const {
  std::string result = dtype ? std::string(dtypeName(*dtype)) : typeName;
  if (!hasRank)
    return result + "[...]";
  result += "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    result += i ? ", " : "";
    if (shape[i] >= 0)
      result += std::to_string(shape[i]);
    else
      result += i < symbols.size() && !symbols[i].empty() ? symbols[i] : "?";
  }
  return result + "]";
}

std::string ValueInfo::shapeRequest() const {
  std::string example, tuple;
  for (size_t i = 0; i < shape.size(); ++i) {
    std::string size = std::to_string(shape[i] < 0 ? 1 : shape[i]);
    example += (i ? "x" : "") + size;
    tuple += (i ? ", " : "") + size;
  }
  if (shape.empty()) {
    example = "1x3x224x224";
    tuple = "1, 3, 224, 224";
  }
  return "input '" + name + "': required: all sizes; found: " + text() +
         "; give its shape, as in --shape " + name + "=" + example + " (Python: shapes={'" + name +
         "': (" + tuple + (shape.size() == 1 ? ",)})" : ")})");
}

/// File extension of compiled programs (.dlcx).
static constexpr llvm::StringLiteral kProgramExtension = ".dlcx";

Source::Source(std::string path) : name(std::move(path)) {
  bool isDirectory = false;
  if (std::error_code error = llvm::sys::fs::is_directory(name, isDirectory))
    throw Error(name + ": cannot be opened: " + error.message() + "; check the path");
  if (isDirectory)
    throw Error(name + ": is a folder; required: a model file (" +
                formatExtensions(kProgramExtension) + ")");
  llvm::StringRef extension = llvm::sys::path::extension(name);
  if (extension == kProgramExtension) {
    openProgram();
    return;
  }
  form = findFrontEnd(name);
  if (!form)
    throw Error(name + ": unknown kind of model '" + extension.str() +
                "'; required: a file named " + formatExtensions(kProgramExtension) +
                "; export the model to one of these formats");
  mlirContext = std::make_shared<MLIRContext>();
  prepareContext(*mlirContext);
  DiagnosticCollector diagnostics(*mlirContext);
  FailureOr<ImportInfo> inspected = form->inspect(*mlirContext, name);
  if (failed(inspected))
    throw Error(diagnostics.take(name + ": cannot be read as a model (" + form->name.str() + ")"));
  take(std::move(*inspected));
}

/// Front end of modules that were not read from a file, such as traced modules.
static const FrontEnd kMade = {"module", {}, nullptr, importMlir};

Source::Source(std::string name, std::shared_ptr<MLIRContext> context, OwningOpRef<ModuleOp> module,
               std::shared_ptr<void> keep)
    : name(std::move(name)), form(&kMade), keep(std::move(keep)), mlirContext(std::move(context)) {
  DiagnosticCollector diagnostics(*mlirContext);
  FailureOr<ImportInfo> inspected = inspectModule(std::move(module));
  if (failed(inspected))
    throw Error(this->name + ": " + diagnostics.take("is not a model"));
  take(std::move(*inspected));
}

Source::~Source() = default;

void Source::take(ImportInfo found) {
  auto convert = [](const ImportInfo::Value &v) {
    return ValueInfo{v.name, dtypeOf(v.elementType), v.typeName, v.hasRank, v.dims, v.symbols};
  };
  llvm::transform(found.inputs, std::back_inserter(ins), convert);
  llvm::transform(found.outputs, std::back_inserter(outs), convert);
  llvm::transform(found.defaults, std::back_inserter(overridable), convert);
  for (const ImportInfo::Value &v : found.states) {
    ValueInfo state = convert(v);
    if (!state.dtype || !state.isStatic())
      throw Error(name + ": state '" + state.name +
                  "': required: a static shape and a supported type; found: " + state.text());
    kept.push_back({state.name, *state.dtype, state.shape, v.isParameter});
  }
  info = std::move(found);
}

void Source::openProgram() {
  loaded = std::make_shared<runtime::Program>(runtime::readProgram(name));
  runtime::Plan plan = runtime::checkProgram(*loaded);
  auto convert = [](std::span<const runtime::TensorInfo> list, std::vector<ValueInfo> &infos) {
    for (const runtime::TensorInfo &v : list)
      infos.push_back(
          {v.name, v.dtype, std::string(dtypeName(v.dtype)), true, runtime::dynamicShape(v), {}});
  };
  convert(plan.inputs, ins);
  convert(std::span(plan.outputs).first(plan.results()), outs);
  for (const runtime::StateInfo &v : plan.states)
    kept.push_back({v.name, v.dtype, v.shape, v.parameter});
}

void Source::requireModel(const std::string &before) const {
  if (!form)
    throw Error(before + name + ": is already compiled; required: a model (" + formatExtensions() +
                "); use the model from which it was made");
}

void Source::setWeights(const std::string &path) {
  requireModel();
  weights = runtime::readSafetensors(path);
  if (weights.metadata.count(runtime::kStateOfKey))
    std::erase_if(weights.tensors, [](const auto &entry) {
      llvm::StringRef tensor = entry.first;
      return tensor == "step" || tensor.starts_with("optimizer.") ||
             tensor.starts_with("loss_scale");
    });
}

OwningOpRef<ModuleOp> Source::import(MLIRContext &context, ImportOptions options,
                                     std::vector<std::string> &needed) {
  requireModel();
  for (const auto &[weight, value] : weights.tensors)
    options.weights[weight] =
        ref::Tensor::borrow(RankedTensorType::get(value.shape, elementTypeOf(context, value.dtype)),
                            value.data.data, value.data.owner);
  DiagnosticCollector diagnostics(context);
  // The inspected file's `info` stays unchanged: this import updates a copy.
  ImportInfo found = info;
  auto imported = form->import(context, name, options, &found);
  if (succeeded(imported))
    return std::move(*imported);
  needed = found.neededValues;
  // Removes the inputs that the caller has given: the importer lists all inputs whose values it
  // used. If none remain, missing values are not the cause of the failure.
  llvm::erase_if(needed,
                 [&](const std::string &input) { return options.values.count(input) != 0; });
  if (needed.empty())
    throw Error(diagnostics.take(name + ": cannot be imported"));
  return nullptr;
}

OwningOpRef<ModuleOp> Source::module(const Shapes &shapes, const Values &values,
                                     std::vector<std::string> &needed, int nchwcBlock,
                                     std::function<bool(llvm::StringRef)> keeps) {
  requireModel();
  ImportOptions options;
  options.nchwcBlock = nchwcBlock;
  options.shapes = shapes;
  options.keeps = std::move(keeps);
  for (const auto &[input, array] : values) {
    auto type = RankedTensorType::get(array.shape, elementTypeOf(*mlirContext, array.dtype));
    // The input value becomes a constant of the program. It is copied, because the caller may
    // change its memory.
    runtime::Span copy = runtime::copyToOwnedSpan(array.data.data, array.data.bytes);
    options.values[input] = ref::Tensor::borrow(type, copy.data, copy.owner);
  }
  return import(*mlirContext, std::move(options), needed);
}

OwningOpRef<ModuleOp> Source::trainingModule(MLIRContext &context, const Shapes &shapes,
                                             uint64_t seed, int nchwcBlock,
                                             std::vector<std::string> &needed) {
  ImportOptions options;
  options.shapes = shapes;
  options.training = true;
  options.nchwcBlock = nchwcBlock;
  options.seed = seed;
  return import(context, std::move(options), needed);
}

Shapes Source::complete(const Shapes &given,
                        const std::function<int64_t(const ValueInfo &, size_t)> &open) const {
  Shapes result;
  for (const auto &[input, shape] : given) {
    auto isNamed = [&](const ValueInfo &v) { return v.name == input; };
    auto found = llvm::find_if(ins, isNamed);
    const bool isDefault = found == ins.end();
    if (isDefault)
      found = llvm::find_if(overridable, isNamed);
    if (isDefault && found == overridable.end()) {
      std::string known;
      for (const ValueInfo &v : ins)
        known += (known.empty() ? "" : ", ") + v.name + " " + v.text();
      throw Error(name + ": there is no input '" + input +
                  "'; the inputs are: " + (known.empty() ? "none" : known));
    }
    bool fits = !found->hasRank || found->shape.size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d)
      fits =
          shape[d] >= 0 && (!found->hasRank || found->shape[d] < 0 || found->shape[d] == shape[d]);
    if (!fits)
      throw Error(name + ": input '" + input + "': required: " + found->text() +
                  "; found: the shape " + shapeText(shape) +
                  "; correct it, or export the model with other sizes");
    if (isDefault)
      result[input] = shape;
  }
  for (const ValueInfo &v : ins) {
    if (auto found = given.find(v.name); found != given.end()) {
      result[v.name] = found->second;
      continue;
    }
    if (!v.isStatic() && (!v.hasRank || !open))
      throw Error(name + ": " + v.shapeRequest());
    result[v.name] = v.shape;
    for (size_t d = 0; d < v.shape.size(); ++d)
      if (v.shape[d] < 0)
        result[v.name][d] = open(v, d);
  }
  return result;
}

} // namespace dlc
