//===- State.h - the trace in progress, and calls that add operations to it --===//
#ifndef DLC_FRONTEND_TRACE_STATE_H
#define DLC_FRONTEND_TRACE_STATE_H

#include "dlc/nn.hpp"
#include "ir/dlc/Dialect.h"
#include "ir/dlc/OperandSegments.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace dlc::trace {

mlir::Type elementTypeOf(DType dtype, mlir::MLIRContext *context);
DType dtypeOf(mlir::Type element);
/// Formats a shape, for example `[2, ?, 3]`, where `?` is kDynamic.
std::string shapeText(const Shape &shape);
/// Formats a location as `file:line:column: `.
std::string formatLocation(const Location &location);
/// Changes the device of a constant; its elements or blob remain. Does nothing if the device is
/// null.
void placeConstant(ConstantOp constant, OnAttr device);
/// Captures diagnostics as text during its lifetime, instead of printing them.
class DiagnosticCapture {
public:
  explicit DiagnosticCapture(mlir::MLIRContext *context);
  std::string text;

private:
  mlir::ScopedDiagnosticHandler handler;
};

class BatchPartScope;

/// A program that is being traced. Each thread has at most one active trace; activations nest.
class State : public std::enable_shared_from_this<State> {
public:
  State(mlir::MLIRContext *context, mlir::func::FuncOp function, const TraceOptions &options);

  /// Returns the innermost active trace of this thread, or null if there is none.
  static State *current();
  class Activate {
  public:
    explicit Activate(State &state);
    ~Activate();

  private:
    State *previous;
  };

  Tensor tensor(mlir::Value value) {
    return Tensor(shared_from_this(), value.getAsOpaquePointer());
  }
  static mlir::Value valueOf(const Tensor &tensor) {
    return mlir::Value::getFromOpaquePointer(tensor.value);
  }
  static State *ownerOf(const Tensor &tensor) { return tensor.state.get(); }

  /// Returns the MLIR location of a call. Inside a layer it is the location of the layer's caller,
  /// with the module path as its name.
  mlir::Location locate(const Location &given) const;
  Location outermost(const Location &given) const {
    return locations.empty() ? given : locations.front();
  }
  std::string modulePath() const { return names.empty() ? std::string() : names.back(); }

  mlir::Value parameter(const Parameter &parameter);
  /// Returns the parameter's value on the parameter's own device, also inside a data-parallel
  /// replica, which reads parameters on its own device.
  mlir::Value parameterItself(const Parameter &parameter);
  /// Returns a constant that `make` computes on the host from the elements of parameters. It is
  /// computed once per trace. Requires that parameters are constants. The constant's name is the
  /// first parameter's name plus `suffix`.
  mlir::Value derived(llvm::ArrayRef<Parameter> from, const std::string &suffix,
                      llvm::function_ref<Array(llvm::ArrayRef<Array>)> make);
  mlir::Value constant(const Array &array, llvm::StringRef name, mlir::Location location,
                       bool atEntry);

  /// Adds an argument to @main after the arguments for the inputs that were passed to trace().
  mlir::Value argument(mlir::Type type, const std::string &name, mlir::Location location);
  void assign(const Parameter &parameter, mlir::Value value);
  /// Reverts all state assignments made so far if the condition is false at run time.
  void keepUnless(mlir::Value condition);
  /// Returns the function argument that holds the parameter's value at the start of the run.
  mlir::Value start(const Parameter &parameter);
  /// Returns the variable of that name, or an absent Parameter if there is none.
  Parameter &variable(const std::string &name) { return variables[name]; }
  /// finish() and describeArguments() are called at the end of the trace. finish() adds a result
  /// for each state that changed. describeArguments() sets the attributes of @main's arguments once
  /// the function has its final type.
  void finish(llvm::SmallVectorImpl<mlir::Value> &results,
              llvm::SmallVectorImpl<std::string> &names);
  void describeArguments();
  /// Records that an input contains class indices in [0, count) or the ignored index, if `value` is
  /// derived from an input. The runtime then checks the elements of that input.
  void recordClassIndices(mlir::Value value, int64_t count, std::optional<int64_t> ignored);
  /// Layout of a sharded state: the tensors `parts` are concatenated and split over `of` ranks.
  struct Shares {
    int64_t of = 1;
    std::vector<std::pair<std::string, Shape>> parts;
  };
  std::map<std::string, Shares> shares;
  /// Returns a seed for random numbers, which differs for each call.
  int64_t nextSeed();
  /// Returns how often this function was called with the same key before.
  int64_t callsOf(const std::string &what) { return calls[what]++; }
  std::map<std::string, int64_t> calls;
  /// Returns the counter for random numbers: the step number, plus the offset of the rank's random
  /// stream if there is one.
  Tensor drawCount(const Location &location);
  /// Scope of the part of a rank's batch that is being traced (RankPart.h); null if there is none.
  BatchPartScope *rankPart = nullptr;

