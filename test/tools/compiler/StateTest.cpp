//===- StateTest.cpp - compares programs with state with the reference, step by step -------===//
#include "runtime/session/state/State.h"
#include "dlc/compiler.hpp"
#include "ir/dlc/Dialect.h"
#include "ir/reference/Evaluate.h"
#include "tools/compiler/Programs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace {

using namespace dlc;

class Folder {
public:
  Folder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "dlc-state-test-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const { return (path / name).string(); }
  Model compile(const std::string &text, const ModelOptions &options = {.cacheDir = ""}) {
    std::string file = *this / ("model" + std::to_string(count++) + ".mlir");
    std::ofstream(file) << text;
    return dlc::compile(file, options);
  }

private:
  std::filesystem::path path;
  int count = 0;
};

std::string messageOf(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

/// Evaluates the unmodified function, whose state is passed as arguments and returned as results.
class Reference {
public:
  explicit Reference(const std::string &text) : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<DlcDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      throw Error("the test's program cannot be read");
    function = module->lookupSymbol<mlir::func::FuncOp>("main");
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      if (!function.getArgAttr(i, "dlc.state"))
        continue;
      auto type = mlir::cast<mlir::RankedTensorType>(function.getArgument(i).getType());
      auto init = function.getArgAttrOfType<mlir::ElementsAttr>(i, "dlc.init");
      states[nameOf(function.getArgAttrDict(i))] =
          init ? *ref::Tensor::fromAttr(init) : ref::Tensor::empty(type);
    }
  }

  std::map<std::string, ref::Tensor> run(const std::map<std::string, Tensor> &given) {
    llvm::SmallVector<ref::Tensor> inputs, outputs;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      std::string name = nameOf(function.getArgAttrDict(i));
      auto type = mlir::cast<mlir::RankedTensorType>(function.getArgument(i).getType());
      inputs.push_back(function.getArgAttr(i, "dlc.state")
                           ? states.at(name)
                           : ref::Tensor::borrow(type, given.at(name).raw(),
                                                 std::make_shared<Tensor>(given.at(name))));
    }
    if (mlir::failed(ref::evaluate(function, inputs, outputs)))
      throw Error("the reference evaluator refuses the test's program");
    std::map<std::string, ref::Tensor> results;
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      std::string name = nameOf(function.getResultAttrDict(i));
      (function.getResultAttr(i, "dlc.state") ? states : results)[name] = copyOf(outputs[i]);
    }
    return results;
  }

  std::map<std::string, ref::Tensor> states;

private:
  /// Copies a result, because an unmodified argument is returned as the caller's memory.
  static ref::Tensor copyOf(const ref::Tensor &tensor) {
    ref::Tensor copy = ref::Tensor::empty(tensor.getType());
    if (tensor.bytes())
      std::memcpy(copy.mutableData(), tensor.data(), size_t(tensor.bytes()));
    return copy;
  }
  static std::string nameOf(mlir::DictionaryAttr attributes) {
    return attributes.getAs<mlir::StringAttr>("dlc.name").str();
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
};

double elementOf(const Tensor &tensor, int64_t i) {
  return tensor.dtype() == DType::I64 ? double(tensor.data<int64_t>()[i])
                                      : double(tensor.data<float>()[i]);
}

void expectSame(const Tensor &found, const ref::Tensor &wanted, const std::string &what) {
  ASSERT_EQ(found.elements(), wanted.size()) << what;
  for (int64_t i = 0; i < wanted.size(); ++i) {
    double a = elementOf(found, i), b = wanted.getDouble(i);
    ASSERT_NEAR(a, b, 1e-5 + 1e-4 * std::abs(b)) << what << " at " << i;
  }
}

Tensor randomTensor(const ModelValue &value, std::mt19937 &engine) {
  Tensor tensor(*value.dtype, value.shape);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (value.dtype == DType::F32)
      tensor.data<float>()[i] = float(engine() % 2001) / 1000 - 1;
    else if (value.dtype == DType::I64)
      tensor.data<int64_t>()[i] = int64_t(engine() % 4);
    else
      tensor.data<uint8_t>()[i] = engine() % 2;
  return tensor;
}

