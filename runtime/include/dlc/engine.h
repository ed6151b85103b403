/*===- engine.h - plugin interface for collectives between processes, as C functions -===
 *
 * An engine is a library libdlc_ENGINE.so that exports
 *
 *     const dlc_engine_table *dlc_ENGINE_engine_table(char *error, size_t size);
 *
 * and is installed next to libdlc_runtime.so, in lib/dlc of the installed tree, or in a folder of
 * $DLC_PLUGINS. The runtime loads it if a launcher (mpirun, srun) started the process. A program
 * with its own rendezvous passes a table to dlc_world_form (dlc.h) instead.
 *
 * All functions are called by one thread, which opens the world and closes it. Only `open` and
 * `close` may block on other ranks. Every function that can fail returns 0 on success. On failure
 * it returns nonzero after it has written a message (NUL-terminated, truncated to fit) into
 * error[size].
 */
#ifndef DLC_ENGINE_H
#define DLC_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C naming conventions, as in dlc.h. NOLINTBEGIN(readability-identifier-naming) */

#define DLC_ENGINE_TABLE_VERSION 1u

/* Element types, with the values of dlc::DType. */
enum {
  DLC_ELEMENT_F32 = 0,
  DLC_ELEMENT_F64 = 3,
  DLC_ELEMENT_U8 = 5,
  DLC_ELEMENT_I32 = 8,
  DLC_ELEMENT_I64 = 10
};

/* Reductions. DLC_REDUCE_MEAN, for floating-point types, is supported by device groups only
 * (dlc/device.h). */
enum { DLC_REDUCE_SUM = 0, DLC_REDUCE_MAX = 1, DLC_REDUCE_MEAN = 2 };

/* Kinds of collectives. `share` is the number of elements per rank, `size` the number of ranks:
 *   all_reduce      to[share] = reduction of the from[share] of all ranks; from == to is allowed
 *   all_gather      to[r * share ...] = from[share] of rank r; from may be this rank's part of to
 *   reduce_scatter  to[share] = elements [rank * share ...] of the reduced from[size * share]
 *   broadcast       to[share] of all ranks = from[share] of the root; from == to is allowed */
enum {
  DLC_COLLECTIVE_ALL_REDUCE = 0,
  DLC_COLLECTIVE_ALL_GATHER = 1,
  DLC_COLLECTIVE_REDUCE_SCATTER = 2,
  DLC_COLLECTIVE_BROADCAST = 3
};

typedef struct dlc_engine_call {
  int32_t collective, reduction, type, root;
  const void *from;
  void *to;
  uint64_t share;
} dlc_engine_call;

/* Computes into[i] = reduction(into[i], from[i]) with the semantics that all engines must
 * implement. */
typedef void (*dlc_engine_combine)(int reduction, int type, void *into, const void *from,
                                   uint64_t count);

/* Maximum size in bytes of a message between two ranks. */
#define DLC_ENGINE_MESSAGE 256u

typedef struct dlc_engine_place {
  int32_t rank, size;             /* rank of this process and number of ranks in the world */
  int32_t local_rank, local_size; /* rank and number of ranks on this machine */
} dlc_engine_place;

typedef struct dlc_engine_table {
  uint32_t version; /* DLC_ENGINE_TABLE_VERSION */
  const char *name; /* ENGINE of the library's name */

  /* Opens the world and sets *place. `argument` is the pointer that was passed to dlc_world_form;
   * NULL for plugins. */
  int (*open)(const void *argument, dlc_engine_combine combine, void **world,
              dlc_engine_place *place, char *error, size_t size);
  void (*close)(void *world);

  /* `start` starts an asynchronous collective. Its source and destination memory must not be
   * changed until the request is done. All ranks start the same collectives in the same order.
   * `test` frees a request that is done or has failed. */
  int (*start)(void *world, const dlc_engine_call *call, void **request, char *error, size_t size);
  int (*test)(void *world, void *request, int *done, char *error, size_t size);

  /* `send` and `receive` exchange small messages between ranks, delivered in order. `receive` sets
   * *from to -1 if there is no message. Both may be NULL: then the ranks exchange no heartbeats,
   * and failed ranks are not detected. */
  int (*send)(void *world, int to, const void *data, uint32_t bytes, char *error, size_t size);
  int (*receive)(void *world, int *from, void *data, uint32_t *bytes, char *error, size_t size);

  /* Terminates all ranks. If the ranks are separate processes, this function prints the message and
   * does not return. */
  void (*abort)(void *world, const char *message);
} dlc_engine_table;

/* NOLINTEND(readability-identifier-naming) */

/* Type of the exported function dlc_<engine>_engine_table. Returns NULL and writes a message
 * into error if the plugin cannot be used. */
typedef const dlc_engine_table *(*dlc_engine_table_function)(char *error, size_t size);

#ifdef __cplusplus
}
#endif
#endif /* DLC_ENGINE_H */
