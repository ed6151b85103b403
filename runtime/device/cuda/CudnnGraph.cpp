//===- CudnnGraph.cpp - builds a cuDNN graph and a plan from a call description -===//
#include "runtime/device/cuda/CudnnGraph.h"

#include "runtime/library/schema/Schema.h"

#include <algorithm>
#include <array>

namespace dlc::cudnn {

using nlohmann::json;

Functions loadFunctions(const cuda::LoadedLibrary &library) {
  Functions t = {};
  if (!library) {
    t.error = cuda::formatLibraryStatus(library);
    return t;
  }
  auto get = [&](auto &to, const char *name) { library.take(to, name, t.error); };
  get(t.version, "cudnnGetVersion");
  get(t.errorString, "cudnnGetErrorString");
  get(t.lastError, "cudnnGetLastErrorString");
  get(t.create, "cudnnCreate");
  get(t.setStream, "cudnnSetStream");
  get(t.make, "cudnnBackendCreateDescriptor");
  get(t.destroy, "cudnnBackendDestroyDescriptor");
  get(t.finalize, "cudnnBackendFinalize");
  get(t.set, "cudnnBackendSetAttribute");
  get(t.get, "cudnnBackendGetAttribute");
  get(t.execute, "cudnnBackendExecute");
  return t;
}

const Functions &functions() {
  static const auto *table = new Functions(loadFunctions(cuda::loadLibrary(cuda::Library::Cudnn)));
  return *table;
}

void check(const Functions &f, Status status, const std::string &doing) {
  if (status == Success)
    return;
  std::array<char, 512> more = {};
  f.lastError(more.data(), more.size());
  std::string text = "cuDNN: " + doing + ": " + f.errorString(status);
  throw CudnnError{more[0] ? text + ": " + more.data() : text};
}

OwnedDescriptor::OwnedDescriptor(const Functions &f, DescriptorKind kind) : f(&f) {
  check(f, f.make(kind, &raw), "creating a descriptor");
}

void OwnedDescriptor::set(int attribute, ElementKind kind, int64_t count, const void *values,
                          const std::string &doing) {
  check(*f, f->set(raw, attribute, kind, count, values), doing);
}

namespace {

struct ElementType {
  DataType type;
  uint64_t bytes;
};

ElementType elementTypeOf(DType type) {
  switch (type) {
  case DType::F32:
    return {F32, 4};
  case DType::F64:
    return {F64, 8};
  case DType::F16:
    return {F16, 2};
  case DType::BF16:
    return {Bf16, 2};
  default:
    throw CudnnError{"cuDNN: element type '" + std::string(dtypeName(type)) +
                     "' is not supported; required: f32, f64, f16 or bf16"};
  }
}

/// Reads a description. Throws a CudnnError if it is invalid.
template <typename Fields> Fields readFields(const json &desc) {
  try {
    return Fields::read(desc, "cuDNN");
  } catch (const Error &error) {
    throw CudnnError{error.what()};
  }
}

struct Shape {
  std::vector<int64_t> dims, strides;
  ElementType type;

  uint64_t bytes() const {
    int64_t last = 0;
    for (size_t d = 0; d < dims.size(); ++d)
      last += (dims[d] - 1) * strides[d];
    return (static_cast<uint64_t>(last) + 1) * type.bytes;
  }
};

/// Builds the cuDNN operations of a call's graph.
class GraphBuilder {
public:
  GraphBuilder(const Functions &f, const json &desc, const schema::GpuGraph &common)
      : f(f), desc(desc), alignment(common.alignment.value_or(16)) {
    element = result = elementTypeOf(common.dtype);
    compute = element.type == F64 ? F64 : F32;
    graph.what = nameOf(common.kind);
    graph.mayRound = element.type != F32 || common.math;
  }

  Shape shapeOf(const schema::GpuTensor &tensor, ElementType type) const {
    return shapeOf(tensor.dims, tensor.strides, type);
  }

  Shape shapeOf(const std::vector<int64_t> &dims, const std::vector<int64_t> &strides,
                ElementType type) const {
    if (dims.size() < 3 || dims.size() > 5 || strides.size() != dims.size())
      throw CudnnError{"cuDNN: required: tensors of 3 to 5 dimensions, with a stride for each; "
                       "found: " +
                       desc.dump()};
    double extent = 1;
    for (size_t d = 0; d < dims.size(); ++d)
      extent += double(dims[d] - 1) * double(strides[d]);
    if (extent > double(schema::kMaxSize))
      throw CudnnError{"cuDNN: a tensor is too large: " + desc.dump()};
    return {dims, strides, type};
  }

