//===- CublasLt.cpp - emulated cuBLASLt: GEMMs as loops on the emulated GPU ---===//
//
// Emulation of libcublasLt.so, loaded if $DLC_CUDA_CUBLASLT names this library. It implements the
// calls that libdlc_cuda makes. Like cuBLASLt it refuses leading dimensions that are too short,
// combinations of types that it does not support, and unknown epilogues.
//
//===--------------------------------------------------------------------------===//
#include "test/emulator/Gpu.h"
#include "test/emulator/Numbers.h"

#include <cstring>
#include <type_traits>

using namespace dlc_emulated;

namespace {

enum Status : int { Done = 0, NotInitialised = 1, Invalid = 7, Failed = 13, Unsupported = 15 };
enum : int { F32 = 0, F64 = 1, F16 = 2, I8 = 3, I32 = 10, Bf16 = 14 };

struct Matmul {
  int compute = 0, scale = 0;
  int32_t transA = 0, transB = 0, biasType = -1;
  uint32_t epilogue = 1;
  uint64_t bias = 0;
};

/// A column-major matrix layout.
struct Layout {
  int type = 0;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0, batchStride = 0;
  int32_t batch = 1;

  uint64_t elements() const {
    return static_cast<uint64_t>((batch - 1) * batchStride +
                                 (static_cast<int64_t>(columns) - 1) * leading) +
           rows;
  }
};

struct Heuristic {
  uint64_t algorithm[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

Number numberOf(int type) {
  return type == F64   ? Number::F64
         : type == F32 ? Number::F32
         : type == F16 ? Number::F16
         : type == I8  ? Number::I8
         : type == I32 ? Number::I32
                       : Number::Bf16;
}

uint64_t bytesOf(int type) { return dlc_emulated::bytesOf(numberOf(type)); }
double load(const char *memory, int type, uint64_t i) {
  return dlc_emulated::load(memory, numberOf(type), i);
}
void store(char *memory, int type, uint64_t i, double value) {
  dlc_emulated::store(memory, numberOf(type), i, value);
}
double rounded(double value, int compute) { return compute == 77 ? roundedToTf32(value) : value; }

/// Checks that the operands match and that cuBLASLt supports the combination of types and epilogue.
Status fits(const Matmul &op, const Layout &a, const Layout &b, const Layout &d) {
  uint64_t m = op.transA ? a.columns : a.rows, k = op.transA ? a.rows : a.columns;
  uint64_t inner = op.transB ? b.columns : b.rows, n = op.transB ? b.rows : b.columns;
  for (const Layout *layout : {&a, &b, &d})
    if (layout->leading < static_cast<int64_t>(layout->rows) || layout->batch != d.batch)
      return Invalid;
  if (inner != k || d.rows != m || d.columns != n)
    return Invalid;
  // 8-bit integers: the first matrix must be transposed, the second not, and all sizes must be
  // multiples of 4.
  if (a.type == I8) {
    bool inUnits =
        m % 4 == 0 && k % 4 == 0 && a.leading % 4 == 0 && b.leading % 4 == 0 && d.leading % 4 == 0;
    return b.type == I8 && d.type == I32 && op.compute == 72 && op.scale == I32 && op.transA &&
                   !op.transB && op.epilogue == 1 && inUnits
               ? Done
               : Unsupported;
  }
  bool types = a.type == b.type && (d.type == a.type || (d.type == F32 && a.type != F64));
  bool compute = a.type == F64 ? op.compute == 70 && op.scale == F64
                               : (op.compute == 68 || op.compute == 77) && op.scale == F32;
  bool epilogue = op.epilogue == 1 || op.epilogue == 2 || op.epilogue == 4 || op.epilogue == 6;
  return types && compute && epilogue ? Done : Unsupported;
}

struct Pointers {
  uint64_t a, b, d;
};

Result multiply(void *stream, const Matmul &op, const Layout &a, const Layout &b, const Layout &d,
                Pointers at) {
  const char *left =
      memoryOfLibrary(stream, at.a, a.elements() * bytesOf(a.type), "product that reads a");
  const char *right =
      memoryOfLibrary(stream, at.b, b.elements() * bytesOf(b.type), "product that reads b");
  char *to = memoryOfLibrary(stream, at.d, d.elements() * bytesOf(d.type), "product that writes");
  bool hasBias = op.epilogue & 4u, relu = op.epilogue & 2u;
  int biasType = op.biasType < 0 ? d.type : op.biasType;
  const char *bias = hasBias ? memoryOfLibrary(stream, op.bias, d.rows * bytesOf(biasType),
                                               "product that reads a bias")
                             : nullptr;
  if (!left || !right || !to || (hasBias && !bias))
    return IllegalAddress;
  uint64_t m = d.rows, n = d.columns, k = op.transA ? a.rows : a.columns;
  auto index = [](const Layout &layout, int32_t batch, uint64_t row, uint64_t column) {
    return static_cast<uint64_t>(batch * layout.batchStride) +
           column * static_cast<uint64_t>(layout.leading) + row;
  };
  std::vector<double> x(m * k), y(k * n);
  for (int32_t batch = 0; batch < d.batch; ++batch) {
    for (uint64_t i = 0; i < m; ++i)
      for (uint64_t l = 0; l < k; ++l)
        x[i * k + l] =
            rounded(load(left, a.type, op.transA ? index(a, batch, l, i) : index(a, batch, i, l)),
                    op.compute);
    for (uint64_t j = 0; j < n; ++j)
      for (uint64_t l = 0; l < k; ++l)
        y[j * k + l] =
            rounded(load(right, b.type, op.transB ? index(b, batch, j, l) : index(b, batch, l, j)),
                    op.compute);
    for (uint64_t j = 0; j < n; ++j)
      for (uint64_t i = 0; i < m; ++i) {
        double sum = 0;
        for (uint64_t l = 0; l < k; ++l)
          sum += x[i * k + l] * y[j * k + l];
        if (hasBias)
          sum += load(bias, biasType, i);
        store(to, d.type, index(d, batch, i, j), relu && sum < 0 ? 0 : sum);
      }
  }
  return Success;
}

} // namespace

#define DLC_CUBLASLT extern "C" __attribute__((visibility("default"))) int

extern "C" __attribute__((visibility("default"))) size_t cublasLtGetVersion() { return 130100; }

extern "C" __attribute__((visibility("default"))) const char *cublasLtGetStatusName(int status) {
  return status == Done             ? "CUBLAS_STATUS_SUCCESS"
         : status == NotInitialised ? "CUBLAS_STATUS_NOT_INITIALIZED"
         : status == Invalid        ? "CUBLAS_STATUS_INVALID_VALUE"
         : status == Unsupported    ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                    : "CUBLAS_STATUS_EXECUTION_FAILED";
}

DLC_CUBLASLT cublasLtCreate(void **handle) {
  if (!gpu().started)
    return NotInitialised;
  *handle = new int(0);
  return Done;
}
DLC_CUBLASLT cublasLtDestroy(void *handle) {
  delete static_cast<int *>(handle);
  return Done;
}

DLC_CUBLASLT cublasLtMatmulDescCreate(void **desc, int compute, int scale) {
  auto *op = new Matmul;
  op->compute = compute;
  op->scale = scale;
  *desc = op;
  return Done;
}
DLC_CUBLASLT cublasLtMatmulDescDestroy(void *desc) {
  delete static_cast<Matmul *>(desc);
  return Done;
}
DLC_CUBLASLT cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value,
                                            size_t bytes) {
  auto &op = *static_cast<Matmul *>(desc);
  auto take = [&](auto &to) {
    if (bytes != sizeof to)
      return Invalid;
    std::memcpy(&to, value, bytes);
    return Done;
  };
  switch (attribute) {
  case 3:
    return take(op.transA);
  case 4:
    return take(op.transB);
  case 7:
    return take(op.epilogue);
  case 8:
    return take(op.bias);
  case 26:
    return take(op.biasType);
  default:
    return Unsupported;
  }
}

DLC_CUBLASLT cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns,
                                        int64_t leading) {
  auto *made = new Layout;
  made->type = type;
  made->rows = rows;
  made->columns = columns;
  made->leading = leading;
  *layout = made;
  return Done;
}
DLC_CUBLASLT cublasLtMatrixLayoutDestroy(void *layout) {
  delete static_cast<Layout *>(layout);
  return Done;
}
DLC_CUBLASLT cublasLtMatrixLayoutSetAttribute(void *layout, int attribute, const void *value,
                                              size_t bytes) {
  auto &to = *static_cast<Layout *>(layout);
  if (attribute == 5 && bytes == sizeof to.batch)
    std::memcpy(&to.batch, value, bytes);
  else if (attribute == 6 && bytes == sizeof to.batchStride)
    std::memcpy(&to.batchStride, value, bytes);
  else
    return Invalid;
  return Done;
}

