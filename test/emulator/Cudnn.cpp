//===- Cudnn.cpp - emulated cuDNN: graphs as loops on the emulated GPU ----------===//
//
// Emulation of libcudnn.so, loaded if $DLC_CUDA_CUDNN names this library. Descriptors are stored as
// they are set and checked as cuDNN checks them: an attribute is refused if the descriptor does not
// have it, if its type is wrong, or if it is missing when the descriptor is finalized. Engines are
// proposed only for graphs that every cuDNN 9 has an engine for.
//
//===--------------------------------------------------------------------------===//
#include "test/emulator/Gpu.h"
#include "test/emulator/Numbers.h"

#include <array>
#include <cstring>
#include <memory>
#include <optional>

using namespace dlc_emulated;

namespace {

enum Status : int {
  Done = 0,
  NotStarted = 1001,
  BadParameter = 2000,
  Unsupported = 3000,
  Failed = 5000
};

enum Kind : int {
  Pointwise = 0,
  Convolution = 1,
  Engine = 2,
  Config = 3,
  Heuristic = 4,
  PlanKind = 5,
  Forward = 10,
  WeightGradient = 11,
  DataGradient = 12,
  PointwiseOperation = 13,
  Graph = 15,
  Pack = 16,
  TensorKind = 17,
  Attention = 41
};

enum Element : int {
  OfHandle = 0,
  OfDataType = 1,
  OfBoolean = 2,
  OfInt64 = 3,
  OfFloat = 4,
  OfDouble = 5,
  OfPointer = 6,
  OfMode = 7,
  OfHeuristicMode = 8,
  OfNote = 11,
  OfPointwiseMode = 14,
  OfDescriptor = 15
};

struct Rule {
  int kind, attribute, element;
  bool required;
};

/// Attributes of each descriptor: the type of each one, and whether it is required.
constexpr Rule rules[] = {{Pointwise, 0, OfPointwiseMode, true},
                          {Pointwise, 1, OfDataType, true},
                          {Pointwise, 4, OfDouble, false},
                          {Pointwise, 6, OfDouble, false},
                          {Pointwise, 8, OfDouble, false},
                          {Convolution, 100, OfDataType, true},
                          {Convolution, 101, OfMode, true},
                          {Convolution, 102, OfInt64, true},
                          {Convolution, 103, OfInt64, true},
                          {Convolution, 104, OfInt64, true},
                          {Convolution, 105, OfInt64, true},
                          {Convolution, 106, OfInt64, true},
                          {Heuristic, 200, OfHeuristicMode, true},
                          {Heuristic, 201, OfDescriptor, true},
                          {PlanKind, 400, OfHandle, true},
                          {PlanKind, 401, OfDescriptor, true},
                          {Forward, 702, OfDescriptor, true},
                          {Forward, 703, OfDescriptor, true},
                          {Forward, 704, OfDescriptor, true},
                          {Forward, 705, OfDescriptor, true},
                          {DataGradient, 708, OfDescriptor, true},
                          {DataGradient, 709, OfDescriptor, true},
                          {DataGradient, 710, OfDescriptor, true},
                          {DataGradient, 711, OfDescriptor, true},
                          {WeightGradient, 714, OfDescriptor, true},
                          {WeightGradient, 715, OfDescriptor, true},
                          {WeightGradient, 716, OfDescriptor, true},
                          {WeightGradient, 717, OfDescriptor, true},
                          {PointwiseOperation, 750, OfDescriptor, true},
                          {PointwiseOperation, 751, OfDescriptor, true},
                          {PointwiseOperation, 752, OfDescriptor, false},
                          {PointwiseOperation, 753, OfDescriptor, true},
                          {Graph, 800, OfHandle, true},
                          {Graph, 801, OfDescriptor, true},
                          {Pack, 1000, OfInt64, true},
                          {Pack, 1001, OfPointer, true},
                          {Pack, 1003, OfPointer, true},
                          {TensorKind, 900, OfInt64, true},
                          {TensorKind, 901, OfDataType, true},
                          {TensorKind, 902, OfInt64, true},
                          {TensorKind, 903, OfInt64, true},
                          {TensorKind, 906, OfInt64, true},
                          {TensorKind, 907, OfBoolean, false},
                          {TensorKind, 908, OfBoolean, false},
                          {Attention, 2800, OfDescriptor, true},
                          {Attention, 2801, OfDescriptor, true},
                          {Attention, 2802, OfDescriptor, true},
                          {Attention, 2803, OfDescriptor, true},
                          {Attention, 2804, OfDescriptor, false},
                          {Attention, 2805, OfDescriptor, false}};

/// Checks whether the attribute is an alpha or beta factor, which has the type of the sums.
bool isFactor(int kind, int attribute) {
  int first = kind == Forward          ? 700
              : kind == DataGradient   ? 706
              : kind == WeightGradient ? 712
                                       : -9;
  return attribute == first || attribute == first + 1;
}

size_t sizeOf(int element) {
  switch (element) {
  case OfBoolean:
    return 1;
  case OfInt64:
  case OfDouble:
  case OfPointer:
  case OfHandle:
  case OfDescriptor:
    return 8;
  default:
    return 4;
  }
}

struct Descriptor;
using Shared = std::shared_ptr<Descriptor>;

struct Value {
  int element = 0;
  int64_t count = 0;
  std::vector<char> bytes;
  std::vector<Shared> descriptors;
};

/// A backend descriptor. Attributes that are descriptors are copied when they are set, so later
/// changes of the other descriptor's handle have no effect.
struct Descriptor {
  int kind = 0;
  bool finished = false;
  std::map<int, Value> values;
  int64_t engine = -1; ///< set for engine configurations and engines only
  Shared graph;