  /// Adds a tensor for the next buffer argument of the call.
  Descriptor operand(const std::string &name, const Shape &shape, bool written) {
    int64_t id = nextId++;
    graph.operands.push_back({name, id, shape.bytes(), written});
    return tensor(name, shape, id, false);
  }

  /// Adds a virtual tensor: an intermediate value between two operations of the graph.
  Descriptor between(Shape shape) {
    shape.type = {compute, 4};
    return tensor("an intermediate value", shape, nextId++, true);
  }

  void convolution(const schema::GpuConvolution &fields) {
    bool forward = fields.kind == schema::GpuGraphKind::Convolution,
         toData = fields.kind == schema::GpuGraphKind::DataGradient;
    if (fields.result)
      result = elementTypeOf(*fields.result);
    Shape x = shapeOf(fields.x, toData ? result : element),
          w = shapeOf(fields.w, forward || toData ? element : result),
          y = shapeOf(fields.y, forward ? result : element);
    size_t rank = x.dims.size();
    if (w.dims.size() != rank || y.dims.size() != rank)
      throw CudnnError{"cuDNN: required: x, w and y of one rank; found: " + desc.dump()};
    // Do not prefer tensor cores for single-channel (depthwise) convolutions, which have
    // specialized kernels without tensor cores.
    graph.prefersTensorCores = graph.mayRound && element.type != F64 && w.dims[1] > 1;
    graph.needsTensorCores = graph.prefersTensorCores && fields.tensorCores;
    Descriptor geometry = describeConvolution(fields, rank - 2);
    const Shape &to = forward ? y : toData ? x : w;
    Descriptor first = forward || !toData ? operand("x", x, false) : operand("y", y, false);
    Descriptor second = forward || toData ? operand("w", w, false) : operand("y", y, false);
    std::vector<Descriptor> extra = extraOperands(fields.post, to);
    const char *name = forward ? "y" : toData ? "x" : "w";
    Descriptor last = operand(name, to, true);
    const size_t steps = fields.post.size();
    Descriptor value = steps ? between(to) : last;
    struct Kind {
      DescriptorKind kind;
      int alpha, beta, geometry, first, second, to;
    };
    Kind kind =
        forward ? Kind{ForwardKind, ForwardAlpha, ForwardBeta, ForwardConvolution,
                       ForwardX,    ForwardW,     ForwardY}
        : toData
            ? Kind{DataGradientKind, DataAlpha, DataBeta, DataConvolution, DataDy, DataW, DataDx}
            : Kind{WeightGradientKind, WeightAlpha, WeightBeta, WeightConvolution, WeightX,
                   WeightDy,           WeightDw};
    OwnedDescriptor op(f, kind.kind);
    const std::string doing = "creating a convolution operation";
    op.set(kind.geometry, OfDescriptor, geometry, doing);
    op.set(kind.first, OfDescriptor, first, doing);
    op.set(kind.second, OfDescriptor, second, doing);
    op.set(kind.to, OfDescriptor, value, doing);
    if (compute == F64) {
      op.set(kind.alpha, OfDouble, 1.0, doing);
      op.set(kind.beta, OfDouble, 0.0, doing);
    } else {
      op.set(kind.alpha, OfFloat, 1.0f, doing);
      op.set(kind.beta, OfFloat, 0.0f, doing);
    }
    op.finalize(doing + " " + desc.dump());
    operations.push_back(op.get());
    graph.parts.push_back(std::move(op));
    auto next = extra.begin();
    for (size_t i = 0; i < steps; ++i) {
      Descriptor made = i + 1 == steps ? last : between(to);
      const schema::GpuStep &step = fields.post[i];
      pointwise(step, value, step.op == schema::GpuStepOp::Add ? *next++ : nullptr, made);
      value = made;
    }
  }