DLC_CUBLASLT cublasLtMatmulPreferenceCreate(void **preference) {
  *preference = new uint64_t(0);
  return Done;
}
DLC_CUBLASLT cublasLtMatmulPreferenceDestroy(void *preference) {
  delete static_cast<uint64_t *>(preference);
  return Done;
}
DLC_CUBLASLT cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute,
                                                  const void *value, size_t bytes) {
  if (attribute == 1 && bytes == sizeof(uint64_t))
    std::memcpy(preference, value, bytes);
  return Done;
}

/// Offers two algorithms: one without a workspace, and one that fills a workspace of 1 MiB or of
/// the maximum that the caller allows, whichever is smaller.
DLC_CUBLASLT cublasLtMatmulAlgoGetHeuristic(void *, void *desc, void *a, void *b, void *, void *d,
                                            void *preference, int requested, void *results,
                                            int *returned) {
  *returned = 0;
  Status status = fits(*static_cast<Matmul *>(desc), *static_cast<Layout *>(a),
                       *static_cast<Layout *>(b), *static_cast<Layout *>(d));
  if (status != Done)
    return status;
  uint64_t room = std::min<uint64_t>(*static_cast<uint64_t *>(preference), 1 << 20);
  for (uint64_t i = 0; i < 2 && static_cast<int>(i) < requested; ++i) {
    Heuristic &result = static_cast<Heuristic *>(results)[i];
    result = {};
    result.algorithm[0] = i;
    result.workspace = i ? room : 0;
    ++*returned;
  }
  return Done;
}