  bool has(int attribute) const { return values.count(attribute); }
  template <typename T> std::vector<T> list(int attribute) const {
    const Value &value = values.at(attribute);
    std::vector<T> result(static_cast<size_t>(value.count));
    std::memcpy(result.data(), value.bytes.data(), value.bytes.size());
    return result;
  }
  template <typename T> T one(int attribute) const { return list<T>(attribute).front(); }
  template <typename T> T one(int attribute, T otherwise) const {
    return has(attribute) ? one<T>(attribute) : otherwise;
  }
  const Descriptor &part(int attribute) const { return *values.at(attribute).descriptors.front(); }
};

std::string &lastMessage() {
  thread_local std::string text;
  return text;
}

int refuse(int status, std::string why) {
  lastMessage() = std::move(why);
  return status;
}

Shared &of(void *handle) { return *static_cast<Shared *>(handle); }

/// Sizes and strides, extended to five dimensions.
struct Tensor {
  Number type = Number::F32;
  std::array<int64_t, 5> dims, strides;
  int64_t id = 0;

  explicit Tensor(const Descriptor &from) : id(from.one<int64_t>(906)) {
    int code = from.one<int>(901);
    type = code == 0   ? Number::F32
           : code == 1 ? Number::F64
           : code == 2 ? Number::F16
                       : Number::Bf16;
    auto sizes = from.list<int64_t>(902), steps = from.list<int64_t>(903);
    sizes.insert(sizes.begin() + 2, 5 - sizes.size(), 1);
    steps.insert(steps.begin() + 2, 5 - steps.size(), 0);
    std::copy(sizes.begin(), sizes.end(), dims.begin());
    std::copy(steps.begin(), steps.end(), strides.begin());
  }