/// Runs the program and the reference and compares all outputs and states after every step.
void expectSameSteps(Model model, const std::string &text, int steps, unsigned seed = 1) {
  Reference reference(text);
  std::mt19937 engine(seed);
  for (int step = 0; step < steps; ++step) {
    std::map<std::string, Tensor> batch;
    for (const ModelValue &input : model.inputs())
      batch[input.name] = randomTensor(input, engine);
    auto found = model.run(batch);
    auto wanted = reference.run(batch);
    ASSERT_EQ(found.size(), wanted.size());
    for (auto &[name, tensor] : wanted)
      expectSame(found.at(name), tensor, name + " after step " + std::to_string(step));
    for (auto &[name, tensor] : reference.states)
      expectSame(model.state(name), tensor,
                 "state " + name + " after step " + std::to_string(step));
    if (testing::Test::HasFatalFailure())
      return;
  }
}

const std::string counter = R"(
func.func @main(%n: tensor<i64> {dlc.name = "n", dlc.state, dlc.init = dense<5> : tensor<i64>})
    -> (tensor<i64> {dlc.name = "n", dlc.state}, tensor<i64> {dlc.name = "seen"}) {
  %one = dlc.constant dense<1> : tensor<i64>
  %next = dlc.add %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return %next, %next : tensor<i64>, tensor<i64>
})";

/// Least squares by gradient descent with momentum.
std::string sgd(const std::string &rows) {
  std::string text = R"(
func.func @main(%w: tensor<40x24xf32> {dlc.name = "w", dlc.state, dlc.parameter, dlc.init = dense<0.25> : tensor<40x24xf32>},
                %m: tensor<40x24xf32> {dlc.name = "m", dlc.state},
                %x: tensor<ROWSx40xf32> {dlc.name = "x"}, %t: tensor<ROWSx24xf32> {dlc.name = "t"})
    -> (tensor<40x24xf32> {dlc.name = "w", dlc.state}, tensor<40x24xf32> {dlc.name = "m", dlc.state}, tensor<f32> {dlc.name = "loss"}) {
  %rate = dlc.constant dense<0.002> : tensor<f32>
  %keep = dlc.constant dense<0.9> : tensor<f32>
  %p = dlc.matmul %x, %w : (tensor<ROWSx40xf32>, tensor<40x24xf32>) -> tensor<ROWSx24xf32>
  %d = dlc.sub %p, %t : (tensor<ROWSx24xf32>, tensor<ROWSx24xf32>) -> tensor<ROWSx24xf32>
  %s = dlc.mul %d, %d : (tensor<ROWSx24xf32>, tensor<ROWSx24xf32>) -> tensor<ROWSx24xf32>
  %loss = dlc.reduce mean %s axes [0, 1] : (tensor<ROWSx24xf32>) -> tensor<f32>
  %g = dlc.matmul %x, %d transpose_a : (tensor<ROWSx40xf32>, tensor<ROWSx24xf32>) -> tensor<40x24xf32>
  %k = dlc.mul %m, %keep : (tensor<40x24xf32>, tensor<f32>) -> tensor<40x24xf32>
  %m1 = dlc.add %k, %g : (tensor<40x24xf32>, tensor<40x24xf32>) -> tensor<40x24xf32>
  %u = dlc.mul %m1, %rate : (tensor<40x24xf32>, tensor<f32>) -> tensor<40x24xf32>
  %w1 = dlc.sub %w, %u : (tensor<40x24xf32>, tensor<40x24xf32>) -> tensor<40x24xf32>
  return %w1, %m1, %loss : tensor<40x24xf32>, tensor<40x24xf32>, tensor<f32>
})";
  for (size_t at; (at = text.find("ROWS")) != std::string::npos;)
    text.replace(at, 4, rows);
  return text;
}

