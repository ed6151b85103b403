//===- Cudnn.h - declarations of cuDNN's graph API in use --------------------===//
//
// dlc has its own declarations so that no cuDNN header is needed to build it.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_DEVICE_CUDA_CUDNN_H
#define DLC_RUNTIME_DEVICE_CUDA_CUDNN_H

#include "runtime/device/cuda/Loader.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace dlc::cudnn {

using Handle = void *;
using Descriptor = void *;
using Status = int;

enum : Status { Success = 0 };

enum DataType : int { F32 = 0, F64 = 1, F16 = 2, Bf16 = 9 };
enum HeuristicMode : int { Fallback = 2, ModeA = 3 };
enum PointwiseMode : int {
  Add = 0,
  ReluForward = 100,
  TanhForward = 101,
  SigmoidForward = 102,
  EluForward = 103,
  GeluForward = 104,
  SwishForward = 106,
  GeluTanhForward = 107
};
enum Note : int { TensorCore = 0, DownConvertInputs = 1, Nondeterministic = 4, NoteCount = 10 };

enum DescriptorKind : int {
  PointwiseKind = 0,
  ConvolutionKind = 1,
  EngineKind = 2,
  EngineConfigKind = 3,
  HeuristicKind = 4,
  PlanKind = 5,
  ForwardKind = 10,
  WeightGradientKind = 11,
  DataGradientKind = 12,
  PointwiseOperationKind = 13,
  GraphKind = 15,
  VariantPackKind = 16,
  TensorKind = 17,
  DevicePropertiesKind = 38,
  AttentionKind = 41
};

/// Element type of an attribute's values (cudnnBackendAttributeType_t).
enum ElementKind : int {
  OfHandle = 0,
  OfDataType = 1,
  OfBoolean = 2,
  OfInt64 = 3,
  OfFloat = 4,
  OfDouble = 5,
  OfPointer = 6,
  OfConvolutionMode = 7,
  OfHeuristicMode = 8,
  OfNote = 11,
  OfPointwiseMode = 14,
  OfDescriptor = 15,
  OfChar = 24
};

enum Attribute : int {
  PointwiseModeOf = 0,
  PointwisePrecision = 1,
  ReluUpper = 4,
  EluAlpha = 6,
  SwishBeta = 8,
  ConvolutionType = 100,
  ConvolutionMode = 101,
  ConvolutionDilations = 102,
  ConvolutionStrides = 103,
  ConvolutionHigh = 104,
  ConvolutionLow = 105,
  ConvolutionSpatial = 106,
  HeuristicModeOf = 200,
  HeuristicGraph = 201,
  HeuristicResults = 202,
  HeuristicDevice = 204,
  ConfigEngine = 300,
  PlanHandle = 400,
  PlanConfig = 401,
  PlanWorkspace = 402,
  PlanDevice = 407,
  ForwardAlpha = 700,
  ForwardBeta = 701,
  ForwardConvolution = 702,
  ForwardW = 703,
  ForwardX = 704,
  ForwardY = 705,
  DataAlpha = 706,
  DataBeta = 707,
  DataConvolution = 708,
  DataW = 709,
  DataDx = 710,
  DataDy = 711,
  WeightAlpha = 712,
  WeightBeta = 713,
  WeightConvolution = 714,
  WeightDw = 715,
  WeightX = 716,
  WeightDy = 717,
  OperationPointwise = 750,
  OperationX = 751,
  OperationB = 752,
  OperationY = 753,
  GraphHandle = 800,
  GraphOperations = 801,
  TensorAlignment = 900,
  TensorType = 901,
  TensorDimensions = 902,
  TensorStrides = 903,
  TensorId = 906,
  TensorIsVirtual = 907,
  TensorIsNumber = 908,
  PackIds = 1000,
  PackPointers = 1001,
  PackWorkspace = 1003,
  EngineIndex = 1301,
  EngineNotes = 1303,
  DeviceJson = 2702,
  AttentionQ = 2800,
  AttentionK = 2801,
  AttentionV = 2802,
  AttentionY = 2803,
  AttentionSums = 2804,
  AttentionScale = 2805
};

struct Functions {
  size_t (*version)();
  const char *(*errorString)(Status);
  void (*lastError)(char *text, size_t bytes);
  Status (*create)(Handle *);
  Status (*setStream)(Handle, void *stream);
  Status (*make)(int kind, Descriptor *);
  Status (*destroy)(Descriptor);
  Status (*finalize)(Descriptor);
  Status (*set)(Descriptor, int attribute, int type, int64_t count, const void *values);
  Status (*get)(Descriptor, int attribute, int type, int64_t room, int64_t *count, void *values);
  Status (*execute)(Handle, Descriptor plan, Descriptor pack);
  std::string error; ///< reason if the library is unavailable
};

Functions loadFunctions(const cuda::LoadedLibrary &library);

/// Returns the functions of cuDNN, which is loaded once per process.
const Functions &functions();

} // namespace dlc::cudnn

#endif // DLC_RUNTIME_DEVICE_CUDA_CUDNN_H