  uint64_t count() const {
    uint64_t n = 1;
    for (int64_t size : dims)
      n *= static_cast<uint64_t>(size);
    return n;
  }
  uint64_t bytes() const {
    int64_t last = 0;
    for (size_t d = 0; d < 5; ++d)
      last += (dims[d] - 1) * strides[d];
    return (static_cast<uint64_t>(last) + 1) * bytesOf(type);
  }
  /// Calls `body` with the index and the memory offset of each element in row-major order.
  /// Dimensions of 1 are broadcast if `shape` is larger.
  template <typename Body> void each(const std::array<int64_t, 5> &shape, Body body) const {
    std::array<int64_t, 5> i = {};
    uint64_t n = 0;
    for (i[0] = 0; i[0] < shape[0]; ++i[0])
      for (i[1] = 0; i[1] < shape[1]; ++i[1])
        for (i[2] = 0; i[2] < shape[2]; ++i[2])
          for (i[3] = 0; i[3] < shape[3]; ++i[3])
            for (i[4] = 0; i[4] < shape[4]; ++i[4]) {
              int64_t at = 0;
              for (size_t d = 0; d < 5; ++d)
                at += dims[d] == 1 ? 0 : i[d] * strides[d];
              body(n++, static_cast<uint64_t>(at));
            }
  }
};

struct Window {
  std::array<int64_t, 3> strides, dilations, low, high;

  explicit Window(const Descriptor &from) {
    auto take = [&](std::array<int64_t, 3> &to, int attribute, int64_t otherwise) {
      auto values = from.list<int64_t>(attribute);
      values.insert(values.begin(), 3 - values.size(), otherwise);
      std::copy(values.begin(), values.end(), to.begin());
    };
    take(dilations, 102, 1);
    take(strides, 103, 1);
    take(high, 104, 0);
    take(low, 105, 0);
  }
};

/// Attributes of a convolution's operands, for the forward and both gradient operations.
struct Roles {
  int window, x, w, y;