/// An update of several states with long rows. A state with one element for each row is broadcast
/// to the others.
const std::string rows = R"(
func.func @main(%p: tensor<3x50001xf32> {dlc.name = "p", dlc.state, dlc.init = dense<0.5> : tensor<3x50001xf32>},
                %m: tensor<3x50001xf32> {dlc.name = "m", dlc.state}, %v: tensor<3x50001xf32> {dlc.name = "v", dlc.state},
                %r: tensor<3x1xf32> {dlc.name = "r", dlc.state, dlc.init = dense<0.75> : tensor<3x1xf32>},
                %g: tensor<3x50001xf32> {dlc.name = "g"}, %h: tensor<3x1xf32> {dlc.name = "h"})
    -> (tensor<3x50001xf32> {dlc.name = "p", dlc.state}, tensor<3x50001xf32> {dlc.name = "m", dlc.state},
        tensor<3x50001xf32> {dlc.name = "v", dlc.state}, tensor<3x1xf32> {dlc.name = "r", dlc.state}) {
  %keep = dlc.constant dense<0.9> : tensor<f32>
  %small = dlc.constant dense<0.01> : tensor<f32>
  %k = dlc.mul %m, %keep : (tensor<3x50001xf32>, tensor<f32>) -> tensor<3x50001xf32>
  %m1 = dlc.add %k, %g : (tensor<3x50001xf32>, tensor<3x50001xf32>) -> tensor<3x50001xf32>
  %s = dlc.mul %g, %g : (tensor<3x50001xf32>, tensor<3x50001xf32>) -> tensor<3x50001xf32>
  %l = dlc.mul %v, %keep : (tensor<3x50001xf32>, tensor<f32>) -> tensor<3x50001xf32>
  %v1 = dlc.add %l, %s : (tensor<3x50001xf32>, tensor<3x50001xf32>) -> tensor<3x50001xf32>
  %r1 = dlc.mul %r, %h : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %u = dlc.mul %m1, %small : (tensor<3x50001xf32>, tensor<f32>) -> tensor<3x50001xf32>
  %w = dlc.mul %v, %small : (tensor<3x50001xf32>, tensor<f32>) -> tensor<3x50001xf32>
  %d = dlc.sub %u, %w : (tensor<3x50001xf32>, tensor<3x50001xf32>) -> tensor<3x50001xf32>
  %e = dlc.mul %d, %r1 : (tensor<3x50001xf32>, tensor<3x1xf32>) -> tensor<3x50001xf32>
  %q = dlc.sub %p, %e : (tensor<3x50001xf32>, tensor<3x50001xf32>) -> tensor<3x50001xf32>
  %p1 = dlc.add %q, %r : (tensor<3x50001xf32>, tensor<3x1xf32>) -> tensor<3x50001xf32>
  return %p1, %m1, %v1, %r1 : tensor<3x50001xf32>, tensor<3x50001xf32>, tensor<3x50001xf32>, tensor<3x1xf32>
})";

} // namespace

TEST(ModelState, ACounterCounts) {
  Folder folder;
  Model model = folder.compile(counter);
  EXPECT_TRUE(model.inputs().empty());
  ASSERT_EQ(model.outputs().size(), 1u);
  ASSERT_EQ(model.states().size(), 1u);
  expectSameSteps(model, counter, 100);
  EXPECT_EQ(model.state("n").data<int64_t>()[0], 105);
}

TEST(ModelState, AHundredStepsOfGradientDescent) {
  Folder folder;
  Model model = folder.compile(sgd("16"));
  EXPECT_TRUE(model.states()[0].parameter);
  EXPECT_FALSE(model.states()[1].parameter);
  expectSameSteps(model, sgd("16"), 100);
  // Both states are updated in place, so the arena is smaller than two copies of one of them.
  EXPECT_EQ(model.memory().state_bytes, 2u * 40 * 24 * 4);
}

TEST(ModelState, LongRowsOnSeveralThreads) {
  Folder folder;
  Model model = folder.compile(rows, {.threads = 2, .cacheDir = ""});
  expectSameSteps(model, rows, 5);
  // All states except the broadcast one are updated in place, so the arena has no space for copies
  // of the large ones.
  EXPECT_LT(model.memory().arena_bytes, 3u * 50001 * 4);
}

TEST(ModelState, SavesLoadsSetsAndResets) {
  Folder folder;
  Model model = folder.compile(counter);
  model.run({});
  model.saveState(folder / "c.safetensors");
  model.run({});
  EXPECT_EQ(model.state("n").data<int64_t>()[0], 7);
  model.loadState(folder / "c.safetensors");
  EXPECT_EQ(model.state("n").data<int64_t>()[0], 6);
  model.setState("n", Tensor::of<int64_t>({}, {40}));
  EXPECT_EQ(model.run({})["seen"].data<int64_t>()[0], 41);
  model.resetState();
  EXPECT_EQ(model.run({})["seen"].data<int64_t>()[0], 6);
  EXPECT_NE(messageOf([&] {
              model.setState("n", Tensor::of<float>({}, {40}));
            }).find("state 'n': required: i64 0-d; found: f32 0-d"),
            std::string::npos);
  // The program file stores the state separately and can be loaded without the compiler.
  model.save(folder / "p.dlcx");
  Model loaded = dlc::compile(folder / "p.dlcx");
  ASSERT_EQ(loaded.states().size(), 1u);
  EXPECT_EQ(loaded.run({})["seen"].data<int64_t>()[0], 6);
  auto session = Session::load(folder / "p.dlcx");
  session.loadState(folder / "c.safetensors");
  EXPECT_EQ(session.run({})["seen"].data<int64_t>()[0], 7);
}