  /// Builds the attention operation y = softmax(scale * q k^T) v, optionally with the log-sum-exp
  /// of each row as a second result.
  void attention(const schema::GpuAttention &fields) {
    const Shape q = shapeOf(fields.q, element), k = shapeOf(fields.k, element),
                v = shapeOf(fields.v, element), y = shapeOf(fields.y, element);
    for (const Shape &shape : {q, k, v, y})
      if (shape.dims.size() != 4)
        throw CudnnError{"cuDNN: required: attention on tensors of 4 dimensions; found: " +
                         desc.dump()};
    const std::string doing = "creating an attention operation";
    OwnedDescriptor op(f, AttentionKind);
    op.set(AttentionQ, OfDescriptor, operand("q", q, false), doing);
    op.set(AttentionK, OfDescriptor, operand("k", k, false), doing);
    op.set(AttentionV, OfDescriptor, operand("v", v, false), doing);
    op.set(AttentionY, OfDescriptor, operand("y", y, true), doing);
    if (fields.lse)
      op.set(AttentionSums, OfDescriptor,
             operand("lse", shapeOf(*fields.lse, elementTypeOf(DType::F32)), true), doing);
    graph.numbers.push_back({nextId++, static_cast<float>(fields.scale)});
    op.set(AttentionScale, OfDescriptor, number("scale", graph.numbers.back().id), doing);
    op.finalize(doing + " " + desc.dump());
    operations.push_back(op.get());
    graph.parts.push_back(std::move(op));
  }

  Graph finish(Handle handle) {
    graph.operations = OwnedDescriptor(f, GraphKind);
    const std::string doing = "creating a graph";
    if (handle)
      graph.operations.set(GraphHandle, OfHandle, handle, doing);
    graph.operations.set(GraphOperations, OfDescriptor, static_cast<int64_t>(operations.size()),
                         operations.data(), doing);
    graph.operations.finalize(doing + " " + desc.dump());
    return std::move(graph);
  }

private:
  Descriptor tensor(const std::string &name, const Shape &shape, int64_t id, bool isVirtual) {
    OwnedDescriptor made(f, TensorKind);
    const std::string doing = "creating '" + name + "'";
    made.set(TensorType, OfDataType, static_cast<int>(shape.type.type), doing);
    made.set(TensorDimensions, shape.dims, doing);
    made.set(TensorStrides, shape.strides, doing);
    made.set(TensorId, OfInt64, id, doing);
    made.set(TensorAlignment, OfInt64, alignment, doing);
    if (isVirtual)
      made.set(TensorIsVirtual, OfBoolean, true, doing);
    made.finalize(doing);
    graph.parts.push_back(std::move(made));
    return graph.parts.back().get();
  }

  Descriptor number(const std::string &name, int64_t id) {
    OwnedDescriptor made(f, TensorKind);
    const std::string doing = "creating '" + name + "'";
    const std::vector<int64_t> one(4, 1);
    made.set(TensorType, OfDataType, static_cast<int>(F32), doing);
    made.set(TensorDimensions, one, doing);
    made.set(TensorStrides, one, doing);
    made.set(TensorId, OfInt64, id, doing);
    made.set(TensorAlignment, OfInt64, static_cast<int64_t>(sizeof(float)), doing);
    made.set(TensorIsNumber, OfBoolean, true, doing);
    made.finalize(doing);
    graph.parts.push_back(std::move(made));
    return graph.parts.back().get();
  }

  Descriptor describeConvolution(const schema::GpuConvolution &fields, size_t spatial) {
    for (const schema::Integers *list :
         {&fields.strides, &fields.dilations, &fields.low, &fields.high})
      if (list->size() != spatial)
        throw CudnnError{"cuDNN: required: strides, dilations, low and high of " +
                         std::to_string(spatial) + " integers; found: " + desc.dump()};
    OwnedDescriptor made(f, ConvolutionKind);
    const std::string doing = "creating a window";
    auto count = static_cast<int64_t>(spatial);
    made.set(ConvolutionType, OfDataType, static_cast<int>(compute), doing);
    constexpr int crossCorrelation = 1;
    made.set(ConvolutionMode, OfConvolutionMode, crossCorrelation, doing);
    made.set(ConvolutionSpatial, OfInt64, count, doing);
    made.set(ConvolutionStrides, fields.strides, doing);
    made.set(ConvolutionDilations, fields.dilations, doing);
    made.set(ConvolutionLow, fields.low, doing);
    made.set(ConvolutionHigh, fields.high, doing);
    made.finalize(doing);
    graph.parts.push_back(std::move(made));
    return graph.parts.back().get();
  }