  static Roles of(int kind) {
    return kind == Forward        ? Roles{702, 704, 703, 705}
           : kind == DataGradient ? Roles{708, 710, 709, 711}
                                  : Roles{714, 716, 715, 717};
  }
};

int checkConvolution(const Descriptor &op) {
  Roles roles = Roles::of(op.kind);
  size_t rank = op.part(roles.x).list<int64_t>(902).size();
  if (rank < 4 || rank > 5 || op.part(roles.w).list<int64_t>(902).size() != rank ||
      op.part(roles.y).list<int64_t>(902).size() != rank)
    return refuse(BadParameter, "tensors of a convolution have one rank, 4 or 5");
  for (int attribute : {102, 103, 104, 105})
    if (op.part(roles.window).list<int64_t>(attribute).size() != rank - 2)
      return refuse(BadParameter, "a window has other dimensions than its tensors");
  Tensor x(op.part(roles.x)), w(op.part(roles.w)), y(op.part(roles.y));
  Window window(op.part(roles.window));
  if (x.dims[0] != y.dims[0] || w.dims[0] != y.dims[1] || x.dims[1] % w.dims[1] ||
      y.dims[1] % (x.dims[1] / w.dims[1]))
    return refuse(BadParameter, "batch or channels do not go together");
  for (size_t d = 0; d < 3; ++d) {
    int64_t reach = (w.dims[d + 2] - 1) * window.dilations[d] + 1,
            room = x.dims[d + 2] + window.low[d] + window.high[d] - reach;
    if (room < 0 || room / window.strides[d] + 1 != y.dims[d + 2])
      return refuse(BadParameter, "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH: spatial dimensions");
  }
  int first = roles.window - 2;
  if (!op.has(first) || !op.has(first + 1))
    return refuse(BadParameter, "alpha or beta is missing");
  auto factor = [&](int attribute) {
    return op.values.at(attribute).element == OfDouble
               ? op.one<double>(attribute)
               : static_cast<double>(op.one<float>(attribute));
  };
  if (factor(first) != 1 || factor(first + 1) != 0)
    return refuse(Unsupported, "alpha is not 1, or beta not 0");
  return Done;
}

int checkAttention(const Descriptor &op) {
  for (int attribute : {2800, 2801, 2802, 2803})
    if (op.part(attribute).list<int64_t>(902).size() != 4)
      return refuse(BadParameter, "tensors of an attention have 4 dimensions");
  Tensor q(op.part(2800)), k(op.part(2801)), v(op.part(2802)), y(op.part(2803));
  for (size_t d : {0, 1})
    if (q.dims[d] != k.dims[d] || q.dims[d] != v.dims[d] || q.dims[d] != y.dims[d])
      return refuse(BadParameter, "batch or heads do not go together");
  if (q.dims[4] != k.dims[4] || k.dims[3] != v.dims[3] || y.dims[3] != q.dims[3] ||
      y.dims[4] != v.dims[4])
    return refuse(BadParameter, "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH: rows or elements");
  for (const Tensor &each : {q, k, v, y})
    if (each.strides[4] != 1)
      return refuse(Unsupported, "rows must be contiguous");
  if (op.has(2804)) {
    Tensor sums(op.part(2804));
    if (sums.type != Number::F32 || sums.dims[3] != q.dims[3] || sums.dims[4] != 1)
      return refuse(BadParameter, "the sums of exponentials are one f32 a row");
  }
  if (op.has(2805) && !op.part(2805).one<char>(908, 0))
    return refuse(Unsupported, "the scale must be given by the host");
  return Done;
}

/// Checks whether cuDNN compiles a kernel for arbitrary operations after this convolution: a
/// forward convolution in channels-last layout with several channels in each group and a type other
/// than f64.
bool isCompiled(const Descriptor &op) {
  Roles roles = Roles::of(op.kind);
  Tensor x(op.part(roles.x)), w(op.part(roles.w));
  return op.kind == Forward && x.type != Number::F64 && w.dims[1] > 1 && x.strides[1] == 1;
}

/// Checks whether an engine is offered for the graph: attention alone, a convolution alone, or a
/// convolution followed by an optional addition, a bias and one activation.
bool isOffered(const Descriptor &graph) {
  const std::vector<Shared> &ops = graph.values.at(801).descriptors;
  // Attention must be the only operation, in 16-bit floats, with head sizes that are multiples of 8
  // and at most 128.
  if (ops.size() == 1 && ops[0]->kind == Attention) {
    Tensor q(ops[0]->part(2800)), v(ops[0]->part(2802));
    return (q.type == Number::F16 || q.type == Number::Bf16) && q.dims[4] % 8 == 0 &&
           v.dims[4] % 8 == 0 && q.dims[4] <= 128 && v.dims[4] <= 128;
  }
  if (ops.empty() ||
      (ops[0]->kind != Forward && ops[0]->kind != DataGradient && ops[0]->kind != WeightGradient))
    return false;
  if (ops.size() == 1)
    return true;
  if (ops[0]->kind != Forward)
    return false;
  if (isCompiled(*ops[0]))
    return std::all_of(ops.begin() + 1, ops.end(),
                       [](const Shared &op) { return op->kind == PointwiseOperation; });
  bool biased = false;
  for (size_t i = 1; i < ops.size(); ++i) {
    if (ops[i]->kind != PointwiseOperation)
      return false;
    int mode = ops[i]->part(750).one<int>(0);
    if (mode == 0 && biased)
      return false;
    if (mode == 0) {
      Tensor added(ops[i]->part(752));
      bool perChannel = added.count() == static_cast<uint64_t>(added.dims[1]);
      if (!perChannel && i != 1)
        return false;
      biased |= perChannel;
    } else if (mode < 100 || mode > 103 || !biased || i + 1 != ops.size()) {
      return false;
    }
  }
  return biased;
}

/// Engines offered to the caller. `Unmakeable` cannot be finalized, `Rounding` rounds its operands
/// to tf32, the results of `Varying` differ from run to run, and `Roomy` needs a workspace.
enum Engines : int64_t { Unmakeable = 40, Rounding = 41, Varying = 42, Roomy = 43, Simple = 44 };
constexpr int64_t workspaceBytes = 1 << 20;

std::vector<int64_t> enginesFor(const Descriptor &graph, int mode) {
  if (!isOffered(graph))
    return {};
  if (mode == 2)
    return {Simple};
  const Descriptor &first = *graph.values.at(801).descriptors[0];
  if (first.kind == Attention)
    return {Unmakeable, Varying, Roomy, Simple};
  Tensor any(first.part(Roles::of(first.kind).x));
  if (any.type == Number::F64)
    return {Unmakeable, Varying, Roomy, Simple};
  return {Unmakeable, Rounding, Varying, Roomy, Simple};
}

double activated(double value, const Descriptor &how) {
  switch (how.one<int>(0)) {
  case 100: {
    double upper = how.one<double>(4, INFINITY);
    return value < 0 ? 0 : value > upper ? upper : value;
  }
  case 101:
    return std::tanh(value);
  case 102:
    return 1 / (1 + std::exp(-value));
  default:
    return value > 0 ? value : how.one<double>(6, 1) * std::expm1(value);
  }
}

struct Run {
  Shared plan;
  std::map<int64_t, uint64_t> addresses;
  uint64_t workspace = 0;
  double scale = 1; ///< scale of an attention, read when the call is made
  void *stream = nullptr;