TEST(ModelState, TwoModelsShareParameters) {
  Folder folder;
  Model train = folder.compile(sgd("16"));
  Model evaluate = folder.compile(R"(
func.func @main(%w: tensor<40x24xf32> {dlc.name = "w", dlc.state}, %x: tensor<3x40xf32> {dlc.name = "x"}) -> (tensor<3x24xf32> {dlc.name = "y"}) {
  %y = dlc.matmul %x, %w : (tensor<3x40xf32>, tensor<40x24xf32>) -> tensor<3x24xf32>
  return %y : tensor<3x24xf32>
})",
                                  {.cacheDir = "", .shareState = &train});
  std::mt19937 engine(3);
  std::map<std::string, Tensor> batch, one{{"x", Tensor(DType::F32, {3, 40})}};
  std::fill_n(one["x"].data<float>(), 120, 1.0f);
  for (const ModelValue &input : train.inputs())
    batch[input.name] = randomTensor(input, engine);
  float before = evaluate.run(one)["y"].data<float>()[0];
  EXPECT_EQ(before, 10);
  train.run(batch);
  Tensor w = train.state("w");
  double sum = 0;
  for (int64_t i = 0; i < 40; ++i)
    sum += w.data<float>()[24 * i];
  float after = evaluate.run(one)["y"].data<float>()[0];
  EXPECT_NE(after, before);
  EXPECT_NEAR(after, sum, 1e-4);
  EXPECT_EQ(evaluate.memory().state_bytes, 0u);
}

TEST(ModelState, LivesInOneProgram) {
  Folder folder;
  Model model = folder.compile(sgd("?"));
  auto batch = [](int64_t rows) {
    std::map<std::string, Tensor> given{{"x", Tensor(DType::F32, {rows, 40})},
                                        {"t", Tensor(DType::F32, {rows, 24})}};
    for (auto &[name, tensor] : given)
      std::fill_n(tensor.data<float>(), tensor.elements(), 0.5f);
    return given;
  };
  // The batch size is unknown until the first run.
  EXPECT_NE(messageOf([&] { model.state("w"); }).find("required: all sizes; found: "),
            std::string::npos);
  model.run(batch(4));
  model.run(batch(4));
  EXPECT_EQ(model.programs(), 1u);
  EXPECT_NE(messageOf([&] { model.run(batch(5)); }).find("its state belongs to one program"),
            std::string::npos);
  EXPECT_EQ(messageOf([&] { model.run(batch(4)); }), "no error");
}

