//===- EpilogueTable.h - properties of epilogue ops -----------------------===//
#ifndef DLC_RUNTIME_EPILOGUE_EPILOGUETABLE_H
#define DLC_RUNTIME_EPILOGUE_EPILOGUETABLE_H

#include "dlc/Export.h"
#include "runtime/epilogue/EpilogueOps.h"

namespace dlc {

struct ActivationInfo {
  const char *name;           ///< name in the descriptions of dlc's own kernels
  float alpha, beta;          ///< values of parameters that a description omits
  const char *onednn, *cudnn; ///< names in these libraries; "": the library refuses the activation
};
DLC_EXPORT const ActivationInfo &infoOf(Activation activation);

struct EpilogueBinaryInfo {
  const char *name;   ///< name in the descriptions of dlc's own kernels
  const char *onednn; ///< name in oneDNN; "": oneDNN refuses the op
  bool isOwn;         ///< whether dlc's own kernels support the op
};
DLC_EXPORT const EpilogueBinaryInfo &infoOf(EpilogueBinary binary);

/// Returns whether f(0) = 0 for the activation f with these parameters.
DLC_EXPORT bool preservesZero(Activation activation, double alpha, double beta);

/// Converts an activation's parameter from a description to f32. JSON has no infinities: a clip
/// bound of at least the largest finite f32 in magnitude becomes infinite, that is, no bound.
DLC_EXPORT float activationParameter(Activation activation, double value);

} // namespace dlc

#endif // DLC_RUNTIME_EPILOGUE_EPILOGUETABLE_H