  // Devices (Devices.cpp). If a trace never names a device, its types carry no device.
  /// Assigns the default device to every tensor type that has no device, of both existing and
  /// future values.
  void usePlaces();
  bool hasPlaces() const { return bool(onHome); }
  /// Returns the type with the default device added if types carry devices and this type has none.
  /// Otherwise returns the type unchanged.
  mlir::Type placed(mlir::Type type) const;
  OnAttr placeOf(const Device &device) const;
  const Device &home() const { return homeDevice; }
  /// Sets the device of a newly created value, without a transfer.
  void putOn(mlir::Value value, const Device &device);
  /// Returns the value on the given device. Inserts a transfer if the value is on another device.
  mlir::Value moved(mlir::Value value, OnAttr device, mlir::Location location);
  /// Recreates a value on another device. Possible only for values that depend on no input and no
  /// parameter; returns null for any other value.
  mlir::Value remade(mlir::Value value, OnAttr device);
  bool isParameter(mlir::Value value) const;
  /// Describes a value for error messages: by name, such as 'x' or 'hidden.weight', or as the
  /// result of an operation, such as relu.
  std::string describe(mlir::Value value) const;
  /// A data-parallel replica of a model. While the replica is on the stack `replicas`, parameters
  /// are read on its device. Only the first replica assigns state.
  struct Replica {
    Device device;
    bool isFirst = true;
  };
  std::vector<Replica> replicas;

  mlir::MLIRContext *context;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  bool open = true;
  const bool hasState, hasStarts, parametersAsArguments, training;
  const uint64_t seed;
  /// Names of @main's arguments.
  std::set<std::string> argumentNames;
  /// Names of the inputs that were passed to trace(), in order.
  std::vector<std::string> inputNames;
  std::vector<Parameter> argumentParameters;
  /// Blocks under construction, outermost first. Operations may use only values that are defined in
  /// these blocks.
  std::vector<mlir::Block *> blocks;
  std::vector<std::string> names;
  std::vector<Location> locations;
  /// Active trace::Precision scopes, innermost last. New operations get the innermost precision.
  std::vector<std::string> precisions;

private:
  bool isFree(mlir::Value value);
  mlir::DictionaryAttr describeShares(const Shares &given);
  mlir::ElementsAttr elements(const Array &array, llvm::StringRef name);
  mlir::ElementsAttr startOf(const Parameter &parameter, mlir::RankedTensorType type);

  std::map<std::pair<const void *, std::string>, mlir::Value> parameterValues;
  mlir::Operation *lastParameter = nullptr;
  std::map<std::string, Parameter> variables;
  /// Index and name of the @main arguments that were added during the trace.
  std::vector<std::pair<unsigned, std::string>> lateArguments;
  std::vector<unsigned> parameterArguments;
  std::vector<std::tuple<unsigned, llvm::StringRef, int64_t>> classNotes;
  std::vector<Parameter> assigned;
  const Device homeDevice;
  /// The default device as a type encoding. Null while tensor types carry no device.
  OnAttr onHome;
  llvm::DenseMap<mlir::Value, bool> knownFree;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> remadeValues, replicaValues;
};

/// A call of a public function such as matmul(). Resolves the operands, creates operations at the
/// location of the call, and reports errors.
class ApiCall {
public:
  ApiCall(llvm::StringRef what, std::initializer_list<const Operand *> operands);
  ApiCall(llvm::StringRef what, const Operands &operands);
  /// Constructs the call of a function without operands.
  ApiCall(llvm::StringRef what, const Location &location);
  ~ApiCall();
  ApiCall(const ApiCall &) = delete;
  ApiCall &operator=(const ApiCall &) = delete;

  State &state() const { return *active; }
  mlir::MLIRContext *context() const { return active->context; }
  mlir::OpBuilder &builder() const { return active->builder; }
  mlir::Location loc() const { return mlir::Location(mlirLocation); }

  /// Gives number operands the element type of the first tensor or parameter among these operands.
  void numbersLike(std::initializer_list<const Operand *> operands);
  mlir::Value value(const Operand &operand);
  mlir::RankedTensorType type(const Operand &operand) {
    return llvm::cast<mlir::RankedTensorType>(value(operand).getType());
  }
  /// Returns the values of all operands that are present.
  llvm::SmallVector<mlir::Value> values(std::initializer_list<const Operand *> operands);

