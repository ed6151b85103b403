//===- State.h - the trace in progress, and calls that add to it ----------===//
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
/// `[2, ?, 3]` for a shape with kDynamic in it.
std::string shapeText(const Shape &shape);
/// `file:line:column: `.
std::string whereText(const Location &location);
/// The constant there, the same blob; nothing happens where the device is null.
void placeConstant(ConstantOp constant, OnAttr device);
/// Keeps the text of the diagnostics emitted while it lives, instead of printing them.
class Capture {
public:
  explicit Capture(mlir::MLIRContext *context);
  std::string text;

private:
  mlir::ScopedDiagnosticHandler handler;
};

class RankPart;

/// A program while it is traced. One trace at a time is active on a thread (they nest).
class State : public std::enable_shared_from_this<State> {
public:
  State(mlir::MLIRContext *context, mlir::func::FuncOp function, const TraceOptions &options);

  /// The innermost active trace; null when there is none.
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

  /// The place of the call, by what the layers around it say of theirs.
  mlir::Location locate(const Location &given) const;
  Location outermost(const Location &given) const {
    return locations.empty() ? given : locations.front();
  }
  std::string modulePath() const { return names.empty() ? std::string() : names.back(); }

  mlir::Value parameter(const Parameter &parameter);
  /// Where it lives, whatever replica asks.
  mlir::Value parameterItself(const Parameter &parameter);
  /// A constant made from parameters on the host, once per trace; only where parameters are
  /// constants. It bears the first one's name and the suffix.
  mlir::Value derived(llvm::ArrayRef<Parameter> from, const std::string &suffix,
                      llvm::function_ref<Array(llvm::ArrayRef<Array>)> make);
  mlir::Value constant(const Array &array, llvm::StringRef name, mlir::Location location,
                       bool atEntry);

  /// An argument of @main beside the inputs that the trace began with.
  mlir::Value argument(mlir::Type type, const std::string &name, mlir::Location location);
  void assign(const Parameter &parameter, mlir::Value value);
  /// Where the condition is false, all that was assigned so far stays what it was.
  void keepUnless(mlir::Value condition);
  /// The argument that a parameter came in as.
  mlir::Value start(const Parameter &parameter);
  /// The variable of that name; an absent Parameter when there is none.
  Parameter &variable(const std::string &name) { return variables[name]; }
  /// When the trace ends: results for the state that changed, and then, when the function has its
  /// type, the attributes of its arguments.
  void finish(llvm::SmallVectorImpl<mlir::Value> &results,
              llvm::SmallVectorImpl<std::string> &names);
  void describeArguments();
  /// Where the value comes from an input, that input's numbers name one of so many classes (or the
  /// ignored one): who runs the program can check them.
  void noteClasses(mlir::Value value, int64_t count, std::optional<int64_t> ignored);
  /// The state of that name is each rank's share of these tensors' elements.
  struct Shares {
    int64_t of = 1;
    std::vector<std::pair<std::string, Shape>> parts;
  };
  std::map<std::string, Shares> shares;
  /// Of random numbers: another one at each call.
  int64_t nextSeed();
  /// How often that was asked for before.
  int64_t callsOf(const std::string &what) { return calls[what]++; }
  std::map<std::string, int64_t> calls;
  /// The step's number, as random numbers are drawn by.
  Tensor drawCount(const Location &location);
  /// Set while a part of a rank's batch is traced (RankPart.h).
  RankPart *rankPart = nullptr;

  // Devices (Devices.cpp). A trace in which nobody names one has types without.
  /// From here on, and of all made so far, each tensor says where it is.
  void usePlaces();
  bool hasPlaces() const { return bool(onHome); }
  /// The type on the default device, where types have devices and it has none.
  mlir::Type placed(mlir::Type type) const;
  OnAttr placeOf(const Device &device) const;
  const Device &home() const { return homeDevice; }
  /// Of a value that is new.
  void putOn(mlir::Value value, const Device &device);
  /// The value there, by a transfer where it is elsewhere.
  mlir::Value moved(mlir::Value value, OnAttr device, mlir::Location location);
  /// What comes from no input and no parameter belongs to no device: null unless it can be made
  /// there too.
  mlir::Value remade(mlir::Value value, OnAttr device);
  bool isParameter(mlir::Value value) const;
  /// How a user may know it: 'x', 'hidden.weight', the result of relu.
  std::string describe(mlir::Value value) const;
  /// While it lives, parameters are read on this device; who is not the first of several keeps no
  /// state.
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
  /// Of those that the trace began with, in order.
  std::vector<std::string> inputNames;
  std::vector<Parameter> argumentParameters;
  /// Blocks under construction, outermost first: values of these can be used.
  std::vector<mlir::Block *> blocks;
  std::vector<std::string> names;
  std::vector<Location> locations;
  /// Of trace::Precision, the innermost last: operations bear it.
  std::vector<std::string> precisions;

private:
  bool isFree(mlir::Value value);
  mlir::DictionaryAttr describeShares(const Shares &given);
  mlir::ElementsAttr elements(const Array &array, llvm::StringRef name);
  mlir::ElementsAttr startOf(const Parameter &parameter, mlir::RankedTensorType type);