DLC_CUBLASLT cublasLtMatmul(void *, void *desc, const void *alpha, const void *a, void *aLayout,
                            const void *b, void *bLayout, const void *beta, const void *, void *,
                            void *d, void *dLayout, const void *algorithm, void *workspace,
                            size_t bytes, void *stream) {
  Matmul op = *static_cast<Matmul *>(desc);
  Layout first = *static_cast<Layout *>(aLayout), second = *static_cast<Layout *>(bLayout),
         to = *static_cast<Layout *>(dLayout);
  if (Status status = fits(op, first, second, to))
    return status;
  auto number = [&](const void *at) { return load(static_cast<const char *>(at), op.scale, 0); };
  if (number(alpha) != 1 || number(beta) != 0)
    return Unsupported;
  uint64_t wanted = *static_cast<const uint64_t *>(algorithm) ? bytes : 0;
  Pointers at{reinterpret_cast<uint64_t>(a), reinterpret_cast<uint64_t>(b),
              reinterpret_cast<uint64_t>(d)};
  auto scratch = reinterpret_cast<uint64_t>(workspace);
  Result result = enqueueLibrary(stream, [=]() -> Result {
    if (wanted) {
      char *memory = memoryOfLibrary(stream, scratch, wanted, "product that uses its workspace");
      if (!memory)
        return IllegalAddress;
      std::memset(memory, 0xa5, wanted);
    }
    return multiply(stream, op, first, second, to, at);
  });
  return result ? Failed : Done;
}
