//===- main.cpp - dlc's convolution kernels compared with oneDNN's --------===//
//
// dlc-convolutions [threads] [seconds] [layout] [batch]: prints one line per layer with forward,
// data gradient and weight gradient. The kernels are measured interleaved; the minimum time counts.
// oneDNN uses the same layout (acdb or aBcd16b). At batch 1, weights are packed in advance; for
// larger batches they are packed within the call. Direct convolutions require packed weights.
//
//===-----------------------------------------------------------------------------===//
#include "runtime/device/cpu/Features.h"
#include "runtime/library/Library.h"
#include "runtime/library/direct/Describe.h"
#include "runtime/library/onednn/Describe.h"
#include "runtime/library/schema/Schema.h"
#include "runtime/library/tiles/Convolution.h"
#include "runtime/library/tiles/Describe.h"
#include "runtime/library/winograd/Describe.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using nlohmann::json;
namespace schema = dlc::schema;

namespace {

struct ConvLayer {
  const char *name;
  int64_t batch, channels, features, size, window, stride = 1;

  int64_t outSize() const { return (size + 2 * (window / 2) - window) / stride + 1; }
  bool hasTransform() const { return stride == 1 && window > 1; }
};

constexpr ConvLayer kLayers[] = {
    {"224x224x3, 7x7/2", 1, 3, 64, 224, 7, 2},
    {"56x56x64", 1, 64, 64, 56, 3},
    {"28x28x128", 1, 128, 128, 28, 3},
    {"14x14x256", 1, 256, 256, 14, 3},
    {"7x7x512", 1, 512, 512, 7, 3},
    {"56x56x128, 3x3/2", 1, 128, 128, 56, 3, 2},
    {"28x28x256, 3x3/2", 1, 256, 256, 28, 3, 2},
    {"14x14x512, 3x3/2", 1, 512, 512, 14, 3, 2},
    {"56x56, 64 to 256", 1, 64, 256, 56, 1},
    {"56x56, 256 to 64", 1, 256, 64, 56, 1},
    {"28x28, 128 to 512", 1, 128, 512, 28, 1},
    {"28x28, 512 to 128", 1, 512, 128, 28, 1},
    {"14x14, 256 to 1024", 1, 256, 1024, 14, 1},
    {"14x14, 1024 to 256", 1, 1024, 256, 14, 1},
    {"7x7, 512 to 2048", 1, 512, 2048, 7, 1},
    {"7x7, 2048 to 512", 1, 2048, 512, 7, 1},
    {"28x28, 512 to 1024/2", 1, 512, 1024, 28, 1, 2},
    {"224x224x3, 7x7/2", 16, 3, 64, 224, 7, 2},
    {"56x56x64", 16, 64, 64, 56, 3},
    {"28x28x128", 16, 128, 128, 28, 3},
    {"14x14x256", 16, 256, 256, 14, 3},
    {"7x7x512", 16, 512, 512, 7, 3},
    {"28x28x256, 3x3/2", 16, 256, 256, 28, 3, 2},
    {"56x56, 64 to 256", 16, 64, 256, 56, 1},
    {"56x56, 256 to 64", 16, 256, 64, 56, 1},
    {"14x14, 256 to 1024", 16, 256, 1024, 14, 1},
    {"14x14, 1024 to 256", 16, 1024, 256, 14, 1},
    {"14x14, 256 to 384", 16, 256, 384, 14, 3},
    {"28x28, 96 to 256", 16, 96, 256, 28, 5},
    {"32x32x16", 128, 16, 16, 32, 3},
    {"16x16x32", 128, 32, 32, 16, 3},
    {"8x8x64", 128, 64, 64, 8, 3},
};

/// A prepared library call with its scratch memory and number of threads.
struct PreparedCall {
  PreparedCall(const char *library, const json &desc,
               const std::vector<dlc::runtime::BufferInfo> &buffers, int threads)
      : threads(threads), call(dlc::runtime::createCall(library, desc, buffers, threads)),
        scratch(std::aligned_alloc(64, (call->scratchBytes() + 127) / 64 * 64), std::free) {}
  void run(const std::vector<void *> &buffers) const {
    call->execute(buffers.data(), {scratch.get(), threads});
  }