namespace {

/// Returns a program that uses old and new values of states in random order and assigns them to
/// random states.
std::string randomProgram(unsigned seed) {
  std::mt19937 engine(seed);
  auto below = [&](size_t n) { return size_t(engine() % n); };
  const std::string v = "tensor<6xf32>";
  size_t states = 1 + below(4);
  std::ostringstream arguments, body;
  std::vector<std::string> values{"%x", "%half"};
  for (size_t s = 0; s < states; ++s) {
    arguments << "%s" << s << ": " << v << " {dlc.name = \"s" << s << "\", dlc.state";
    if (below(3))
      arguments << ", dlc.init = dense<" << double(s + 1) / 8 << "> : " << v;
    arguments << "}, ";
    values.push_back("%s" + std::to_string(s));
  }
  body << "  %half = dlc.constant dense<[0.5, -0.5, 0.25, -0.25, 1.0, 0.0]> : " << v << "\n";
  auto any = [&] { return values[below(values.size())]; };
  size_t count = 1 + below(9);
  for (size_t i = 0; i < count; ++i) {
    std::string y = "%v" + std::to_string(i), a = any(), b = any(), t = y + "t";
    std::string unary = " : (" + v + ") -> " + v + "\n",
                binary = " : (" + v + ", " + v + ") -> " + v + "\n";
    switch (below(9)) {
    case 0:
    case 1:
      body << "  " << t << " = dlc.sub " << a << ", " << b << binary;
      break;
    case 2:
      body << "  " << t << " = dlc.mul " << a << ", " << b << binary;
      break;
    case 3: // an operation that may run in place
      body << "  " << t << " = dlc.cumulative sum " << a << " axis 0" << unary;
      break;
    case 4: // a concatenation whose parts are written in place
      body << "  " << y << "p = dlc.slice " << a
           << " start [3] size [3] stride [1] : (tensor<6xf32>) -> tensor<3xf32>\n  " << y
           << "q = dlc.slice " << b
           << " start [0] size [3] stride [1] : (tensor<6xf32>) -> tensor<3xf32>\n  " << t
           << " = dlc.concat 0 (" << y << "p, " << y
           << "q) : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>\n";
      break;
    case 5:
      body << "  " << y << "p = dlc.reshape " << a << " : (tensor<6xf32>) -> tensor<2x3xf32>\n  "
           << y << "q = dlc.tanh " << y << "p : (tensor<2x3xf32>) -> tensor<2x3xf32>\n  " << t
           << " = dlc.reshape " << y << "q : (tensor<2x3xf32>) -> tensor<6xf32>\n";
      break;
    case 6:
      body << "  " << t << " = dlc.if %c : (tensor<i1>) -> " << v << " {\n    " << y
           << "a = dlc.tanh " << a << unary << "    dlc.yield " << y << "a : " << v
           << "\n  } else {\n    " << y << "b = dlc.sub " << b << ", " << any() << binary
           << "    dlc.yield " << y << "b : " << v << "\n  }\n";
      break;
    case 7:
      body << "  " << t << " = dlc.loop trip(%n : tensor<i64>) inits(" << a << " : " << v
           << ") -> (" << v << ") {\n  ^bb0(" << y << "i: tensor<i64>, " << y << "h: " << v
           << "):\n    " << y << "a = dlc.sub " << y << "h, " << b << binary << "    " << y
           << "b = dlc.tanh " << y << "a" << unary << "    dlc.yield " << y << "b : " << v
           << "\n  }\n";
      break;
    case 8: // an update that consists of views only
      body << "  " << y << "p = dlc.reshape " << a << " : (tensor<6xf32>) -> tensor<3x2xf32>\n  "
           << y << " = dlc.reshape " << y << "p : (tensor<3x2xf32>) -> tensor<6xf32>\n";
      values.push_back(y);
      continue;
    }
    // tanh bounds the values, so that rounding differences do not grow.
    body << "  " << y << " = dlc.tanh " << t << unary;
    values.push_back(y);
  }
  std::ostringstream results, types, returned;
  size_t outputs = below(3);
  for (size_t s = 0; s < states + outputs; ++s) {
    if (s < states && below(8) == 0)
      continue; // a state that never changes
    if (!types.str().empty())
      results << ", ", types << ", ", returned << ", ";
    types << v;
    results << v
            << (s < states ? " {dlc.name = \"s" + std::to_string(s) + "\", dlc.state}"
                           : " {dlc.name = \"y" + std::to_string(s) + "\"}");
    // Values computed late are chosen more often.
    returned << (below(2) ? values[values.size() - 1 - below(std::min<size_t>(values.size(), 4))]
                          : any());
  }
  return "func.func @main(" + arguments.str() + "%x: " + v +
         " {dlc.name = \"x\"}, %c: tensor<i1> " +
         "{dlc.name = \"c\"}, %n: tensor<i64> {dlc.name = \"n\"}) -> (" + results.str() + ") {\n" +
         body.str() + "  return" +
         (types.str().empty() ? "" : " " + returned.str() + " : " + types.str()) + "\n}\n";
}

} // namespace

TEST(ModelState, AnyUseOfOldAndNewValues) {
  Folder folder;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::string text = randomProgram(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    std::string error = messageOf([&] {
      expectSameSteps(folder.compile(text, {.threads = 1, .cacheDir = ""}), text, 4, seed);
    });
    ASSERT_EQ(error, "no error");
    if (HasFatalFailure())
      return;
  }
}