  char *memory(const Tensor &tensor) const {
    auto found = addresses.find(tensor.id);
    return memoryOfLibrary(stream, found == addresses.end() ? 0 : found->second, tensor.bytes(),
                           "convolution");
  }

  bool read(const Tensor &tensor, bool round, std::vector<double> &values) const {
    const char *from = memory(tensor);
    if (!from)
      return false;
    values.resize(tensor.count());
    tensor.each(tensor.dims, [&](uint64_t n, uint64_t at) {
      double value = load(from, tensor.type, at);
      values[n] = round && tensor.type == Number::F32 ? roundedToTf32(value) : value;
    });
    return true;
  }

  Result operator()() const {
    const Descriptor &config = plan->part(401);
    const std::vector<Shared> &ops = config.graph->values.at(801).descriptors;
    const Descriptor &op = *ops[0];
    if (config.engine == Roomy) {
      char *scratch = memoryOfLibrary(stream, workspace, workspaceBytes, "convolution's workspace");
      if (!scratch)
        return IllegalAddress;
      std::memset(scratch, 0xa5, workspaceBytes);
    }
    if (op.kind == Attention)
      return attend(op);
    Roles roles = Roles::of(op.kind);
    Tensor x(op.part(roles.x)), w(op.part(roles.w)), y(op.part(roles.y));
    bool round = config.engine == Rounding;
    std::vector<double> xs, ws, ys;
    if ((op.kind != DataGradient && !read(x, round, xs)) ||
        (op.kind != WeightGradient && !read(w, round, ws)) ||
        (op.kind != Forward && !read(y, round, ys)))
      return IllegalAddress;
    const Tensor &to = op.kind == Forward ? y : op.kind == DataGradient ? x : w;
    std::vector<double> &values = op.kind == Forward ? ys : op.kind == DataGradient ? xs : ws;
    values.assign(to.count(), 0);
    convolve(op.kind, Window(op.part(roles.window)), x, w, y, xs, ws, ys);
    return finish(ops, to, values);
  }