  std::vector<Descriptor> extraOperands(const std::vector<schema::GpuStep> &steps,
                                        const Shape &to) {
    std::vector<Descriptor> extra;
    for (const schema::GpuStep &step : steps) {
      if (step.op != schema::GpuStepOp::Add)
        continue;
      if (!step.dtype)
        throw CudnnError{"cuDNN: required: the type of an added operand; found: " + desc.dump()};
      Shape shape = shapeOf(step.dims, step.strides, elementTypeOf(*step.dtype));
      if (shape.dims.size() != to.dims.size())
        throw CudnnError{"cuDNN: required: an added operand with the result's rank; found: " +
                         desc.dump()};
      extra.push_back(operand("added", shape, false));
    }
    return extra;
  }

  void pointwise(const schema::GpuStep &step, Descriptor x, Descriptor b, Descriptor y) {
    // In the order of schema::GpuStepOp.
    static constexpr PointwiseMode modes[] = {Add,          ReluForward,    TanhForward,
                                              EluForward,   SigmoidForward, GeluForward,
                                              SwishForward, GeluTanhForward};
    const std::string name = nameOf(step.op);
    const std::string doing = "creating epilogue op '" + name + "'";
    OwnedDescriptor how(f, PointwiseKind);
    how.set(PointwiseModeOf, OfPointwiseMode, static_cast<int>(modes[size_t(step.op)]), doing);
    how.set(PointwisePrecision, OfDataType, static_cast<int>(compute), doing);
    auto number = [&](const schema::Maybe<double> &value, Attribute attribute) {
      if (value)
        how.set(attribute, OfDouble, *value, doing);
    };
    number(step.upper, ReluUpper);
    number(step.alpha, EluAlpha);
    number(step.beta, SwishBeta);
    how.finalize(doing);
    OwnedDescriptor op(f, PointwiseOperationKind);
    op.set(OperationPointwise, OfDescriptor, how.get(), doing);
    op.set(OperationX, OfDescriptor, x, doing);
    if (b)
      op.set(OperationB, OfDescriptor, b, doing);
    op.set(OperationY, OfDescriptor, y, doing);
    op.finalize(doing);
    operations.push_back(op.get());
    graph.parts.push_back(std::move(how));
    graph.parts.push_back(std::move(op));
  }

  const Functions &f;
  const json &desc;
  Graph graph;
  std::vector<Descriptor> operations;
  int64_t nextId = 1, alignment;
  ElementType element = {}, result = {};
  DataType compute = F32;
};

/// Returns the engine configurations that cuDNN's heuristic proposes in this mode, best first.
std::vector<OwnedDescriptor> proposals(const Functions &f, const Graph &graph, Descriptor device,
                                       HeuristicMode mode) {
  constexpr int64_t asked = 32;
  const std::string doing = "listing engines";
  OwnedDescriptor heuristic(f, HeuristicKind);
  heuristic.set(HeuristicGraph, OfDescriptor, graph.operations.get(), doing);
  heuristic.set(HeuristicModeOf, OfHeuristicMode, static_cast<int>(mode), doing);
  if (device)
    heuristic.set(HeuristicDevice, OfDescriptor, device, doing);
  heuristic.finalize(doing);
  std::vector<OwnedDescriptor> configs;
  std::vector<Descriptor> raw;
  for (int64_t i = 0; i < asked; ++i) {
    configs.emplace_back(f, EngineConfigKind);
    raw.push_back(configs.back().get());
  }
  int64_t count = 0;
  check(f, f.get(heuristic.get(), HeuristicResults, OfDescriptor, asked, &count, raw.data()),
        doing);
  configs.resize(static_cast<size_t>(std::clamp<int64_t>(count, 0, asked)));
  return configs;
}

struct EngineInfo {
  int64_t index = 0;
  std::vector<int> notes;