/// A training step starts with slow kernels. Kernels that are benchmarked in the background replace
/// them between two steps and keep the state.
TEST(ModelState, GoesOverToWhatIsMeasuredBehind) {
  Folder folder;
  std::ofstream(folder / "step.mlir") << sgd("256");
  auto source = std::make_shared<Source>(folder / "step.mlir");
  CompileOptions options, slow;
  options.threads = slow.threads = 1;
  options.cacheDir = folder / "cache";
  options.tuneInBackground = 10;
  slow.kernels = "rows";
  Shapes shapes = source->complete({});
  std::set<std::string> bound;
  auto first = std::make_shared<LoadedProgram>();
  first->program = compileSource(*source, shapes, {}, slow, bound);
  first->session = std::make_shared<runtime::Session>(first->program);
  first->measurementMutex = std::make_shared<MeasurementMutex>();
  auto background = tuneInBackground(source, options, shapes, {}, bound, first);

  Reference reference(sgd("256"));
  std::mt19937 engine(1);
  auto start = std::chrono::steady_clock::now();
  auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  int after = 0, steps = 0;
  for (; after < 20 && seconds() < 20; ++steps) {
    std::shared_ptr<const LoadedProgram> now = background->now();
    after += now != first;
    std::map<std::string, Tensor> batch = {
        {"x", randomTensor({"x", DType::F32, {256, 40}}, engine)},
        {"t", randomTensor({"t", DType::F32, {256, 24}}, engine)}};
    float loss = 0;
    std::vector<const void *> inputs = {batch["x"].raw(), batch["t"].raw()};
    std::vector<void *> outputs = {&loss};
    auto lock = now->measurementMutex->lockForRun();
    now->session->run(inputs, outputs);
    auto wanted = reference.run(batch);
    double exact = wanted.at("loss").getDouble(0);
    ASSERT_NEAR(loss, exact, 1e-5 + 1e-4 * std::abs(exact)) << "step " << steps;
  }
  EXPECT_EQ(background->error(), "");
  EXPECT_EQ(after, 20) << "no other program within " << seconds() << " s";
  EXPECT_GE(background->swaps(), 1u);
  Tensor w(DType::F32, {40, 24});
  runtime::StateSet &states = background->now()->session->states();
  states.get(states.indexOf("w"), w.raw());
  expectSame(w, reference.states.at("w"), "w after both programs");
}

TEST(ModelState, IsMeasuredBehindAModel) {
  Folder folder;
  Model model = folder.compile(sgd("16"),
                               {.threads = 1, .tuneInBackground = 6, .cacheDir = folder / "cache"});
  expectSameSteps(model, sgd("16"), 200);
  auto start = std::chrono::steady_clock::now();
  while (!model.isTuned() && std::chrono::steady_clock::now() - start < std::chrono::seconds(20))
    model.run({{"x", Tensor(DType::F32, {16, 40})}, {"t", Tensor(DType::F32, {16, 24})}});
  EXPECT_TRUE(model.isTuned());
  EXPECT_EQ(model.programs(), 1u);
  EXPECT_TRUE(std::filesystem::exists(folder / "cache/tuning.jsonl"));
  EXPECT_NE(messageOf([&] {
              folder.compile(counter, {.tuneInBackground = 1, .cacheDir = ""}).run({});
            }).find("requires a cache folder or a tuning database"),
            std::string::npos);
}

TEST(ModelState, TurnsAreTakenByTurns) {
  MeasurementMutex measurementMutex;
  std::atomic<bool> stop{false};
  std::atomic<int> measured{0}, both{0}, inside{0};
  std::thread measuring([&] {
    while (!stop) {
      auto ours = measurementMutex.lockForMeasurement();
      both += inside.fetch_add(1) != 0;
      ++measured;
      inside.fetch_sub(1);
    }
  });
  // Runs without pauses must not block measurements.
  int runs = 0;
  for (auto start = std::chrono::steady_clock::now();
       std::chrono::steady_clock::now() - start < std::chrono::milliseconds(300); ++runs) {
    auto ours = measurementMutex.lockForRun();
    both += inside.fetch_add(1) != 0;
    inside.fetch_sub(1);
  }
  stop = true;
  measuring.join();
  EXPECT_EQ(both, 0);
  EXPECT_GE(measured, runs / 4);
  EXPECT_GE(runs, 100);
}
