//===- Variables.cpp - state of a program between runs, and inputs added while tracing --===//
#include "frontend/trace/Parameter.h"
#include "frontend/trace/RankPart.h"
#include "ir/dlc/Attributes.h"

using namespace mlir;

namespace dlc::trace {

static constexpr char counterName[] = "step";

Value State::argument(Type type, const std::string &name, mlir::Location location) {
  if (name.empty() || !argumentNames.insert(name).second)
    throw Error("inputs, parameters and variables must have unique names; found '" + name +
                (name.empty() ? "': make the parameter part of a module"
                              : "' twice: put modules with the same names into one parent module"));
  lateArguments.emplace_back(function.front().getNumArguments(), name);
  return function.front().addArgument(placed(type), location);
}

ElementsAttr State::startOf(const Parameter &parameter, RankedTensorType type) {
  // If all elements have the same initial value, it becomes a splat and the elements are never
  // allocated.
  std::optional<double> number = getConstantInit(parameter);
  if (!number)
    return elements(parameter.value(), parameter.name());
  if (*number == 0)
    return {};
  Type element = type.getElementType();
  if (isa<FloatType>(element))
    return DenseElementsAttr::get(type, FloatAttr::get(element, *number).getValue());
  return DenseElementsAttr::get(
      type, APInt(element.getIntOrFloatBitWidth(), uint64_t(int64_t(*number)), false, true));
}

Value State::start(const Parameter &parameter) {
  for (auto [position, each] : llvm::zip_equal(parameterArguments, argumentParameters))
    if (each.identity() == parameter.identity())
      return function.front().getArgument(position);
  return this->parameter(parameter);
}

void State::assign(const Parameter &parameter, Value value) {
  this->parameter(parameter);
  parameterValues[{parameter.identity(), ""}] = value;
  for (const Parameter &each : assigned)
    if (each.identity() == parameter.identity())
      return;
  assigned.push_back(parameter);
}

void State::recordClassIndices(Value value, int64_t count, std::optional<int64_t> ignored) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasTrait<ViewLike>() && !isa<CastOp>(op))
      return;
    value = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(value);
  if (argument.getOwner() != &function.front())
    return;
  classNotes.emplace_back(argument.getArgNumber(), kClassesAttr, count);
  if (ignored)
    classNotes.emplace_back(argument.getArgNumber(), kIgnoredAttr, *ignored);
}

void State::finish(SmallVectorImpl<Value> &results, SmallVectorImpl<std::string> &names) {
  if (Parameter counter = variable(counterName);
      counter && llvm::none_of(assigned, [&](const Parameter &each) {
        return each.identity() == counter.identity();
      })) {
    ApiCall call("step_count", Location());
    Operand before(counter);
    assign(counter,
           call.make<AddOp>({call.value(before), call.integerNumber(builder.getI64Type(), 1)}));
  }
  for (const Parameter &parameter : assigned) {
    results.push_back(this->parameter(parameter));
    names.push_back(parameter.name());
  }
}

DictionaryAttr State::describeShares(const Shares &given) {
  SmallVector<Attribute> parts;
  for (const auto &[name, shape] : given.parts)
    parts.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("name", builder.getStringAttr(name)),
         builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(shape))}));
  return builder.getDictionaryAttr({builder.getNamedAttr("of", builder.getI64IntegerAttr(given.of)),
                                    builder.getNamedAttr("parts", builder.getArrayAttr(parts))});
}

void State::describeArguments() {
  for (const auto &[position, attribute, number] : classNotes)
    function.setArgAttr(position, attribute, builder.getI64IntegerAttr(number));
  for (const auto &[position, name] : lateArguments)
    function.setArgAttr(position, kNameAttr, builder.getStringAttr(name));
  for (auto [position, parameter] : llvm::zip_equal(parameterArguments, argumentParameters)) {
    if (!hasState || !parameter.isBuffer())
      function.setArgAttr(position, kParameterAttr, builder.getUnitAttr());
    if (!hasState)
      continue;
    function.setArgAttr(position, kStateAttr, builder.getUnitAttr());
    if (auto share = shares.find(parameter.name()); share != shares.end())
      function.setArgAttr(position, kSharesAttr, describeShares(share->second));
    auto type = cast<RankedTensorType>(function.front().getArgument(position).getType());
    // The initial value of a variable is always stored in the program, because it is stored nowhere
    // else. It is a single number.
    bool starts = hasStarts || parameter.isVariable();
    if (ElementsAttr start = starts ? startOf(parameter, type) : ElementsAttr())
      function.setArgAttr(position, kInitAttr, start);
  }
}

void assign(const Parameter &parameter, const Operand &value) {
  Operand target(parameter, value.location);
  ApiCall call("assign", {&target, &value});
  State &state = call.state();
  if (!state.hasState)
    call.fail("parameter '", parameter.name(),
              "' is a constant in this trace; trace with the option {.state = true}");
  if (state.blocks.size() != 1)
    call.fail(
        "parameter '", parameter.name(),
        "' cannot be assigned inside a branch or loop; return its new value and assign it outside");
  if ((!state.replicas.empty() && !state.replicas.back().isFirst) ||
      (state.rankPart && !state.rankPart->keepsState()))
    return;
  Value given = call.value(value);
  Type wanted = state.parameterItself(parameter).getType();
  if (auto tensor = cast<RankedTensorType>(wanted);
      state.hasPlaces() && (tensor.getRank() == 0 || !state.replicas.empty()))
    given = state.moved(given, cast<OnAttr>(tensor.getEncoding()), call.loc());
  if (given.getType() != wanted)
    call.fail("the value of '", parameter.name(), "' must be ", wanted, "; found ", given.getType(),
              "; cast, reshape or move it");
  state.assign(parameter, given);
}

Parameter variable(const std::string &name, Shape shape, DType dtype, double start,
                   Location location) {
  ApiCall call("variable", location);
  if (!call.state().hasState)
    call.fail("'", name, "' is state that runs share; trace with the option {.state = true}");
  Parameter &known = call.state().variable(name);
  if (!known)
    known = Parameter::variable(name, std::move(shape), start, dtype);
  else if (known.shape() != shape || known.dtype() != dtype)
    call.fail("'", name, "' is ", dtypeName(known.dtype()), " ", shapeText(known.shape()),
              " already; found ", dtypeName(dtype), " ", shapeText(shape));
  return known;
}

Tensor step_count(Location location) {
  ApiCall call("step_count", location);
  Operand counter(variable(counterName, {}, DType::I64, 0, location), location);
  return call.tensor(call.value(counter));
}

Tensor input(const Spec &spec, Location location) {
  ApiCall call("input", location);
  SmallVector<int64_t> shape;
  for (int64_t dim : spec.shape)
    shape.push_back(dim == kDynamic ? ShapedType::kDynamic : dim);
  if (spec.device)
    call.state().usePlaces();
  Value made =
      call.state().argument(RankedTensorType::get(shape, elementTypeOf(spec.dtype, call.context())),
                            spec.name, call.loc());
  if (spec.device)
    call.state().putOn(made, *spec.device);
  return call.tensor(made);
}

} // namespace dlc::trace
