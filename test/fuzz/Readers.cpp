//===- Readers.cpp - the fuzzed formats: valid files and their readers ---------===//
#include "test/fuzz/Readers.h"

#include "dlc/Error.h"
#include "runtime/program/Reader.h"
#include "runtime/program/Writer.h"
#include "runtime/program/arrays/Npy.h"
#include "runtime/program/models/Gguf.h"
#include "runtime/session/Session.h"
#include "test/runtime/models/SampleGguf.h"

#if DLC_WITH_FRONTENDS
#include "frontend/gguf/Import.h"
#include "frontend/onnx/Import.h"
#include "frontend/trace/Safetensors.h"
#include "ir/dlc/Dialect.h"
#include "test/fuzz/Quantized.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#endif
#if DLC_WITH_COMPILER
#include "tools/compiler/Programs.h"
#endif

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace dlc::fuzz {
namespace {

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
}

/// Returns files below a folder with this extension and at most `most` bytes, in the order of their
/// names.
std::vector<std::string> seedsBelow(const std::string &folder, const std::string &extension,
                                    uintmax_t most, size_t number) {
  std::vector<std::string> paths, seeds;
  std::error_code ignored;
  for (auto it = std::filesystem::recursive_directory_iterator(folder, ignored);
       it != std::filesystem::recursive_directory_iterator(); it.increment(ignored))
    if (it->path().extension() == extension && it->file_size(ignored) <= most)
      paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  for (size_t i = 0; i < paths.size() && seeds.size() < number;
       i += std::max<size_t>(1, paths.size() / number))
    seeds.push_back(readFile(paths[i]));
  return seeds;
}

Format npyFormat(const std::string &folder) {
  Format format{"npy"};
  std::vector<char> data(4 * 3 * 5 * 8);
  for (DType type : {DType::F32, DType::F64, DType::I64, DType::Bool, DType::BF16}) {
    runtime::writeNpy(folder + "/seed.npy", type, {3, 5}, data.data());
    format.seeds.push_back(readFile(folder + "/seed.npy"));
  }
  format.read = [](const std::string &bytes, const std::string &) {
    runtime::NpyArray array =
        runtime::parseNpy(runtime::copyToOwnedSpan(bytes.data(), bytes.size()), "mutant.npy");
    // Reads all bytes that the array claims to have.
    volatile char sink = 0;
    for (size_t i = 0; i < array.data.bytes; ++i)
      sink = sink ^ static_cast<const char *>(array.data.data)[i];
  };
  return format;
}

#if DLC_WITH_FRONTENDS
/// Imports a GGUF file; throws a dlc::Error with the diagnostics if that fails.
void importDecoder(const std::string &path) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str();
    return mlir::success();
  });
  ImportOptions options;
  options.shapes["ids"] = {2};
  if (mlir::failed(importGguf(context, path, options, nullptr)))
    throw Error(messages);
}
#endif

/// Files of both versions, and a decoder, which is imported. Half of the mutants have damage in the
/// header only, which a reader validates; the data of tensors is larger, and any bytes are valid
/// there.
Format ggufFormat() {
  Format format{"gguf"};
  format.seeds = {test::sampleGguf(2), test::sampleGguf(3), test::sampleDecoder()};
  format.special = [](const std::string &bytes, Engine &engine) {
    size_t header = bytes.find(std::string(24, '\1')); // the data of the first tensor
    std::string start = bytes.substr(0, header);
    return mutateBytes(start, {start}, engine) + bytes.substr(header);
  };
  format.read = [](const std::string &bytes, const std::string &folder) {
    writeFile(folder + "/mutant.gguf", bytes);
    runtime::ModelTable table = runtime::readGguf(folder + "/mutant.gguf");
    volatile float sink = 0;
    for (const auto &[name, tensor] : table.tensors) {
      std::vector<float> values(size_t(tensor.elements()));
      uint32_t elements = runtime::blockFormatInfo(tensor.format).elements;
      runtime::dequantize(tensor.format, tensor.data.data, values.size() / elements, values.data());
      for (float value : values)
        sink = sink + value;
    }
#if DLC_WITH_FRONTENDS
    // The samples of all types are no decoders.
    if (!table.findTensor("tensor.F32"))
      importDecoder(folder + "/mutant.gguf");
#endif
  };
  return format;
}

#if DLC_WITH_FRONTENDS

