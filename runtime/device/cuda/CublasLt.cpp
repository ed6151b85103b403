//===- CublasLt.cpp - matrix multiplication with cuBLASLt --------------------===//
#include "runtime/device/cuda/CublasLt.h"

#include "runtime/device/cuda/LibraryCall.h"
#include "runtime/device/cuda/Loader.h"
#include "runtime/library/schema/Schema.h"

namespace dlc::cublaslt {

const Functions &functions() {
  static const Functions *table = [] {
    auto *t = new Functions();
    const cuda::LoadedLibrary &library = cuda::loadLibrary(cuda::Library::CublasLt);
    if (!library) {
      t->error = cuda::formatLibraryStatus(library);
      return t;
    }
    auto get = [&](auto &to, const char *name) { library.take(to, name, t->error); };
    get(t->create, "cublasLtCreate");
    get(t->destroy, "cublasLtDestroy");
    get(t->version, "cublasLtGetVersion");
    get(t->statusName, "cublasLtGetStatusName");
    get(t->matmulDescCreate, "cublasLtMatmulDescCreate");
    get(t->matmulDescDestroy, "cublasLtMatmulDescDestroy");
    get(t->matmulDescSet, "cublasLtMatmulDescSetAttribute");
    get(t->layoutCreate, "cublasLtMatrixLayoutCreate");
    get(t->layoutDestroy, "cublasLtMatrixLayoutDestroy");
    get(t->layoutSet, "cublasLtMatrixLayoutSetAttribute");
    get(t->preferenceCreate, "cublasLtMatmulPreferenceCreate");
    get(t->preferenceDestroy, "cublasLtMatmulPreferenceDestroy");
    get(t->preferenceSet, "cublasLtMatmulPreferenceSetAttribute");
    get(t->heuristic, "cublasLtMatmulAlgoGetHeuristic");
    get(t->matmul, "cublasLtMatmul");
    return t;
  }();
  return *table;
}

} // namespace dlc::cublaslt

namespace dlc::cuda {

using namespace cublaslt;
using nlohmann::json;

namespace {

/// Internal exception. It must not leave this file, because the table's functions are C functions.
struct CublasLtError {
  std::string text;
};

void check(Status status, const char *doing) {
  if (status != cublaslt::Success)
    throw CublasLtError{std::string("cuBLASLt: ") + doing + ": " + functions().statusName(status)};
}

/// Returns the cuBLASLt handle of the device. Handles are cached for the lifetime of the process.
Handle getHandle(const Device &device) {
  static std::mutex mutex;
  static std::vector<std::pair<Context, Handle>> handles;
  std::lock_guard<std::mutex> guard(mutex);
  for (auto [context, handle] : handles)
    if (context == device.context)
      return handle;
  Handle made = nullptr;
  check(functions().create(&made), "creating a handle");
  handles.push_back({device.context, made});
  return made;
}

/// An operand of the call description: a batch of matrices with strides in elements.
struct MatrixOperand {
  int64_t rows = 0, columns = 0, rowStride = 0, columnStride = 0, batchStride = 0;

  bool isTransposed() const { return columnStride != 1; }
  int64_t leading() const { return isTransposed() ? columnStride : rowStride; }
  /// Returns the number of elements from the first to the last element in memory, including gaps.
  uint64_t extent(int64_t batch) const {
    return static_cast<uint64_t>((batch - 1) * batchStride + (rows - 1) * rowStride +
                                 (columns - 1) * columnStride + 1);
  }
};

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
  case DType::I8:
    return {I8, 1};
  case DType::I32:
    return {I32, 4};
  default:
    throw CublasLtError{"cuBLASLt: element type '" + std::string(dtypeName(type)) +
                        "' is not supported; required: f32, f64, f16, bf16, or i8 with i32"};
  }
}

MatrixOperand matrixOf(const char *name, const schema::Integers &strides, int64_t rows,
                       int64_t columns, bool mayTranspose) {
  MatrixOperand matrix{rows, columns, strides[1], strides[2], strides[0]};
  bool straight = matrix.columnStride == 1 && matrix.rowStride >= columns;
  bool crossed = mayTranspose && matrix.rowStride == 1 && matrix.columnStride >= rows;
  if (!straight && !crossed)
    throw CublasLtError{
        std::string("cuBLASLt: '") + name + "' of " + std::to_string(rows) + "x" +
        std::to_string(columns) + " has strides " + runtime::formatList(strides) +
        "; one of the last two strides must be 1, and the other at least the length of a row"};
  return matrix;
}

