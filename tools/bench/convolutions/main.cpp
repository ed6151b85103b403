//===- main.cpp - Winograd convolutions beside oneDNN's direct ones --------------===//
//
// dlc-convolutions [threads] [seconds] [layout]: one line per layer; forward, data and weight
// gradient, interleaved, the least time of each. oneDNN works in the same layout (acdb or aBcd16b).
// Weights are packed ahead at batch 1, within the call else.
//
//===-----------------------------------------------------------------------------===//
#include "runtime/library/onednn/Describe.h"
#include "runtime/library/winograd/Describe.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using nlohmann::json;

namespace {

struct Layer {
  const char *name;
  int64_t batch, channels, features, size, window;
};

constexpr Layer kLayers[] = {
    {"56x56x64", 1, 64, 64, 56, 3},
    {"28x28x128", 1, 128, 128, 28, 3},
    {"14x14x256", 1, 256, 256, 14, 3},
    {"7x7x512", 1, 512, 512, 7, 3},
    {"56x56x64", 16, 64, 64, 56, 3},
    {"28x28x128", 16, 128, 128, 28, 3},
    {"14x14x256", 16, 256, 256, 14, 3},
    {"7x7x512", 16, 512, 512, 7, 3},
    {"14x14, 256 to 384", 16, 256, 384, 14, 3},
    {"28x28, 96 to 256", 16, 96, 256, 28, 5},
    {"32x32x16", 128, 16, 16, 32, 3},
    {"16x16x32", 128, 32, 32, 16, 3},
    {"8x8x64", 128, 64, 64, 8, 3},
};

/// Aligned, and not denormal.
class Numbers {
public:
  explicit Numbers(int64_t count)
      : memory(static_cast<float *>(
            std::aligned_alloc(4096, size_t(count * 4 + 4095) / 4096 * 4096))) {
    for (int64_t i = 0; i < count; ++i)
      memory[i] = float(i * 7919 % 2001 - 1000) / 1000;
  }
  ~Numbers() { std::free(memory); }
  Numbers(const Numbers &) = delete;
  Numbers &operator=(const Numbers &) = delete;
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

/// The least seconds of each, run in turns.
std::vector<double> race(const std::vector<std::function<void()>> &runs, double seconds) {
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

struct Race {
  const Layer &layer;
  Form form;
  int threads;
  std::string tag;

  json described(std::vector<int64_t> dims, const std::string &layout) const {
    return {{"dims", dims}, {"dtype", "f32"}, {"tag", layout}};
  }

  void run(double seconds) const {
    int64_t pad = layer.window / 2;
    std::vector<int64_t> x{layer.batch, layer.channels, layer.size, layer.size},
        y{layer.batch, layer.features, layer.size, layer.size},
        w{layer.features, layer.channels, layer.window, layer.window}, pads{pad, pad};
    Numbers xs(x[0] * x[1] * x[2] * x[3]), ys(y[0] * y[1] * y[2] * y[3]),
        ws(3 * w[0] * w[1] * w[2] * w[3]);
    const char *kinds[] = {"convolution", "convolution_backward_data",
                           "convolution_backward_weights"};
    const char *names[3][3] = {{"src", "weights", "dst"},
                               {"diff_src", "weights", "diff_dst"},
                               {"src", "diff_weights", "diff_dst"}};
    json direct{{"kind", kinds[form]},
                {"strides", {1, 1}},
                {"dilations", {0, 0}},
                {"pads_l", pads},
                {"pads_r", pads}};
    direct[names[form][0]] = described(x, tag);
    direct[names[form][1]] = described(w, "any");
    direct[names[form][2]] = described(y, tag);
    bool packed = layer.batch == 1;
    if (!packed)
      direct[names[form][1]]["outside"] = "abcd";
    auto library = dlc::onednn::describe(direct, threads);
    std::string error = library.error;
    auto oneDnn =
        library.ok ? dlc::onednn::Executable::create(library.desc, threads, error) : nullptr;
    if (!oneDnn)
      stop(error);
    std::vector<void *> buffers;
    for (const auto &argument : library.arguments)
      buffers.push_back(argument.name == names[form][0]   ? xs.data()
                        : argument.name == names[form][2] ? ys.data()
                                                          : ws.data());
    std::vector<std::function<void()>> runs{[&] { oneDnn->run(buffers); }};
    std::vector<std::unique_ptr<dlc::winograd::Executable>> made;
    std::vector<dlc::winograd::Packed> weights;
    for (int tile : {2, 4}) {
      json desc{{"kind", form == Weights ? "convolution_weights" : "convolution"},
                {"tile", tile},
                {"window", layer.window},
                {"block", dlc::winograd::isSupported(16) ? 16 : 8},
                {"src", form == Data ? y : x},
                {"dst", form == Data ? x : y},
                {"pads", pads},
                {"channels_last", tag == "acdb"},
                {"turned", form == Data},
                {"packed", packed}};
      float *from = ws.data();
      if (packed) {
        weights.push_back(dlc::winograd::packWeights(desc, from, threads));
        from = static_cast<float *>(weights.back().data.get());
      }
      made.push_back(dlc::winograd::Executable::create(desc, threads, error));
      if (!made.back())
        stop(error);
      std::vector<void *> own = form == Forward ? std::vector<void *>{xs.data(), from, ys.data()}
                                : form == Data  ? std::vector<void *>{ys.data(), from, xs.data()}
                                                : std::vector<void *>{xs.data(), ys.data(), from};
      runs.push_back([call = made.back().get(), own] { call->run(own.data()); });
    }
    std::vector<double> best = race(runs, seconds);
    std::printf(" %9.0f %5.2f %5.2f", best[0] * 1e6, best[0] / best[1], best[0] / best[2]);
    std::fflush(stdout);
  }
};

} // namespace

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  double seconds = argc > 2 ? std::atof(argv[2]) : 0.2;
  std::string tag = argc > 3 ? argv[3] : "acdb";
  std::printf("%d threads, %s: oneDNN's microseconds, how much faster F(2x2) and F(4x4) are\n%-18s "
              "%5s %21s %21s %21s\n",
              threads, tag.c_str(), "layer", "batch", "forward", "data gradient",
              "weight gradient");
  for (const Layer &layer : kLayers) {
    std::printf("%-18s %5d", layer.name, int(layer.batch));
    for (Form form : {Forward, Data, Weights})
      if (layer.batch > 1 || form == Forward)
        Race{layer, form, threads, tag}.run(seconds);
    std::printf("\n");
  }
}
