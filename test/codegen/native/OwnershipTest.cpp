//===- OwnershipTest.cpp - programs that outlive their compiler -----------===//
//
// Each test compiles a program in its own context, destroys the context, and then runs the program,
// saves it and runs the saved program. The reference evaluator computes the expected results while
// the context exists. Freed memory is overwritten. Every byte of the constants is read here, where
// sanitizers detect invalid reads, because kernels are not instrumented.
//
//===----------------------------------------------------------------------===//
#include "codegen/Pipeline.h"
#include "ir/reference/Evaluate.h"
#include "runtime/program/Reader.h"
#include "runtime/program/Writer.h"
#include "runtime/session/Session.h"
#include "runtime/session/state/State.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <malloc.h>
#include <numeric>

using namespace mlir;

namespace dlc {
namespace {

using Arrays = std::vector<std::vector<char>>;

/// Temporary folder that is removed at the end of a test.
class Folder {
public:
  Folder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "dlc-ownership-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const { return (path / name).string(); }

private:
  std::filesystem::path path;
};

/// How a constant's elements are stored in the module.
enum class Storage {
  Attribute, ///< as created by Tensor::toAttr: dense elements, or a resource above a certain size
  Foreign    ///< a resource that MLIR allocated, as its parser does
};

/// Returns small values that differ along each dimension and whose sums are exact in f32.
ref::Tensor numbers(RankedTensorType type, int64_t seed) {
  ref::Tensor tensor = ref::Tensor::empty(type);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setDouble(i, double((i * 7 + i / 13 + seed) % 11 - 5) / 4);
  return tensor;
}

ElementsAttr attributeOf(const ref::Tensor &tensor, Storage storage) {
  if (storage == Storage::Attribute)
    return tensor.toAttr();
  return DenseResourceElementsAttr::get(
      tensor.getType(), "foreign",
      HeapAsmResourceBlob::allocateAndCopyWithAlign({tensor.data(), size_t(tensor.bytes())}, 64));
}

struct Made {
  std::shared_ptr<runtime::Program> program;
  Arrays inputs, wanted;
};

/// Compiles @main. The arguments after the first `inputs` become constants. The context is
/// destroyed on return.
Made compileAndForget(const std::string &text, unsigned inputs, CompileOptions options,
                      Storage storage = Storage::Attribute) {
  Made made;
  MLIRContext context;
  prepareContext(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  if (!module)
    return made;
  auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
  SmallVector<ref::Tensor> arguments, results;
  for (BlockArgument argument : main.getArguments())
    arguments.push_back(
        numbers(cast<RankedTensorType>(argument.getType()), argument.getArgNumber()));
  EXPECT_TRUE(succeeded(ref::evaluate(main, arguments, results)));
  auto bytesOf = [](const ref::Tensor &tensor) {
    return std::vector<char>(tensor.data(), tensor.data() + tensor.bytes());
  };
  for (unsigned i = 0; i < inputs; ++i)
    made.inputs.push_back(bytesOf(arguments[i]));
  for (const ref::Tensor &result : results)
    made.wanted.push_back(bytesOf(result));

  OpBuilder builder = OpBuilder::atBlockBegin(&main.front());
  llvm::BitVector erased(main.getNumArguments());
  for (unsigned i = inputs; i < main.getNumArguments(); ++i) {
    main.getArgument(i).replaceAllUsesWith(ConstantOp::create(
        builder, main.getLoc(), main.getArgument(i).getType(), attributeOf(arguments[i], storage)));
    erased.set(i);
  }
  EXPECT_TRUE(succeeded(main.eraseArguments(erased)));
  auto compiled = compile(*module, options);
  EXPECT_TRUE(succeeded(compiled));
  if (succeeded(compiled))
    made.program = *compiled;
  return made;
}

/// Returns the sum of the bytes of all constants.
uint64_t sumOfConstants(const runtime::Program &program) {
  uint64_t sum = 0;
  for (const runtime::Span &span : program.constants) {
    EXPECT_TRUE(span.bytes == 0 || span.owner.use_count() > 0);
    const auto *bytes = static_cast<const unsigned char *>(span.data);
    sum = std::accumulate(bytes, bytes + span.bytes, sum);
  }
  return sum;
}

void expectRuns(runtime::Session &session, const Made &made) {
  Arrays outputs;
  std::vector<const void *> from;
  std::vector<void *> to;
  for (const std::vector<char> &input : made.inputs)
    from.push_back(input.data());
  for (const runtime::TensorInfo &info : session.plan().outputs)
    outputs.emplace_back(info.bytes, char(0x5a));
  for (std::vector<char> &output : outputs)
    to.push_back(output.data());
  session.run(from, to);
  ASSERT_EQ(outputs.size(), made.wanted.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSERT_EQ(outputs[i].size(), made.wanted[i].size());
    const auto *found = reinterpret_cast<const float *>(outputs[i].data()),
               *wanted = reinterpret_cast<const float *>(made.wanted[i].data());
    float largest = 1;
    for (size_t k = 0; k < outputs[i].size() / sizeof(float); ++k)
      largest = std::max(largest, std::abs(wanted[k]));
    for (size_t k = 0; k < outputs[i].size() / sizeof(float); ++k)
      ASSERT_NEAR(found[k], wanted[k], 1e-4 * largest) << "element " << k << " of output " << i;
  }
}

/// Runs and saves the program, and runs the saved program.
void expectLives(const Made &made) {
  ASSERT_TRUE(made.program);
  const uint64_t sum = sumOfConstants(*made.program);
  auto session = std::make_unique<runtime::Session>(made.program);
  expectRuns(*session, made);
  Folder folder;
  const std::string path = folder / "saved.dlcx";
  runtime::writeProgram(*session->program(), path);
  expectRuns(*session, made);
  session = nullptr;

  auto saved = std::make_shared<runtime::Program>(runtime::readProgram(path));
  EXPECT_EQ(sumOfConstants(*saved), sum);
  runtime::Session again(saved);
  expectRuns(again, made);
  // Replaces the file that the program is mapped from, and removes it.
  runtime::writeProgram(*saved, path);
  std::filesystem::remove(path);
  expectRuns(again, made);
  EXPECT_EQ(sumOfConstants(*saved), sum);
}

/// Checks whether the program calls a provider's kernels, by the name of the library or of the
/// kernel.
bool usesKernels(const runtime::Program &program, const std::string &provider) {
  for (const nlohmann::json &command : program.manifest["commands"])
    if (command.value("library", "") == provider)
      return true;
  runtime::Session session(std::make_shared<runtime::Program>(program));
  for (const runtime::CommandInfo &command : session.commands())
    if (command.op == "library" && command.implementation.starts_with(provider + ":"))
      return true;
  return false;
}

/// Fills freed memory with a pattern. Allocators that do not support M_PERTURB, such as those of
/// sanitizers, have their own option.
struct Ownership : testing::Test {
  Ownership() { mallopt(M_PERTURB, 0xa5); }
  ~Ownership() override { mallopt(M_PERTURB, 0); }

  static CompileOptions options(const std::string &kernels = "") {
    CompileOptions options;
    options.threads = 2;
    options.kernels = kernels;
    return options;
  }
};

std::string tensorText(std::initializer_list<int64_t> shape, const char *element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

//===--- Constants of each size, as they are stored --------------------------===//

/// Rows and columns of f32 matrices of 64 B, 1 KiB, 20 KiB and 2 MiB.
struct Matrix {
  int64_t rows, columns;
};
constexpr Matrix kMatrices[] = {{4, 4}, {16, 16}, {64, 80}, {512, 1024}};

/// @main(x, w) = x + w.
std::string sumText(Matrix m) {
  std::string type = tensorText({m.rows, m.columns});
  return "func.func @main(%x: " + type + ", %w: " + type + ") -> " + type +
         " {\n%y = dlc.add %x, %w : (" + type + ", " + type + ") -> " + type +
         "\nreturn %y : " + type + "\n}";
}

TEST_F(Ownership, ConstantsAsTheyAreStored) {
  for (Matrix m : kMatrices)
    for (Storage storage : {Storage::Attribute, Storage::Foreign}) {
      SCOPED_TRACE(std::to_string(m.rows * m.columns * 4) + " bytes, storage " +
                   std::to_string(int(storage)));
      expectLives(compileAndForget(sumText(m), 1, options(), storage));
    }
}

/// @main(x, w) = x + transpose(w) + slice of w. The constant is read with different strides.
TEST_F(Ownership, ConstantsThatAreReadWithStrides) {
  for (Matrix m : kMatrices)
    for (Storage storage : {Storage::Attribute, Storage::Foreign}) {
      SCOPED_TRACE(std::to_string(m.rows * m.columns * 4) + " bytes, storage " +
                   std::to_string(int(storage)));
      std::string whole = tensorText({m.rows, m.columns}),
                  transposed = tensorText({m.columns, m.rows}),
                  half = tensorText({m.columns, m.rows / 2});
      std::string text =
          "func.func @main(%x: " + transposed + ", %z: " + half + ", %w: " + whole + ") -> (" +
          transposed + ", " + half + ") {\n%t = dlc.transpose %w [1, 0] : (" + whole + ") -> " +
          transposed + "\n%y = dlc.add %x, %t : (" + transposed + ", " + transposed + ") -> " +
          transposed + "\n%s = dlc.slice %t start [0, 0] size [" + std::to_string(m.columns) +
          ", " + std::to_string(m.rows / 2) + "] stride [1, 2] : (" + transposed + ") -> " + half +
          "\n%u = dlc.add %z, %s : (" + half + ", " + half + ") -> " + half +
          "\nreturn %y, %u : " + transposed + ", " + half + "\n}";
      expectLives(compileAndForget(text, 2, options(), storage));
    }
}

//===--- Constants that providers pack ---------------------------------------===//

/// @main(x, w) = relu(x w), or x times the transposed w.
std::string productText(Matrix m, bool transposed) {
  std::string x = tensorText({32, m.rows}),
              w = transposed ? tensorText({m.columns, m.rows}) : tensorText({m.rows, m.columns}),
              y = tensorText({32, m.columns});
  return "func.func @main(%x: " + x + ", %w: " + w + ") -> " + y + " {\n%0 = dlc.matmul %x, %w" +
         (transposed ? " transpose_b" : "") + " : (" + x + ", " + w + ") -> " + y +
         "\n%y = dlc.relu %0 : (" + y + ") -> " + y + "\nreturn %y : " + y + "\n}";
}

/// @main(x, w): a padded 3 x 3 convolution.
std::string convolutionText(int64_t results, int64_t channels) {
  std::string x = tensorText({1, channels, 8, 8}), w = tensorText({results, channels, 3, 3}),
              y = tensorText({1, results, 8, 8});
  return "func.func @main(%x: " + x + ", %w: " + w + ") -> " + y +
         " {\n%y = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
         "low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (" +
         x + ", " + w + ") -> " + y + "\nreturn %y : " + y + "\n}";
}

/// @main(x, q, s) = x times block-quantized weights: blocks of 16 8-bit values with one scale each.
std::string blocksText(int64_t n, int64_t blocks) {
  std::string q = tensorText({n, blocks, 16}, "i8"), i = tensorText({n, blocks, 16}, "i32"),
              f = tensorText({n, blocks, 16}), s = tensorText({n, blocks, 1}),
              w = tensorText({n, blocks * 16}), x = tensorText({9, blocks * 16}),
              y = tensorText({9, n});
  return "func.func @main(%x: " + x + ", %q: " + q + ", %s: " + s + ") -> " + y +
         " {\n%0 = dlc.cast %q to i32 : (" + q + ") -> " + i + "\n%1 = dlc.cast %0 to f32 : (" + i +
         ") -> " + f + "\n%2 = dlc.mul %1, %s : (" + f + ", " + s + ") -> " + f +
         "\n%3 = dlc.reshape %2 : (" + f + ") -> " + w +
         "\n%y = dlc.matmul %x, %3 transpose_b : (" + x + ", " + w + ") -> " + y +
         "\nreturn %y : " + y + "\n}";
}

std::vector<std::string> textsFor(const std::string &provider) {
  std::vector<std::string> texts;
  if (provider == "direct" || provider == "winograd") {
    // 2304 B, 20.25 KiB and 2 MiB of weights.
    for (auto [results, channels] : {std::pair(8, 8), {32, 18}, {256, 228}})
      texts.push_back(convolutionText(results, channels));
  } else if (provider == "blocks") {
    for (auto [n, blocks] : {std::pair(16, 4), {80, 16}, {1024, 128}})
      texts.push_back(blocksText(n, blocks));
  } else {
    for (Matrix m : kMatrices)
      for (bool transposed : {false, true})
        texts.push_back(productText(m, transposed));
    if (provider == "onednn" || provider == "tiles")
      for (auto [results, channels] : {std::pair(8, 8), {32, 18}})
        texts.push_back(convolutionText(results, channels));
  }
  return texts;
}

struct OwnershipOfPacked : Ownership, testing::WithParamInterface<const char *> {};

TEST_P(OwnershipOfPacked, WeightsLiveWithTheProgram) {
  bool isUsed = false;
  for (const std::string &text : textsFor(GetParam()))
    for (Storage storage : {Storage::Attribute, Storage::Foreign}) {
      SCOPED_TRACE(text);
      Made made = compileAndForget(text, 1, options(GetParam()), storage);
      expectLives(made);
      ASSERT_TRUE(made.program);
      isUsed |= usesKernels(*made.program, GetParam());
    }
  if (!isUsed && std::string(GetParam()) != "contract" && std::string(GetParam()) != "generated")
    GTEST_SKIP() << "this processor runs none of these kernels";
}

INSTANTIATE_TEST_SUITE_P(Providers, OwnershipOfPacked,
                         testing::Values("onednn", "vectors", "tiles", "strassen", "contract",
                                         "generated", "direct", "winograd", "blocks"),
                         [](const auto &info) { return std::string(info.param); });

/// A session copies the constants to the device when it is created.
TEST_F(Ownership, ConstantsOnAnotherDevice) {
  CompileOptions there = options();
  there.device = "cpu:1";
  for (Matrix m : kMatrices) {
    SCOPED_TRACE(std::to_string(m.rows * m.columns * 4) + " bytes");
    expectLives(compileAndForget(sumText(m), 1, there));
    expectLives(compileAndForget(productText(m, true), 1, there));
  }
}

//===--- Values of states and inputs -----------------------------------------===//

/// Initial values of states (`dlc.init`) are constants, too.
TEST_F(Ownership, StatesBeginWithTheirValues) {
  for (int64_t count : {16, 256, 5120, 512 * 1024}) {
    SCOPED_TRACE(count);
    std::shared_ptr<runtime::Program> program;
    {
      MLIRContext context;
      prepareContext(context);
      std::string type = tensorText({count});
      std::string state = "{dlc.name = \"s\", dlc.state}";
      auto module = parseSourceString<ModuleOp>(
          "func.func @main(%s: " + type + " " + state + ", %x: " + type + ") -> (" + type + " " +
              state + ", " + type + ") {\n%n = dlc.add %s, %x : (" + type + ", " + type + ") -> " +
              type + "\n%y = dlc.mul %n, %x : (" + type + ", " + type + ") -> " + type +
              "\nreturn %n, %y : " + type + ", " + type + "\n}",
          &context);
      ASSERT_TRUE(module);
      auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
      main.setArgAttr(0, "dlc.init",
                      numbers(cast<RankedTensorType>(main.getArgument(0).getType()), 3).toAttr());
      auto compiled = compile(*module, options());
      ASSERT_TRUE(succeeded(compiled));
      program = *compiled;
    }
    auto valueAt = [](int64_t i) { return float((i * 7 + i / 13 + 3) % 11 - 5) / 4; };
    runtime::Session session(program);
    std::vector<float> x(size_t(count), 2), y(x), kept(x);
    const void *from = x.data();
    void *to = y.data();
    session.run({&from, 1}, {&to, 1});
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(y[size_t(i)], (valueAt(i) + 2) * 2) << i;
    // Checks the initial values, in this session and in a saved program.
    session.states().reset();
    session.states().get(0, kept.data());
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(kept[size_t(i)], valueAt(i)) << i;
    Folder folder;
    runtime::writeProgram(session.states().started(), folder / "started.dlcx");
    runtime::Session started(
        std::make_shared<runtime::Program>(runtime::readProgram(folder / "started.dlcx")));
    started.run({&from, 1}, {&to, 1});
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(y[size_t(i)], (valueAt(i) + 2) * 2) << i;
  }
}

/// Two sessions share a program. The session that was created first is destroyed first.
TEST_F(Ownership, SessionsShareAProgram) {
  Made made = compileAndForget(productText({64, 80}, true), 1, options());
  ASSERT_TRUE(made.program);
  auto first = std::make_unique<runtime::Session>(made.program);
  auto second = std::make_unique<runtime::Session>(
      made.program, runtime::SessionOptions{.threads = 1, .shareState = first.get()});
  made.program = nullptr;
  expectRuns(*first, made);
  first = nullptr;
  expectRuns(*second, made);
}

#if GTEST_HAS_DEATH_TEST
TEST_F(Ownership, SpansWithoutAnOwnerAreRefused) {
  const float value = 1;
  EXPECT_DEATH(runtime::Span(&value, sizeof value, nullptr), "needs an owner");
  EXPECT_EQ(runtime::Span(nullptr, 0, nullptr).bytes, 0u);
}
#endif

} // namespace
} // namespace dlc
