//===- Collectives.h - collectives with nonblocking MPI calls ----------------===//
#ifndef DLC_RUNTIME_COLLECTIVE_MPI_COLLECTIVES_H
#define DLC_RUNTIME_COLLECTIVE_MPI_COLLECTIVES_H

#include "dlc/engine.h"

#include <mpi.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace dlc::mpi {

/// An MPI error with MPI's error message.
struct MpiError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void check(int code, const char *call);

/// Sets the reduction function for types and reductions that MPI does not have or defines
/// differently.
void setCombine(dlc_engine_combine combine);

/// Starts a collective with nonblocking MPI calls and returns their pending requests.
std::vector<MPI_Request> startCollective(MPI_Comm all, int rank, int size,
                                         const dlc_engine_call &call);

} // namespace dlc::mpi

#endif // DLC_RUNTIME_COLLECTIVE_MPI_COLLECTIVES_H