  int threads;
  std::unique_ptr<dlc::runtime::LibraryCall> call;
  std::unique_ptr<void, void (*)(void *)> scratch;
};

/// Page-aligned array of f32 numbers, none of which is denormal.
class AlignedFloats {
public:
  explicit AlignedFloats(int64_t count)
      : memory(static_cast<float *>(
            std::aligned_alloc(4096, size_t(count * 4 + 4095) / 4096 * 4096))) {
    for (int64_t i = 0; i < count; ++i)
      memory[i] = float(i * 7919 % 2001 - 1000) / 1000;
  }
  ~AlignedFloats() { std::free(memory); }
  AlignedFloats(const AlignedFloats &) = delete;
  AlignedFloats &operator=(const AlignedFloats &) = delete;
  float *data() const { return memory; }

private:
  float *memory;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void stop(const std::string &error) {
  std::fprintf(stderr, "%s\n", error.c_str());
  std::exit(1);
}

/// Measures the functions in interleaved rounds. Returns the minimum time of each function in
/// seconds.
std::vector<double> measureInterleaved(const std::vector<std::function<void()>> &runs,
                                       double seconds) {
  std::vector<double> best(runs.size(), 1e9);
  double start = now();
  for (int round = 0; round < 3 || now() - start < seconds; ++round)
    for (size_t i = 0; i < runs.size(); ++i) {
      double from = now();
      runs[i]();
      best[i] = std::min(best[i], now() - from);
    }
  return best;
}

enum Form { Forward, Data, Weights };

struct ConvBenchmark {
  const ConvLayer &layer;
  Form form;
  int threads;
  std::string tag;

  /// Returns the layout of an image tensor. With fewer channels than a block of 16, it is stored
  /// unblocked.
  std::string layoutOf(const std::vector<int64_t> &image) const {
    return tag != "acdb" && image[1] < 16 ? "abcd" : tag;
  }
  schema::Layout described(std::vector<int64_t> dims, const std::string &layout) const {
    schema::Layout made;
    made.dims = std::move(dims);
    made.dtype = "f32";
    made.tag = layout;
    return made;
  }

  std::vector<int64_t> x() const { return {layer.batch, layer.channels, layer.size, layer.size}; }
  std::vector<int64_t> y() const {
    return {layer.batch, layer.features, layer.outSize(), layer.outSize()};
  }
  bool packed() const { return layer.batch == 1; }
  std::vector<int64_t> pads() const { return {layer.window / 2, layer.window / 2}; }

  /// Argument of a oneDNN call: its name, and its field in the description.
  struct Argument {
    const char *name;
    schema::Maybe<schema::Layout> schema::OnednnArguments::*field;
  };
  Argument image() const {
    return form == Data ? Argument{"diff_src", &schema::OnednnArguments::diffSrc}
                        : Argument{"src", &schema::OnednnArguments::src};
  }
  Argument weights() const {
    return form == Weights ? Argument{"diff_weights", &schema::OnednnArguments::diffWeights}
                           : Argument{"weights", &schema::OnednnArguments::weights};
  }
  Argument result() const {
    return form == Forward ? Argument{"dst", &schema::OnednnArguments::dst}
                           : Argument{"diff_dst", &schema::OnednnArguments::diffDst};
  }

  json direct() const {
    using Kind = schema::OnednnKind;
    const Kind kinds[] = {Kind::Convolution, Kind::ConvolutionBackwardData,
                          Kind::ConvolutionBackwardWeights};
    schema::OnednnCall call;
    call.kind = kinds[form];
    schema::OnednnConvolution window;
    window.strides = {layer.stride, layer.stride};
    window.dilations = {0, 0};
    window.low = window.high = pads();
    schema::OnednnArguments arguments;
    arguments.*image().field = described(x(), layoutOf(x()));
    arguments.*result().field = described(y(), layoutOf(y()));
    schema::Layout taps =
        described({layer.features, layer.channels, layer.window, layer.window}, "any");
    if (!packed())
      taps.outside = "abcd";
    arguments.*weights().field = taps;
    json desc = call.toJson();
    desc.update(window.toJson());
    desc.update(arguments.toJson());
    return desc;
  }