const char *const models[] = {
    R"(func.func @main(%x: tensor<2x3xf32> {dlc.name = "x"}) -> (tensor<2x4xf32> {dlc.name = "y"}) {
  %w = dlc.constant dense<0.5> : tensor<3x4xf32>
  %p = dlc.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %y = dlc.softmax %p {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
})",
    R"(func.func @main(%x: tensor<1x3x8x8xf32> {dlc.name = "x"}) -> (tensor<1x4x4x4xf32> {dlc.name = "y"}) {
  %w = dlc.constant dense<0.1> : tensor<4x3x3x3xf32>
  %c = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %r = dlc.relu %c : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %y = dlc.max_pool %r {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  return %y : tensor<1x4x4x4xf32>
})",
    R"(func.func @main(%n: tensor<i64> {dlc.name = "n"}, %x: tensor<4xf32> {dlc.name = "x"}) -> (tensor<4xf32> {dlc.name = "y"}, tensor<2xi64> {dlc.name = "k"}) {
  %y = dlc.loop trip(%n : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %p: tensor<4xf32>):
    %s = dlc.add %p, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %s : tensor<4xf32>
  }
  %v, %k = dlc.topk %y {k = 2 : i64, axis = 0 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  return %y, %k : tensor<4xf32>, tensor<2xi64>
})",
    R"(func.func @main(%w: tensor<4xf32> {dlc.name = "w", dlc.state, dlc.parameter, dlc.init = dense<0.5> : tensor<4xf32>},
  %m: tensor<4xf32> {dlc.name = "m", dlc.state}, %x: tensor<4xf32> {dlc.name = "x"})
  -> (tensor<4xf32> {dlc.name = "w", dlc.state}, tensor<4xf32> {dlc.name = "m", dlc.state}, tensor<f32> {dlc.name = "loss"}) {
  %n = dlc.sub %m, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %v = dlc.mul %w, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = dlc.reduce sum %v axes [0] : (tensor<4xf32>) -> tensor<f32>
  return %v, %n, %loss : tensor<4xf32>, tensor<4xf32>, tensor<f32>
})"};

#if DLC_WITH_COMPILER

CompileOptions plainOptions() {
  CompileOptions options;
  options.threads = 1;
  return options;
}

/// Reads a model file as the tool does. Of the accepted files, one of `each` (selected by its
/// length) is compiled and run on zeros.
void readModel(const std::string &path, size_t size, size_t each) {
  Source source(path);
  Shapes shapes = source.complete({}, [](const ValueInfo &, size_t) { return int64_t(1); });
  CompileOptions options = plainOptions();
  options.to = size % each ? Phase::Import : Phase::Native;
  std::set<std::string> bound;
  std::shared_ptr<runtime::Program> program = compileSource(source, shapes, {}, options, bound);
  if (!program)
    return;
  runtime::Session session(program, {1});
  std::vector<std::vector<char>> arrays;
  auto make = [&](const runtime::TensorInfo &info) {
    return static_cast<void *>(arrays.emplace_back(std::max<size_t>(info.bytes, 64)).data());
  };
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  for (const runtime::TensorInfo &input : session.plan().inputs)
    inputs.push_back(make(input));
  for (const runtime::TensorInfo &output : session.plan().outputs)
    outputs.push_back(make(output));
  session.run(inputs, outputs);
}

/// Compiles in a child process, because the processes that read must be forked before the compiler
/// has started threads.
void compileSeeds(const std::string &seeds) {
  pid_t pid = fork();
  if (pid != 0) {
    waitpid(pid, nullptr, 0);
    return;
  }
  for (size_t i = 0; i < std::size(models); ++i) {
    std::string path = seeds + "/seed" + std::to_string(i);
    try {
      writeFile(path + ".mlir", models[i]);
      Source source(path + ".mlir");
      std::set<std::string> bound;
      runtime::writeProgram(*compileSource(source, source.complete({}), {}, plainOptions(), bound),
                            path + ".dlcx");
    } catch (const std::exception &error) {
      std::fprintf(stderr, "seed %zu: %s\n", i, error.what());
    }
  }
  _exit(0);
}

#else

/// If the compiler is not built (under sanitizers), models are read and imported only.
void readModel(const std::string &path, size_t, size_t) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<DlcDialect, mlir::func::FuncDialect>();
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str();
    return mlir::success();
  });
  if (path.ends_with(".mlir")) {
    if (!mlir::parseSourceFile<mlir::ModuleOp>(path, mlir::ParserConfig(&context)))
      throw Error(messages);
    return;
  }
  mlir::FailureOr<ImportInfo> info = inspectOnnx(context, path);
  if (mlir::failed(info))
    throw Error(messages);
  ImportOptions options;
  for (const ImportInfo::Value &input : info->inputs) {
    options.shapes[input.name] = input.dims;
    for (int64_t &dim : options.shapes[input.name])
      dim = dim < 0 ? 1 : dim;
  }
  if (mlir::failed(importOnnx(context, path, options, &*info)))
    throw Error(messages);
}

void compileSeeds(const std::string &) {}

#endif

Format mlirFormat(const std::string &source) {
  Format format{"mlir"};
  format.isText = true;
  format.seeds = seedsBelow(source + "/test", ".mlir", 8000, 60);
  format.seeds.insert(format.seeds.end(), std::begin(models), std::end(models));
  format.read = [](const std::string &bytes, const std::string &folder) {
    writeFile(folder + "/mutant.mlir", bytes);
    readModel(folder + "/mutant.mlir", bytes.size(), 8);
  };
  return format;
}