  Result attend(const Descriptor &op) const {
    Tensor q(op.part(2800)), k(op.part(2801)), v(op.part(2802)), y(op.part(2803));
    std::vector<double> qs, ks, vs, scores(static_cast<size_t>(k.dims[3])), lse;
    if (!read(q, false, qs) || !read(k, false, ks) || !read(v, false, vs))
      return IllegalAddress;
    std::vector<double> ys(y.count(), 0);
    const auto T = static_cast<size_t>(q.dims[3]), S = static_cast<size_t>(k.dims[3]),
               D = static_cast<size_t>(q.dims[4]), E = static_cast<size_t>(v.dims[4]);
    for (size_t row = 0; row < qs.size() / D; ++row) {
      const size_t key = row / T * S;
      double largest = -INFINITY, sum = 0;
      for (size_t s = 0; s < S; ++s) {
        double dot = 0;
        for (size_t d = 0; d < D; ++d)
          dot += qs[row * D + d] * ks[(key + s) * D + d];
        scores[s] = scale * dot;
        largest = std::max(largest, scores[s]);
      }
      for (double &score : scores)
        sum += score = std::exp(score - largest);
      for (size_t s = 0; s < S; ++s)
        for (size_t e = 0; e < E; ++e)
          ys[row * E + e] += scores[s] / sum * vs[(key + s) * E + e];
      lse.push_back(largest + std::log(sum));
    }
    return write(y, ys) && (!op.has(2804) || write(Tensor(op.part(2804)), lse)) ? Success
                                                                                : IllegalAddress;
  }

  bool write(const Tensor &to, const std::vector<double> &values) const {
    char *here = memory(to);
    if (here)
      to.each(to.dims, [&](uint64_t n, uint64_t at) { store(here, to.type, at, values[n]); });
    return here;
  }

  static void convolve(int kind, const Window &window, const Tensor &x, const Tensor &w,
                       const Tensor &y, std::vector<double> &xs, std::vector<double> &ws,
                       std::vector<double> &ys) {
    int64_t channels = w.dims[1], groups = x.dims[1] / channels, each = y.dims[1] / groups;
    size_t at = 0;
    for (int64_t n = 0; n < y.dims[0]; ++n)
      for (int64_t o = 0; o < y.dims[1]; ++o)
        for (int64_t p0 = 0; p0 < y.dims[2]; ++p0)
          for (int64_t p1 = 0; p1 < y.dims[3]; ++p1)
            for (int64_t p2 = 0; p2 < y.dims[4]; ++p2, ++at)
              for (int64_t c = 0; c < channels; ++c)
                for (int64_t k0 = 0; k0 < w.dims[2]; ++k0) {
                  int64_t q0 = p0 * window.strides[0] + k0 * window.dilations[0] - window.low[0];
                  if (q0 < 0 || q0 >= x.dims[2])
                    continue;
                  for (int64_t k1 = 0; k1 < w.dims[3]; ++k1) {
                    int64_t q1 = p1 * window.strides[1] + k1 * window.dilations[1] - window.low[1];
                    if (q1 < 0 || q1 >= x.dims[3])
                      continue;
                    int64_t row = (((n * groups + o / each) * channels + c) * x.dims[2] + q0) *
                                      x.dims[3] +
                                  q1,
                            taps = ((o * channels + c) * w.dims[2] + k0) * w.dims[3] + k1;
                    for (int64_t k2 = 0; k2 < w.dims[4]; ++k2) {
                      int64_t q2 =
                          p2 * window.strides[2] + k2 * window.dilations[2] - window.low[2];
                      if (q2 < 0 || q2 >= x.dims[4])
                        continue;
                      auto i = static_cast<size_t>(row * x.dims[4] + q2),
                           j = static_cast<size_t>(taps * w.dims[4] + k2);
                      if (kind == Forward)
                        ys[at] += xs[i] * ws[j];
                      else if (kind == DataGradient)
                        xs[i] += ys[at] * ws[j];
                      else
                        ws[j] += xs[i] * ys[at];
                    }
                  }
                }
  }

