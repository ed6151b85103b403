//===- Collectives.cpp - collectives with nonblocking MPI calls --------------===//
//
// MPI element counts are of type int, and MPI libraries multiply them by the number of ranks.
// Longer operands are therefore split into pieces.
//
//===---------------------------------------------------------------------------===//
#include "runtime/collective/mpi/Collectives.h"

#include "dlc/DType.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace dlc::mpi {

void check(int code, const char *call) {
  if (code == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw MpiError(std::string(call) + ": " + std::string(text, length));
}

namespace {

constexpr uint64_t kPiece = uint64_t(1) << 20;

struct MpiElement {
  MPI_Datatype type;
  /// Whether MPI_SUM computes the required sum.
  bool adds;
};

// MPI types of the elements, in the order of DType. f16, bf16, Bool and packed integers are sent as
// integers of the same size. These types need our own reduction function, and so do short integers:
// Open MPI's sums saturate, ours wrap around.
const std::array<MpiElement, kDTypeCount> &getMpiElements() {
  static const std::array<MpiElement, kDTypeCount> known = {{{MPI_FLOAT, true},
                                                             {MPI_UINT16_T, false},
                                                             {MPI_UINT16_T, false},
                                                             {MPI_DOUBLE, true},
                                                             {MPI_INT8_T, false},
                                                             {MPI_UINT8_T, false},
                                                             {MPI_INT16_T, false},
                                                             {MPI_UINT16_T, false},
                                                             {MPI_INT32_T, true},
                                                             {MPI_UINT32_T, true},
                                                             {MPI_INT64_T, true},
                                                             {MPI_UINT64_T, true},
                                                             {MPI_UINT8_T, false},
                                                             {MPI_UINT8_T, false},
                                                             {MPI_UINT8_T, false}}};
  return known;
}

// Function that the MPI reduction functions call. MPI passes no context to them, so there is one
// function per type and reduction.
dlc_engine_combine combineWith = nullptr;

template <int Type, int Reduction>
void reduceElements(void *from, void *into, int *count, MPI_Datatype *) {
  combineWith(Reduction, Type, into, from, static_cast<uint64_t>(*count));
}

using Reducers = std::array<MPI_User_function *, 2>;
template <size_t... Types>
constexpr std::array<Reducers, kDTypeCount> makeReducers(std::index_sequence<Types...>) {
  return {{{&reduceElements<int(Types), DLC_REDUCE_SUM>,
            &reduceElements<int(Types), DLC_REDUCE_MAX>}...}};
}

MPI_Op getReductionOp(const dlc_engine_call &call) {
  if (call.reduction == DLC_REDUCE_SUM && getMpiElements()[call.type].adds)
    return MPI_SUM;
  static constexpr auto functions = makeReducers(std::make_index_sequence<kDTypeCount>());
  static std::array<std::array<MPI_Op, 2>, kDTypeCount> made = [] {
    std::array<std::array<MPI_Op, 2>, kDTypeCount> none;
    for (auto &pair : none)
      pair.fill(MPI_OP_NULL);
    return none;
  }();
  MPI_Op &operation = made[call.type][call.reduction];
  if (operation == MPI_OP_NULL)
    check(MPI_Op_create(functions[call.type][call.reduction], /*commute=*/1, &operation),
          "MPI_Op_create");
  return operation;
}

struct RunningCollective {
  MPI_Comm all;
  int rank, size;
  const dlc_engine_call &call;
  MPI_Datatype type;
  uint64_t bytes; ///< element size
  std::vector<MPI_Request> requests;

  const char *from(uint64_t element) const {
    return static_cast<const char *>(call.from) + element * bytes;
  }
  char *to(uint64_t element) const { return static_cast<char *>(call.to) + element * bytes; }
  MPI_Request *next() { return &requests.emplace_back(MPI_REQUEST_NULL); }
};

/// Splits `count` elements into pieces and calls body(first element, number of elements) for each.
template <typename Body> void forEachPiece(uint64_t count, Body body) {
  for (uint64_t first = 0; first < count; first += kPiece)
    body(first, static_cast<int>(std::min(kPiece, count - first)));
}

void allReduce(RunningCollective &going) {
  MPI_Op operation = getReductionOp(going.call);
  bool inPlace = going.call.from == going.call.to;
  forEachPiece(going.call.share, [&](uint64_t first, int count) {
    check(MPI_Iallreduce(inPlace ? MPI_IN_PLACE : going.from(first), going.to(first), count,
                         going.type, operation, going.all, going.next()),
          "MPI_Iallreduce");
  });
}

void broadcast(RunningCollective &going) {
  const dlc_engine_call &call = going.call;
  if (going.rank == call.root && call.from != call.to)
    std::memmove(call.to, call.from, call.share * going.bytes);
  forEachPiece(call.share, [&](uint64_t first, int count) {
    check(MPI_Ibcast(going.to(first), count, going.type, call.root, going.all, going.next()),
          "MPI_Ibcast");
  });
}

void allGather(RunningCollective &going) {
  uint64_t share = going.call.share;
  bool inPlace = going.call.from == going.to(static_cast<uint64_t>(going.rank) * share);
  forEachPiece(share, [&](uint64_t first, int count) {
    // Use a type whose extent is `share` elements: the pieces of consecutive ranks are this far
    // apart.
    MPI_Datatype piece = MPI_DATATYPE_NULL, spread = MPI_DATATYPE_NULL;
    check(MPI_Type_contiguous(count, going.type, &piece), "MPI_Type_contiguous");
    check(MPI_Type_create_resized(piece, 0, static_cast<MPI_Aint>(share * going.bytes), &spread),
          "MPI_Type_create_resized");
    check(MPI_Type_commit(&spread), "MPI_Type_commit");
    check(MPI_Iallgather(inPlace ? MPI_IN_PLACE : going.from(first), count, going.type,
                         going.to(first), 1, spread, going.all, going.next()),
          "MPI_Iallgather");
    // MPI frees the types only after the last pending operation that uses them.
    MPI_Type_free(&spread);
    MPI_Type_free(&piece);
  });
}

void reduceScatter(RunningCollective &going) {
  const dlc_engine_call &call = going.call;
  MPI_Op operation = getReductionOp(call);
  if (call.share * static_cast<uint64_t>(going.size) <= kPiece) {
    check(MPI_Ireduce_scatter_block(call.from, call.to, static_cast<int>(call.share), going.type,
                                    operation, going.all, going.next()),
          "MPI_Ireduce_scatter_block");
    return;
  }
  for (int root = 0; root < going.size; ++root)
    forEachPiece(call.share, [&](uint64_t first, int count) {
      check(MPI_Ireduce(going.from(static_cast<uint64_t>(root) * call.share + first),
                        going.to(first), count, going.type, operation, root, going.all,
                        going.next()),
            "MPI_Ireduce");
    });
}

} // namespace

void setCombine(dlc_engine_combine combine) { combineWith = combine; }

std::vector<MPI_Request> startCollective(MPI_Comm all, int rank, int size,
                                         const dlc_engine_call &call) {
  // Functions that start a collective, indexed by DLC_COLLECTIVE_*.
  constexpr void (*kinds[])(RunningCollective &) = {allReduce, allGather, reduceScatter, broadcast};
  if (call.collective < 0 || call.collective >= static_cast<int>(std::size(kinds)))
    throw MpiError("unknown collective number " + std::to_string(call.collective));
  if (call.type < 0 || call.type >= kDTypeCount)
    throw MpiError("unknown element type number " + std::to_string(call.type));
  RunningCollective going{all,
                          rank,
                          size,
                          call,
                          getMpiElements()[call.type].type,
                          dtypeBytes(static_cast<DType>(call.type)),
                          {}};
  kinds[call.collective](going);
  return std::move(going.requests);
}

} // namespace dlc::mpi