Format onnxFormat(const std::string &packages) {
  Format format{"onnx"};
  std::error_code ignored;
  for (auto &lib : std::filesystem::directory_iterator(packages + "/lib", ignored))
    for (const std::string &seed : seedsBelow(
             lib.path().string() + "/site-packages/onnx/backend/test/data", ".onnx", 6000, 60))
      format.seeds.push_back(seed);
  format.read = [](const std::string &bytes, const std::string &folder) {
    writeFile(folder + "/mutant.onnx", bytes);
    readModel(folder + "/mutant.onnx", bytes.size(), 8);
  };
  return format;
}

Format quantizedFormat(const std::string &models) {
  Format format{"quantized.onnx"};
  format.seeds = seedsBelow(models, ".onnx", 1 << 17, 1000);
  format.special = damageModel;
  format.read = [](const std::string &bytes, const std::string &folder) {
    writeFile(folder + "/mutant.onnx", bytes);
    readModel(folder + "/mutant.onnx", bytes.size(), 1);
  };
  return format;
}

Format safetensorsFormat(const std::string &folder) {
  Format format{"safetensors"};
  safetensors::Tensors tensors;
  for (int i = 0; i < 4; ++i) {
    tensors["layer." + std::to_string(i) + ".weight"] =
        trace::Array::zeros(i % 2 ? DType::F32 : DType::I64, {2, 3 + i});
    safetensors::write(folder + "/seed.safetensors", tensors, {{"format", "pt"}});
    format.seeds.push_back(readFile(folder + "/seed.safetensors"));
  }
  format.read = [](const std::string &bytes, const std::string &folder) {
    writeFile(folder + "/mutant.safetensors", bytes);
    volatile char sink = 0;
    for (const auto &[name, array] : safetensors::read(folder + "/mutant.safetensors").tensors)
      for (size_t i = 0; i < array.bytes(); ++i)
        sink = sink ^ array.as<char>()[i];
  };
  return format;
}

/// Mutates one member of the manifest. The checksums of the file are computed afterwards, so that
/// they do not hide the mutation.
void damageJson(nlohmann::json &json, Engine &engine) {
  nlohmann::json *at = &json;
  while (at->is_structured() && !at->empty() && below(engine, 8) != 0)
    at = &*std::next(at->begin(), long(below(engine, at->size())));
  static const nlohmann::json values[] = {nullptr,
                                          -1,
                                          0,
                                          1,
                                          3,
                                          1e300,
                                          0.5,
                                          255,
                                          4096,
                                          INT64_MAX,
                                          INT64_MIN,
                                          1ll << 40,
                                          "",
                                          "f32",
                                          "onednn",
                                          true,
                                          nlohmann::json::array(),
                                          nlohmann::json::object(),
                                          {1, 2, 3},
                                          {-1},
                                          {{"dims", {1, 1ll << 50}}}};
  if (at->is_structured() && !at->empty() && below(engine, 3) == 0)
    at->erase(std::next(at->begin(), long(below(engine, at->size()))));
  else if (at->is_number_integer() && below(engine, 2))
    *at = int64_t(uint64_t(at->get<int64_t>()) + below(engine, 129) - 64);
  else
    *at = values[below(engine, std::size(values))];
}

Format dlcxFormat(const std::string &seeds) {
  Format format{"dlcx"};
  format.count = 3500;
  compileSeeds(seeds);
  format.seeds = seedsBelow(seeds, ".dlcx", 1 << 20, std::size(models));
  format.special = [](const std::string &bytes, Engine &engine) {
    runtime::Program program = runtime::readProgram(bytes.data(), bytes.size());
    for (size_t i = 0, n = 1 + below(engine, 2); i < n; ++i)
      damageJson(program.manifest, engine);
    // The result represents a file with correct checksums. read() splits it into manifest and bytes
    // again.
    return "manifest" + program.manifest.dump() + '\0' + bytes;
  };
  format.read = [](const std::string &bytes, const std::string &) {
    if (bytes.rfind("manifest", 0) != 0) {
      runtime::Session session(
          std::make_shared<runtime::Program>(runtime::readProgram(bytes.data(), bytes.size())),
          {1});
      return;
    }
    size_t end = bytes.find('\0');
    auto program = std::make_shared<runtime::Program>(
        runtime::readProgram(bytes.data() + end + 1, bytes.size() - end - 1));
    program->manifest = nlohmann::json::parse(bytes.substr(8, end - 8));
    runtime::Session session(program, {1});
  };
  return format;
}

#endif

} // namespace

std::vector<Format> makeFormats(const std::string &source, const std::string &packages,
                                const std::string &seeds, const std::string &models,
                                const std::string &folder) {
  std::vector<Format> formats;
  formats.push_back(npyFormat(folder));
  formats.push_back(ggufFormat());
#if DLC_WITH_FRONTENDS
  formats.push_back(safetensorsFormat(folder));
  formats.push_back(dlcxFormat(seeds.empty() ? folder : seeds));
  formats.push_back(mlirFormat(source));
  formats.push_back(onnxFormat(packages));
  formats.push_back(quantizedFormat(models));
#endif
  std::erase_if(formats, [](const Format &f) { return f.seeds.empty(); });
  return formats;
}

} // namespace dlc::fuzz
