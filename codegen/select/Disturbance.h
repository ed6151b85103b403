//===- Disturbance.h - whether other work ran on our processors -----------===//
#ifndef DLC_CODEGEN_SELECT_DISTURBANCE_H
#define DLC_CODEGEN_SELECT_DISTURBANCE_H

namespace dlc {

/// Microseconds that this process's threads have stood in line for a processor since they started,
/// where the system counts that; else 0.
double microsecondsInLine();

} // namespace dlc
#endif