  json transformed(int tile) const {
    return {{"kind", form == Weights ? "convolution_weights" : "convolution"},
            {"tile", tile},
            {"window", layer.window},
            {"block", dlc::runtime::hostLanes() == 16 ? 16 : 8},
            {"src", form == Data ? y() : x()},
            {"dst", form == Data ? x() : y()},
            {"pads", pads()},
            {"channels_last", tag == "acdb"},
            {"transposed", form == Data},
            {"packed", packed()}};
  }

  /// Returns the JSON description of dlc's direct convolution for the layer, or null if that kernel
  /// does not support the layer.
  json directly() const {
    int64_t block = dlc::runtime::hostLanes() == 16 ? 16 : 8;
    if (form != Forward || !packed() || layer.channels % block || layer.features % block)
      return nullptr;
    return {{"kind", "convolution"},
            {"block", block},
            {"src", x()},
            {"dst", y()},
            {"window", {layer.window, layer.window}},
            {"strides", {layer.stride, layer.stride}},
            {"dilations", {1, 1}},
            {"pads", pads()},
            {"channels_last", tag == "acdb"}};
  }

  /// Returns the JSON description of the AMX-tile kernel for the layer, whose operands are split in
  /// two bf16 parts, or null if that kernel does not support the layer.
  json onTiles() const {
    if (!dlc::tiles::isAvailable() || tag != "acdb" || (form == Data && layer.stride > 1))
      return nullptr;
    if (!isMatmul()) {
      if (form == Weights)
        return nullptr;
      schema::TilesConvolution convolution;
      convolution.src = form == Data ? y() : x();
      convolution.dst = form == Data ? x() : y();
      convolution.window = {layer.window, layer.window};
      convolution.strides = {layer.stride, layer.stride};
      convolution.dilations = {1, 1};
      convolution.pads = pads();
      convolution.isTransposed = form == Data;
      convolution.weights = packed() ? schema::WeightsForm::Packed : schema::WeightsForm::Plain;
      return convolution.toJson();
    }
    json desc = matmul().toJson();
    desc.update(schema::TilesKernel().toJson());
    return desc;
  }

  /// Returns true if the convolution is a matmul of pixels by weights.
  bool isMatmul() const { return layer.window == 1 && layer.stride == 1; }

  schema::Product matmul() const {
    int64_t c = layer.channels, f = layer.features, pixels = layer.batch * layer.size * layer.size;
    schema::Product product;
    product.m = form == Weights ? f : pixels;
    product.n = form == Forward ? f : c;
    product.k = form == Weights ? pixels : form == Data ? f : c;
    product.a = form == Weights ? schema::Integers{1, f} : schema::Integers{product.k, 1};
    product.b.isPacked = packed();
    product.b.strides = form == Forward ? schema::Integers{1, c} : schema::Integers{c, 1};
    product.dst = {product.n, 1};
    return product;
  }