class CublasLtCall : public LibraryCall {
public:
  /// Creates the descriptors and selects the algorithm. Not a part of the constructor, so that the
  /// destructor releases the descriptors if this throws.
  void make(Device &device, const json &desc, std::span<const LibraryBuffer> buffers) {
    if (!functions().error.empty())
      throw CublasLtError{
          functions().error +
          "; compile the program again with --kernels generated, or install the library"};
    const auto fields = schema::GpuMatmul::read(desc, "cuBLASLt");
    const int64_t m = fields.m, n = fields.n, k = fields.k;
    batch = fields.batch;
    ElementType type = elementTypeOf(fields.dtype), result = elementTypeOf(fields.result);
    MatrixOperand a = matrixOf("a", fields.a, m, k, true), b = matrixOf("b", fields.b, k, n, true),
                  y = matrixOf("y", fields.y, m, n, false);
    hasBias = fields.bias.has_value();
    scale = type.type == F64 ? F64 : type.type == I8 ? I32 : F32;
    checkBuffers(buffers,
                 {a.extent(batch) * type.bytes, b.extent(batch) * type.bytes,
                  y.extent(batch) * result.bytes},
                 static_cast<uint64_t>(n) * (hasBias ? elementTypeOf(*fields.bias).bytes : 0));
    describe(fields, type, result, a, b, y);
    choose(device, desc, fields, type);
  }

  ~CublasLtCall() override {
    const Functions &f = functions();
    for (Layout layout : {first, second, destination})
      if (layout)
        f.layoutDestroy(layout);
    if (matmul)
      f.matmulDescDestroy(matmul);
  }

  std::string run(Stream stream, void *const *buffers, void *scratch) override {
    const Functions &f = functions();
    // The bias pointer is an attribute of the matmul descriptor. Each call has its own descriptor,
    // so setting it does not affect calls in other streams.
    if (hasBias)
      if (Status status = f.matmulDescSet(matmul, BiasPointer, &buffers[2], sizeof(void *)))
        return std::string("cuBLASLt: setting the bias: ") + f.statusName(status);
    void *y = buffers[hasBias ? 3 : 2];
    // alpha and beta must have the scale type. Zero has the same bit pattern in all scale types.
    float one = 1;
    double one64 = 1, zero = 0;
    int32_t whole = 1;
    const void *alpha = scale == F64   ? static_cast<const void *>(&one64)
                        : scale == I32 ? static_cast<const void *>(&whole)
                                       : &one,
               *beta = &zero;
    // cuBLASLt is column-major and our matrices are row-major, so compute y' = b' a'.
    Status status = f.matmul(handle, matmul, alpha, buffers[1], first, buffers[0], second, beta, y,
                             destination, y, destination, &algorithm, scratch, workspace, stream);
    return status ? std::string("cuBLASLt: running a matmul: ") + f.statusName(status) : "";
  }

private:
  void checkBuffers(std::span<const LibraryBuffer> buffers, std::initializer_list<uint64_t> needed,
                    uint64_t bias) {
    std::vector<std::pair<const char *, uint64_t>> wanted = {{"a", needed.begin()[0]},
                                                             {"b", needed.begin()[1]}};
    if (hasBias)
      wanted.push_back({"bias", bias});
    wanted.push_back({"y", needed.begin()[2]});
    if (buffers.size() != wanted.size())
      throw CublasLtError{"cuBLASLt: a matmul requires " + std::to_string(wanted.size()) +
                          " buffers; found: " + std::to_string(buffers.size())};
    for (size_t i = 0; i < wanted.size(); ++i)
      if (buffers[i].bytes < wanted[i].second)
        throw CublasLtError{std::string("cuBLASLt: buffer '") + wanted[i].first + "' has " +
                            formatBytes(buffers[i].bytes) +
                            "; required: " + formatBytes(wanted[i].second)};
    if (!buffers.back().writable)
      throw CublasLtError{"cuBLASLt: buffer 'y' is written, but is part of a constant or an input"};
  }