  Result finish(const std::vector<Shared> &ops, const Tensor &first,
                std::vector<double> &values) const {
    const Descriptor *last = nullptr;
    for (size_t i = 1; i < ops.size(); ++i) {
      const Descriptor &how = ops[i]->part(750);
      last = &ops[i]->part(753);
      if (how.one<int>(0) != 0) {
        for (double &value : values)
          value = activated(value, how);
        continue;
      }
      Tensor added(ops[i]->part(752));
      const char *from = memory(added);
      if (!from)
        return IllegalAddress;
      added.each(first.dims,
                 [&](uint64_t n, uint64_t at) { values[n] += load(from, added.type, at); });
    }
    Tensor to = last ? Tensor(*last) : first;
    char *memoryOfResult = memory(to);
    if (!memoryOfResult)
      return IllegalAddress;
    to.each(to.dims,
            [&](uint64_t n, uint64_t at) { store(memoryOfResult, to.type, at, values[n]); });
    return Success;
  }
};

struct Handle {
  void *stream = nullptr;
};

} // namespace

#define DLC_CUDNN extern "C" __attribute__((visibility("default"))) int

extern "C" __attribute__((visibility("default"))) size_t cudnnGetVersion() { return 91900; }

extern "C" __attribute__((visibility("default"))) const char *cudnnGetErrorString(int status) {
  return status == Done           ? "CUDNN_STATUS_SUCCESS"
         : status == NotStarted   ? "CUDNN_STATUS_NOT_INITIALIZED"
         : status == BadParameter ? "CUDNN_STATUS_BAD_PARAM"
         : status == Unsupported  ? "CUDNN_STATUS_NOT_SUPPORTED"
                                  : "CUDNN_STATUS_EXECUTION_FAILED";
}

extern "C" __attribute__((visibility("default"))) void cudnnGetLastErrorString(char *text,
                                                                               size_t bytes) {
  std::strncpy(text, lastMessage().c_str(), bytes);
  text[bytes - 1] = 0;
  lastMessage().clear();
}

DLC_CUDNN cudnnCreate(void **handle) {
  if (!gpu().started)
    return refuse(NotStarted, "the driver is not started");
  *handle = new Handle;
  return Done;
}
DLC_CUDNN cudnnSetStream(void *handle, void *stream) {
  static_cast<Handle *>(handle)->stream = stream;
  return Done;
}

DLC_CUDNN cudnnBackendCreateDescriptor(int kind, void **descriptor) {
  auto made = std::make_shared<Descriptor>();
  made->kind = kind;
  *descriptor = new Shared(std::move(made));
  return Done;
}
DLC_CUDNN cudnnBackendDestroyDescriptor(void *descriptor) {
  delete static_cast<Shared *>(descriptor);
  return Done;
}

DLC_CUDNN cudnnBackendSetAttribute(void *descriptor, int attribute, int element, int64_t count,
                                   const void *values) {
  Descriptor &to = *of(descriptor);
  if (to.finished)
    return refuse(BadParameter, "the descriptor is finished");
  bool known = isFactor(to.kind, attribute) && (element == OfFloat || element == OfDouble);
  for (const Rule &rule : rules)
    known |= rule.kind == to.kind && rule.attribute == attribute && rule.element == element;
  if (!known || count < 1)
    return refuse(BadParameter, "descriptor " + std::to_string(to.kind) + " has no attribute " +
                                    std::to_string(attribute) + " of type " +
                                    std::to_string(element));
  Value value{element, count, {}, {}};
  value.bytes.resize(sizeOf(element) * static_cast<size_t>(count));
  std::memcpy(value.bytes.data(), values, value.bytes.size());
  if (element == OfDescriptor)
    for (int64_t i = 0; i < count; ++i) {
      Shared &part = of(static_cast<void *const *>(values)[i]);
      if (!part->finished)
        return refuse(BadParameter, "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED");
      value.descriptors.push_back(part);
    }
  to.values[attribute] = std::move(value);
  return Done;
}