  template <typename Op>
  llvm::SmallVector<mlir::Value> makeAll(mlir::ValueRange given,
                                         typename Op::Adaptor::Properties properties = {}) {
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Value> operands = together(given, types);
    // If the properties have no operandSegmentSizes yet, the operands are the first ones of the
    // operation, and trailing optional operands are omitted.
    if constexpr (requires { properties.operandSegmentSizes; })
      if (llvm::all_of(properties.operandSegmentSizes, [](int32_t size) { return size == 0; }))
        omitLastOperands(properties, operands.size());
    mlir::OpaqueProperties opaque(&properties);
    DiagnosticCapture capture(context());
    if (failed(Op::inferReturnTypes(context(), loc(), operands, mlir::DictionaryAttr(), opaque,
                                    mlir::RegionRange(), types)))
      raise(capture.text);
    return create<Op>(operands, types, std::move(properties), capture);
  }
  /// Creates an operation with the given result types, because they cannot be inferred from the
  /// operands.
  template <typename Op>
  llvm::SmallVector<mlir::Value> makeAllAs(mlir::TypeRange given, mlir::ValueRange values,
                                           typename Op::Adaptor::Properties properties = {}) {
    DiagnosticCapture capture(context());
    llvm::SmallVector<mlir::Type> types(given);
    // Gradient operations accept operands on different devices, so that their operands are not
    // moved.
    llvm::SmallVector<mlir::Value> operands(values);
    if constexpr (!std::is_same_v<Op, GradientOp>)
      operands = together(values, types);
    return create<Op>(operands, types, std::move(properties), capture);
  }
  template <typename Op>
  mlir::Value make(mlir::ValueRange operands, typename Op::Adaptor::Properties properties = {}) {
    return makeAll<Op>(operands, std::move(properties)).front();
  }
  template <typename Op>
  mlir::Value makeAs(mlir::Type type, mlir::ValueRange operands,
                     typename Op::Adaptor::Properties properties = {}) {
    return makeAllAs<Op>(type, operands, std::move(properties)).front();
  }

  Tensor tensor(mlir::Value value) const { return active->tensor(value); }
  mlir::DenseI64ArrayAttr list(llvm::ArrayRef<int64_t> values) const {
    return builder().getDenseI64ArrayAttr(values);
  }
  mlir::IntegerAttr integer(int64_t value) const { return builder().getI64IntegerAttr(value); }
  mlir::FloatAttr real(double value) const { return builder().getF64FloatAttr(value); }
  mlir::UnitAttr flag(bool set) const { return set ? builder().getUnitAttr() : mlir::UnitAttr(); }

  /// Creates a 0-d constant of the given element type.
  mlir::Value number(mlir::Type element, double value);
  mlir::Value integerNumber(mlir::Type element, int64_t value);
  /// Checks a dimension index against a rank and returns it as a non-negative index. Negative
  /// indices count from the end.
  int64_t dimension(int64_t dim, int64_t rank) const;
  /// Checks that dimension indices are distinct and returns them in ascending order. An empty list
  /// means all dimensions.
  llvm::SmallVector<int64_t> dimensions(const Dims &dims, int64_t rank) const;
  /// Returns a list argument with `count` entries. A single entry is repeated.
  std::vector<int64_t> spread(const char *name, const Dims &dims, size_t count) const;
  /// Reports an error unless all sizes of the type are static.
  void requireStatic(mlir::RankedTensorType type, const char *why) const;

  template <typename... Parts> [[noreturn]] void fail(Parts &&...parts) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << what << ": ";
    (stream << ... << parts);
    raise(text);
  }
  [[noreturn]] void raise(const std::string &text) const;

private:
  template <typename Op>
  llvm::SmallVector<mlir::Value> create(mlir::ValueRange operands, mlir::TypeRange types,
                                        typename Op::Adaptor::Properties properties,
                                        DiagnosticCapture &capture) {
    mlir::OperationState opState(loc(), Op::getOperationName());
    opState.addOperands(operands);
    opState.addTypes(types);
    if constexpr (!std::is_same_v<typename Op::Adaptor::Properties, mlir::EmptyProperties>)
      opState.getOrAddProperties<typename Op::Adaptor::Properties>() = std::move(properties);
    return checked(builder().create(opState), capture);
  }
  llvm::SmallVector<mlir::Value> checked(mlir::Operation *op, DiagnosticCapture &capture);
  /// If types carry devices, brings all operands to one device: recreates operands that depend on
  /// no input or parameter, and reports an error for other operands on a different device. Result
  /// `types` without a device get that device.
  llvm::SmallVector<mlir::Value> together(mlir::ValueRange operands,
                                          llvm::SmallVectorImpl<mlir::Type> &types);
  void enter(llvm::ArrayRef<const Operand *> operands);

  std::string what;
  State *active = nullptr;
  Location location;
  mlir::LocationAttr mlirLocation;
  mlir::Type numberType;
  bool pushed = false;
};

} // namespace dlc::trace

#endif // DLC_FRONTEND_TRACE_STATE_H