  bool has(Note note) const { return std::find(notes.begin(), notes.end(), note) != notes.end(); }
};

EngineInfo queryEngine(const Functions &f, const OwnedDescriptor &config) {
  const std::string doing = "querying an engine";
  OwnedDescriptor engine(f, EngineKind);
  Descriptor raw = engine.get();
  int64_t count = 0;
  check(f, f.get(config.get(), ConfigEngine, OfDescriptor, 1, &count, &raw), doing);
  EngineInfo result;
  check(f, f.get(raw, EngineIndex, OfInt64, 1, &count, &result.index), doing);
  result.notes.resize(NoteCount);
  check(f, f.get(raw, EngineNotes, OfNote, NoteCount, &count, result.notes.data()), doing);
  result.notes.resize(static_cast<size_t>(std::clamp<int64_t>(count, 0, NoteCount)));
  return result;
}

} // namespace

Graph buildGraph(const Functions &f, const json &desc, Handle handle) {
  const auto common = readFields<schema::GpuGraph>(desc);
  GraphBuilder builder(f, desc, common);
  if (common.kind == schema::GpuGraphKind::Attention)
    builder.attention(readFields<schema::GpuAttention>(desc));
  else
    builder.convolution(readFields<schema::GpuConvolution>(desc));
  return builder.finish(handle);
}

namespace {

/// Builds the plan of an engine configuration. If it fails or exceeds the workspace, returns
/// std::nullopt and sets `refusal` to the reason.
std::optional<Plan> planFor(const Functions &f, OwnedDescriptor &config, const EngineInfo &engine,
                            Handle handle, Descriptor device, uint64_t workspace,
                            std::string &refusal) {
  Plan made{std::move(config), OwnedDescriptor(f, PlanKind), engine.index, 0};
  const std::string doing = "planning";
  try {
    if (handle)
      made.plan.set(PlanHandle, OfHandle, handle, doing);
    if (device)
      made.plan.set(PlanDevice, OfDescriptor, device, doing);
    made.plan.set(PlanConfig, OfDescriptor, made.config.get(), doing);
    made.plan.finalize(doing);
    int64_t bytes = 0, count = 0;
    check(f, f.get(made.plan.get(), PlanWorkspace, OfInt64, 1, &count, &bytes), doing);
    made.workspace = static_cast<uint64_t>(bytes);
  } catch (const CudnnError &failure) {
    refusal = failure.text;
    return std::nullopt;
  }
  if (made.workspace > workspace) {
    refusal = "it needs a workspace of " + std::to_string(made.workspace) + " bytes; at most " +
              std::to_string(workspace) + " are allowed";
    return std::nullopt;
  }
  return made;
}

} // namespace

Plan planOf(const Functions &f, const Graph &graph, Handle handle, Descriptor device,
            uint64_t workspace, int64_t wanted) {
  std::string refusal = "the library has none";
  std::optional<Plan> last;
  std::vector<std::pair<OwnedDescriptor, EngineInfo>>
      others; ///< engines without tensor cores, tried last
  auto take = [&](OwnedDescriptor &config, const EngineInfo &engine) {
    if (auto made = planFor(f, config, engine, handle, device, workspace, refusal)) {
      last = std::move(made);
      --wanted;
    }
    return last && wanted <= 0;
  };
  for (HeuristicMode mode : {ModeA, Fallback}) {
    std::vector<OwnedDescriptor> configs;
    try {
      configs = proposals(f, graph, device, mode);
    } catch (const CudnnError &failure) {
      refusal = failure.text;
    }
    for (OwnedDescriptor &config : configs) {
      EngineInfo engine = queryEngine(f, config);
      if (engine.has(Nondeterministic)) {
        refusal = "the library's engines are not deterministic";
      } else if (!graph.mayRound && (engine.has(TensorCore) || engine.has(DownConvertInputs))) {
        refusal = "the library's engines round f32; allow tf32 (--matmul-precision high)";
      } else if (graph.prefersTensorCores && !engine.has(TensorCore)) {
        refusal = "the library's engines do not use tensor cores";
        others.emplace_back(std::move(config), std::move(engine));
      } else if (take(config, engine)) {
        return std::move(*last);
      }
    }
  }
  if (!graph.needsTensorCores)
    for (auto &[config, engine] : others)
      if (take(config, engine))
        return std::move(*last);
  if (last)
    return std::move(*last);
  throw CudnnError{"cuDNN: no engine for this " + graph.what + ": " + refusal};
}

} // namespace dlc::cudnn