DLC_CUDNN cudnnBackendFinalize(void *descriptor) {
  Descriptor &what = *of(descriptor);
  for (const Rule &rule : rules)
    if (rule.kind == what.kind && rule.required && !what.has(rule.attribute))
      return refuse(BadParameter, "descriptor " + std::to_string(what.kind) + " lacks attribute " +
                                      std::to_string(rule.attribute));
  if (what.kind == Forward || what.kind == DataGradient || what.kind == WeightGradient)
    if (int status = checkConvolution(what))
      return status;
  if (what.kind == Attention)
    if (int status = checkAttention(what))
      return status;
  if (what.kind == TensorKind && what.list<int64_t>(902).size() != what.list<int64_t>(903).size())
    return refuse(BadParameter, "dimensions and strides differ in number");
  if (what.kind == PlanKind && what.part(401).engine == Unmakeable)
    return refuse(Unsupported, "this engine cannot be made");
  what.finished = true;
  return Done;
}

DLC_CUDNN cudnnBackendGetAttribute(void *descriptor, int attribute, int element, int64_t room,
                                   int64_t *count, void *values) {
  Descriptor &from = *of(descriptor);
  if (!from.finished)
    return refuse(BadParameter, "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED");
  if (from.kind == Heuristic && attribute == 202 && element == OfDescriptor) {
    Shared graph = from.values.at(201).descriptors.front();
    std::vector<int64_t> engines = enginesFor(*graph, from.one<int>(200));
    *count = std::min<int64_t>(room, static_cast<int64_t>(engines.size()));
    for (int64_t i = 0; i < *count; ++i) {
      Descriptor &config = *of(static_cast<void **>(values)[i]);
      config.engine = engines[static_cast<size_t>(i)];
      config.graph = graph;
      config.finished = true;
    }
    return Done;
  }
  *count = 1;
  if (from.kind == Config && attribute == 300 && element == OfDescriptor) {
    Descriptor &engine = *of(*static_cast<void **>(values));
    engine.engine = from.engine;
    engine.finished = true;
    return Done;
  }
  if (from.kind == Engine && attribute == 1301 && element == OfInt64) {
    *static_cast<int64_t *>(values) = from.engine;
    return Done;
  }
  if (from.kind == Engine && attribute == 1303 && element == OfNote) {
    *count = from.engine == Rounding || from.engine == Varying;
    if (*count)
      *static_cast<int *>(values) = from.engine == Rounding ? 0 : 4;
    return Done;
  }
  if (from.kind == PlanKind && attribute == 402 && element == OfInt64) {
    *static_cast<int64_t *>(values) = from.part(401).engine == Roomy ? workspaceBytes : 0;
    return Done;
  }
  return refuse(BadParameter, "descriptor " + std::to_string(from.kind) + " gives no attribute " +
                                  std::to_string(attribute));
}

DLC_CUDNN cudnnBackendExecute(void *handle, void *plan, void *pack) {
  if (!of(plan)->finished || !of(pack)->finished)
    return refuse(BadParameter, "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED");
  Run run;
  run.plan = of(plan);
  run.stream = static_cast<Handle *>(handle)->stream;
  auto ids = of(pack)->list<int64_t>(1000);
  auto pointers = of(pack)->list<uint64_t>(1001);
  if (ids.size() != pointers.size())
    return refuse(BadParameter, "ids and pointers differ in number");
  for (size_t i = 0; i < ids.size(); ++i)
    run.addresses[ids[i]] = pointers[i];
  run.workspace = of(pack)->one<uint64_t>(1003);
  const Descriptor &first = *of(plan)->part(401).graph->values.at(801).descriptors[0];
  if (first.kind == Attention && first.has(2805)) {
    auto number = run.addresses.find(first.part(2805).one<int64_t>(906));
    if (number == run.addresses.end() || !number->second)
      return refuse(BadParameter, "the scale is missing");
    run.scale = *reinterpret_cast<const float *>(number->second);
  }
  return enqueueLibrary(run.stream, [run] { return run(); }) ? Failed : Done;
}
