//===- State.cpp - the trace in progress: parameters, constants, locations --===//
#include "frontend/trace/State.h"

#include "ir/tensor/Tensor.h"

using namespace mlir;

namespace dlc::trace {

namespace {
/// Maximum number of elements of a constant that is stored inline in the IR. Larger constants are
/// references to blobs.
constexpr int64_t smallConstant = 16;

thread_local State *currentState = nullptr;
} // namespace

Type elementTypeOf(DType dtype, MLIRContext *context) {
  Builder b(context);
  switch (dtype) {
  case DType::F32:
    return b.getF32Type();
  case DType::F16:
    return b.getF16Type();
  case DType::BF16:
    return b.getBF16Type();
  case DType::F64:
    return b.getF64Type();
  case DType::I8:
    return b.getIntegerType(8);
  case DType::I16:
    return b.getIntegerType(16);
  case DType::I32:
    return b.getIntegerType(32);
  case DType::I64:
    return b.getIntegerType(64);
  case DType::U8:
    return b.getIntegerType(8, false);
  case DType::U16:
    return b.getIntegerType(16, false);
  case DType::U32:
    return b.getIntegerType(32, false);
  case DType::U64:
    return b.getIntegerType(64, false);
  case DType::Bool:
    return b.getI1Type();
  case DType::I4:
    return b.getIntegerType(4);
  case DType::U4:
    return b.getIntegerType(4, false);
  }
  throw Error("element type " + std::to_string(int(dtype)) + " is not supported");
}

DType dtypeOf(Type element) {
  if (element.isF32())
    return DType::F32;
  if (element.isF16())
    return DType::F16;
  if (element.isBF16())
    return DType::BF16;
  if (element.isF64())
    return DType::F64;
  auto integer = cast<IntegerType>(element);
  bool u = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return DType::Bool;
  case 4:
    return u ? DType::U4 : DType::I4;
  case 8:
    return u ? DType::U8 : DType::I8;
  case 16:
    return u ? DType::U16 : DType::I16;
  case 32:
    return u ? DType::U32 : DType::I32;
  default:
    return u ? DType::U64 : DType::I64;
  }
}

std::string shapeText(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + (shape[i] == kDynamic ? "?" : std::to_string(shape[i]));
  return text + "]";
}

std::string formatLocation(const Location &location) {
  return std::string(location.file_name()) + ":" + std::to_string(location.line()) + ":" +
         std::to_string(location.column()) + ": ";
}

DiagnosticCapture::DiagnosticCapture(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (!text.empty())
          text += "; ";
        text += diagnostic.str();
        return success();
      }) {}

State::State(MLIRContext *context, func::FuncOp function, const TraceOptions &options)
    : context(context), function(function), builder(context), hasState(options.state),
      hasStarts(options.starts),
      parametersAsArguments(options.parametersAsArguments || options.state),
      training(options.training), seed(options.seed), homeDevice(options.device) {
  builder.setInsertionPointToEnd(&function.front());
  blocks.push_back(&function.front());
}

State *State::current() { return currentState; }
State::Activate::Activate(State &state) : previous(std::exchange(currentState, &state)) {}
State::Activate::~Activate() { currentState = previous; }

mlir::Location State::locate(const Location &given) const {
  Location place = outermost(given);
  mlir::Location file =
      FileLineColLoc::get(context, place.file_name(), place.line(), place.column());
  if (modulePath().empty())
    return file;
  return NameLoc::get(StringAttr::get(context, names.back()), file);
}

ElementsAttr State::elements(const Array &array, StringRef name) {
  SmallVector<int64_t> shape(array.shape.begin(), array.shape.end());
  auto type = RankedTensorType::get(shape, elementTypeOf(array.dtype, context));
  // ref::Tensor converts the elements to the storage format of attributes.
  auto tensor = ref::Tensor::borrow(type, array.data.get(), array.data);
  if (array.size() <= smallConstant)
    return tensor.toAttr();
  return tensor.toResource(name);
}

Value State::constant(const Array &array, StringRef name, mlir::Location location, bool atEntry) {
  OpBuilder::InsertionGuard guard(builder);
  if (atEntry) {
    if (lastParameter)
      builder.setInsertionPointAfter(lastParameter);
    else
      builder.setInsertionPointToStart(&function.front());
  }
  ElementsAttr value = elements(array, name);
  auto op = ConstantOp::create(builder, location, Type(value.getType()), value);
  placeConstant(op, onHome);
  if (atEntry)
    lastParameter = op;
  return op.getResult();
}

Value State::parameter(const Parameter &parameter) {
  Value value = parameterItself(parameter);
  if (replicas.empty())
    return value;
  usePlaces();
  OnAttr device = placeOf(replicas.back().device);
  Value &there = replicaValues[{value, device}];
  // Reuses the parameter's copy on the device of the replica. A copy inside a finished branch or
  // loop is not visible any more, so a new one is made.
  if (!there || !llvm::is_contained(blocks, there.getParentBlock()))
    there = moved(value, device, value.getLoc());
  return there;
}

Value State::parameterItself(const Parameter &parameter) {
  Value &value = parameterValues[{parameter.identity(), ""}];
  if (value)
    return value;
  if (parameter.device())
    usePlaces();
  mlir::Location location = NameLoc::get(StringAttr::get(context, parameter.name()));
  if (parametersAsArguments) {
    SmallVector<int64_t> shape(parameter.shape().begin(), parameter.shape().end());
    parameterArguments.push_back(function.front().getNumArguments());
    value = argument(RankedTensorType::get(shape, elementTypeOf(parameter.dtype(), context)),
                     parameter.name(), location);
    argumentParameters.push_back(parameter);
  } else {
    value = constant(parameter.value(), parameter.name(), location, true);
  }
  if (auto device = parameter.device())
    putOn(value, *device);
  return value;
}

Value State::derived(ArrayRef<Parameter> from, const std::string &suffix,
                     llvm::function_ref<Array(ArrayRef<Array>)> make) {
  Value &value = parameterValues[{from.front().identity(), suffix}];
  if (value)
    return value;
  auto device = from.front().device();
  if (device)
    usePlaces();
  SmallVector<Array> arrays;
  for (const Parameter &parameter : from)
    arrays.push_back(parameter.value());
  value = constant(make(arrays), from.front().name() + suffix,
                   NameLoc::get(StringAttr::get(context, from.front().name())), true);
  if (device)
    putOn(value, *device);
  return value;
}

} // namespace dlc::trace