  void run(double seconds) const {
    AlignedFloats xs(stored(x())), ys(stored(y())),
        ws(3 * stored({layer.features, layer.channels, layer.window, layer.window}));
    auto library = dlc::onednn::describe(direct(), threads);
    if (!library.ok)
      stop(library.error);
    std::vector<void *> buffers;
    for (const auto &argument : library.arguments)
      buffers.push_back(argument.name == image().name    ? xs.data()
                        : argument.name == result().name ? ys.data()
                                                         : ws.data());
    std::vector<std::function<void()>> runs;
    // Declares huge buffers to pass the size check of library calls: the arrays are allocated for
    // the layer.
    const std::vector<dlc::runtime::BufferInfo> infos(3, {uint64_t(1) << 50, true});
    std::vector<std::unique_ptr<PreparedCall>> calls;
    auto add = [&](const char *library, const json &desc, const std::vector<void *> &own) {
      calls.push_back(std::make_unique<PreparedCall>(library, desc, infos, threads));
      runs.push_back([call = calls.back().get(), own] { call->run(own); });
    };
    add("onednn", library.desc, buffers);
    auto operands = [&](void *weights) {
      return form == Forward ? std::vector<void *>{xs.data(), weights, ys.data()}
             : form == Data  ? std::vector<void *>{ys.data(), weights, xs.data()}
                             : std::vector<void *>{xs.data(), ys.data(), weights};
    };
    std::vector<dlc::runtime::PackedWeights> weights;
    if (layer.hasTransform())
      for (int tile : {2, 4}) {
        float *from = ws.data();
        if (packed()) {
          weights.push_back(dlc::winograd::packWeights(transformed(tile), from, threads));
          from = static_cast<float *>(weights.back().data.get());
        }
        add("winograd", transformed(tile), operands(from));
      }
    size_t tiles = runs.size();
    std::unique_ptr<void, void (*)(void *)> right(nullptr, std::free);
    if (json desc = onTiles(); !desc.is_null()) {
      void *from = ws.data();
      if (packed()) {
        right.reset(std::aligned_alloc(64, packedSize(desc)));
        pack(desc, ws.data(), right.get());
        from = right.get();
      }
      auto own = operands(from);
      if (form == Weights)
        std::swap(own[0], own[1]);
      add("tiles", desc, own);
    }
    size_t direct = runs.size();
    dlc::runtime::PackedWeights directWeights;
    if (json desc = directly(); !desc.is_null()) {
      directWeights = dlc::direct::packWeights(desc, ws.data(), threads);
      if (!directWeights.data)
        stop(directWeights.error);
      add("direct", desc, operands(directWeights.data.get()));
    }
    std::vector<double> best = measureInterleaved(runs, seconds);
    auto ratio = [&](bool has, size_t index) {
      if (has)
        std::printf(" %5.2f", best[0] / best[index]);
      else
        std::printf("     -");
    };
    std::printf(" %9.0f", best[0] * 1e6);
    ratio(layer.hasTransform(), 1);
    ratio(layer.hasTransform(), 2);
    ratio(direct > tiles, tiles);
    if (form == Forward)
      ratio(runs.size() > direct, direct);
    std::fflush(stdout);
  }

  size_t packedSize(const json &desc) const {
    if (!isMatmul())
      return dlc::tiles::Convolution::parse(desc).packedBytes();
    const schema::Product product = matmul();
    return dlc::tiles::packedBytes(product.k, product.n, schema::TilesKernel().parts);
  }

  void pack(const json &desc, const float *from, void *to) const {
    if (!isMatmul())
      return dlc::tiles::Convolution::parse(desc).packWeights(from, to, 1);
    const schema::Product product = matmul();
    dlc::tiles::packWeights(from, 1, product.k, product.k, product.n, schema::TilesKernel().parts,
                            to);
  }

  /// Returns the number of stored elements of a tensor, with channels padded to whole blocks.
  static int64_t stored(const std::vector<int64_t> &dims) {
    return dims[0] * ((dims[1] + 15) / 16 * 16) * dims[2] * dims[3];
  }
};

} // namespace

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  double seconds = argc > 2 ? std::atof(argv[2]) : 0.2;
  std::string tag = argc > 3 ? argv[3] : "acdb";
  int64_t batch = argc > 4 ? std::atoi(argv[4]) : 0;
  std::printf("%d threads, %s: oneDNN's microseconds, and the speedup of F(2x2), F(4x4), AMX tiles "
              "and, for forward, direct convolutions\n%-20s %5s %33s %27s %27s\n",
              threads, tag.c_str(), "layer", "batch", "forward", "data gradient",
              "weight gradient");
  for (const ConvLayer &layer : kLayers) {
    if (batch && layer.batch != batch)
      continue;
    std::printf("%-20s %5d", layer.name, int(layer.batch));
    for (Form form : {Forward, Data, Weights})
      if (form == Data && layer.channels < 16) // the input is the image: needs no gradient
        std::printf("%28s", "");
      else if (layer.batch > 1 || form == Forward)
        ConvBenchmark{layer, form, threads, tag}.run(seconds);
    std::printf("\n");
  }
}