  std::map<std::pair<const void *, std::string>, mlir::Value> parameterValues;
  mlir::Operation *lastParameter = nullptr;
  std::map<std::string, Parameter> variables;
  /// Positions among @main's arguments.
  std::vector<std::pair<unsigned, std::string>> lateArguments;
  std::vector<unsigned> parameterArguments;
  std::vector<std::tuple<unsigned, const char *, int64_t>> classNotes;
  std::vector<Parameter> assigned;
  const Device homeDevice;
  /// Null while types have no devices.
  OnAttr onHome;
  llvm::DenseMap<mlir::Value, bool> knownFree;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> remadeValues, replicaValues;
};

/// One call of a public function: resolves its operands, makes its operations at its location, and
/// says what is wrong.
class Call {
public:
  Call(llvm::StringRef what, std::initializer_list<const Operand *> operands);
  Call(llvm::StringRef what, const Operands &operands);
  /// For functions that take no operand.
  Call(llvm::StringRef what, const Location &location);
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  State &state() const { return *active; }
  mlir::MLIRContext *context() const { return active->context; }
  mlir::OpBuilder &builder() const { return active->builder; }
  mlir::Location loc() const { return mlir::Location(mlirLocation); }

  /// Numbers get the element type of the first of these that has one.
  void numbersLike(std::initializer_list<const Operand *> operands);
  mlir::Value value(const Operand &operand);
  mlir::RankedTensorType type(const Operand &operand) {
    return llvm::cast<mlir::RankedTensorType>(value(operand).getType());
  }
  /// All operands that are there, as values.
  llvm::SmallVector<mlir::Value> values(std::initializer_list<const Operand *> operands);

  template <typename Op>
  llvm::SmallVector<mlir::Value> makeAll(mlir::ValueRange given,
                                         typename Op::Adaptor::Properties properties = {}) {
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Value> operands = together(given, types);
    // Optional operands are left out from the end, unless the properties say which there are.
    if constexpr (requires { properties.operandSegmentSizes; })
      if (llvm::all_of(properties.operandSegmentSizes, [](int32_t size) { return size == 0; }))
        omitLastOperands(properties, operands.size());
    mlir::OpaqueProperties opaque(&properties);
    Capture capture(context());
    if (failed(Op::inferReturnTypes(context(), loc(), operands, mlir::DictionaryAttr(), opaque,
                                    mlir::RegionRange(), types)))
      raise(capture.text);
    return create<Op>(operands, types, std::move(properties), capture);
  }
  /// For operations whose result types do not follow from their operands.
  template <typename Op>
  llvm::SmallVector<mlir::Value> makeAllAs(mlir::TypeRange given, mlir::ValueRange values,
                                           typename Op::Adaptor::Properties properties = {}) {
    Capture capture(context());
    llvm::SmallVector<mlir::Type> types(given);
    // Gradients are asked for wherever things are.
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

  /// A 0-d constant.
  mlir::Value number(mlir::Type element, double value);
  mlir::Value integerNumber(mlir::Type element, int64_t value);
  /// A dimension of this rank, counted from the end when negative.
  int64_t dimension(int64_t dim, int64_t rank) const;
  /// Distinct dimensions, ascending; all when the list is empty.
  llvm::SmallVector<int64_t> dimensions(const Dims &dims, int64_t rank) const;
  /// `count` entries: as given, or one number for all.
  std::vector<int64_t> spread(const char *name, const Dims &dims, size_t count) const;
  /// Fails unless all sizes are known.
  void wantStatic(mlir::RankedTensorType type, const char *why) const;

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
                                        Capture &capture) {
    mlir::OperationState opState(loc(), Op::getOperationName());
    opState.addOperands(operands);
    opState.addTypes(types);
    if constexpr (!std::is_same_v<typename Op::Adaptor::Properties, mlir::EmptyProperties>)
      opState.getOrAddProperties<typename Op::Adaptor::Properties>() = std::move(properties);
    return checked(builder().create(opState), capture);
  }
  llvm::SmallVector<mlir::Value> checked(mlir::Operation *op, Capture &capture);
  /// The operands on one device, where types have devices: what is free follows, others must be
  /// there. `types` without a device get that one.
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