  static Layout layoutOf(const MatrixOperand &matrix, DataType type, int64_t batch) {
    const Functions &f = functions();
    Layout layout = nullptr;
    int64_t inner = matrix.isTransposed() ? matrix.rows : matrix.columns,
            outer = matrix.isTransposed() ? matrix.columns : matrix.rows;
    check(f.layoutCreate(&layout, type, static_cast<uint64_t>(inner), static_cast<uint64_t>(outer),
                         matrix.leading()),
          "creating a matrix layout");
    auto count = static_cast<int32_t>(batch);
    if (batch > 1) {
      check(f.layoutSet(layout, BatchCount, &count, sizeof count),
            "setting the batch of a matrix layout");
      check(f.layoutSet(layout, BatchStride, &matrix.batchStride, sizeof matrix.batchStride),
            "setting the batch of a matrix layout");
    }
    return layout;
  }

  void describe(const schema::GpuMatmul &fields, ElementType type, ElementType result,
                const MatrixOperand &a, const MatrixOperand &b, const MatrixOperand &y) {
    const Functions &f = functions();
    int compute = scale == F64                      ? Compute64
                  : scale == I32                    ? ComputeI32
                  : fields.math && type.type == F32 ? ComputeTf32
                                                    : Compute32;
    check(f.matmulDescCreate(&matmul, compute, scale), "creating a matmul descriptor");
    auto set = [&](int attribute, auto value) {
      check(f.matmulDescSet(matmul, attribute, &value, sizeof value),
            "creating a matmul descriptor");
    };
    set(TransA, static_cast<int32_t>(b.isTransposed() ? Transpose : None));
    set(TransB, static_cast<int32_t>(a.isTransposed() ? Transpose : None));
    unsigned epilogue = (hasBias ? Bias : 0u) | (fields.relu ? Relu : 0u);
    if (epilogue)
      set(EpilogueKind, epilogue);
    if (hasBias)
      set(BiasType, static_cast<int32_t>(elementTypeOf(*fields.bias).type));
    first = layoutOf(b, type.type, batch);
    second = layoutOf(a, type.type, batch);
    destination = layoutOf(y, result.type, batch);
  }

  /// Selects the cuBLASLt algorithm: by default the first one of the heuristic, or the one with the
  /// index `algorithm` of the description, which autotuning has chosen.
  void choose(Device &device, const json &desc, const schema::GpuMatmul &fields, ElementType type) {
    const Functions &f = functions();
    handle = getHandle(device);
    Preference preference = nullptr;
    check(f.preferenceCreate(&preference), "selecting an algorithm");
    const auto most = static_cast<uint64_t>(fields.workspace.value_or(int64_t{32} << 20));
    const auto alignment =
        static_cast<uint32_t>(fields.alignment.value_or(static_cast<int64_t>(type.bytes)));
    f.preferenceSet(preference, MaxWorkspace, &most, sizeof most);
    for (int which : {AlignmentA, AlignmentB, AlignmentC, AlignmentD})
      f.preferenceSet(preference, which, &alignment, sizeof alignment);
    constexpr int asked = 8;
    Heuristic found[asked] = {};
    int count = 0;
    Status status = f.heuristic(handle, matmul, first, second, destination, destination, preference,
                                asked, found, &count);
    f.preferenceDestroy(preference);
    if (status == cublaslt::NotSupported || (status == cublaslt::Success && count == 0))
      throw CublasLtError{"cuBLASLt: no algorithm on " + device.name() + " for " + desc.dump() +
                          "; compile the program for this device"};
    check(status, "selecting an algorithm");
    const int64_t wanted = schema::GpuChoice::read(desc, "cuBLASLt").algorithm.value_or(1);
    const Heuristic &chosen = found[wanted <= count ? wanted - 1 : 0];
    algorithm = chosen.algorithm;
    workspace = chosen.workspace;
  }

  Handle handle = nullptr;
  MatmulDesc matmul = nullptr;
  Layout first = nullptr, second = nullptr, destination = nullptr;
  Algorithm algorithm = {};
  int64_t batch = 1;
  DataType scale = F32;
  bool hasBias = false;
};

} // namespace

std::unique_ptr<LibraryCall> createCublasLtCall(Device &device, const json &desc,
                                                std::span<const LibraryBuffer> buffers,
                                                std::string &error) {
  try {
    auto call = std::make_unique<CublasLtCall>();
    call->make(device, desc, buffers);
    return call;
  } catch (const CublasLtError &failure) {
    error = failure.text;
  } catch (const std::exception &wrong) {
    error = wrong.what();
  }
  return nullptr;
}

} // namespace dlc::cuda
