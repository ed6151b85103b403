//===- Collectives.h - the engine's calls as MPI's nonblocking ones -----------===//
#ifndef DLC_RUNTIME_COLLECTIVE_MPI_COLLECTIVES_H
#define DLC_RUNTIME_COLLECTIVE_MPI_COLLECTIVES_H

#include "dlc/engine.h"

#include <mpi.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace dlc::mpi {

/// MPI's own words for a code that is no success.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void check(int code, const char *call);

/// Sums and maxima of types that MPI does not know, or means otherwise.
void setCombine(dlc_engine_combine combine);

/// The requests that carry out the call, all under way.
std::vector<MPI_Request> start(MPI_Comm all, int rank, int size, const dlc_engine_call &call);

} // namespace dlc::mpi

#endif // DLC_RUNTIME_COLLECTIVE_MPI_COLLECTIVES_H
