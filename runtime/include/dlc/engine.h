/*===- engine.h - what carries collectives between processes, as C functions -----===
 *
 * An engine is a library libdlc_ENGINE.so that exports
 *
 *     const dlc_engine_table *dlc_ENGINE_engine_table(char *error, size_t size);
 *
 * and lies beside libdlc_runtime.so, in lib/dlc of the installed tree, or in a folder of
 * $DLC_PLUGINS. The runtime looks for it when a launcher started the process (mpirun, srun). A
 * program that finds its ranks otherwise gives the table to dlc_world_form (dlc.h).
 *
 * All functions are called by one thread, which opens the world and closes it; none of them waits
 * for other ranks but `open` and `close`. Every function that can fail returns 0, or nonzero after
 * it has written a message (NUL-terminated, cut to fit) into error[size].
 */
#ifndef DLC_ENGINE_H
#define DLC_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C's names, as in dlc.h. NOLINTBEGIN(readability-identifier-naming) */

#define DLC_ENGINE_TABLE_VERSION 1u

/* Element types have the numbers of dlc::DType. */
enum {
  DLC_ELEMENT_F32 = 0,
  DLC_ELEMENT_F64 = 3,
  DLC_ELEMENT_U8 = 5,
  DLC_ELEMENT_I32 = 8,
  DLC_ELEMENT_I64 = 10
};

/* The mean, of floats, is for groups of devices alone (dlc/device.h). */
enum { DLC_REDUCE_SUM = 0, DLC_REDUCE_MAX = 1, DLC_REDUCE_MEAN = 2 };

/* `share` is the number of elements that lie on one rank, where sides differ:
 *   all_reduce      from[share] of each rank, reduced, in to[share]; from == to is allowed
 *   all_gather      to[rank * share ...] is that rank's from[share], which may lie there
 *   reduce_scatter  to[share] is the place [rank * share ...] of from[size * share], reduced
 *   broadcast       from[share] of the root in to[share] of all; from == to is allowed */
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

/* into[i] = into[i] (reduced with) from[i], the way that all engines do it. */
typedef void (*dlc_engine_combine)(int reduction, int type, void *into, const void *from,
                                   uint64_t count);

/* The bytes of a message between two ranks are at most these. */
#define DLC_ENGINE_MESSAGE 256u

typedef struct dlc_engine_place {
  int32_t rank, size;             /* in the world */
  int32_t local_rank, local_size; /* among those of this machine */
} dlc_engine_place;

typedef struct dlc_engine_table {
  uint32_t version; /* DLC_ENGINE_TABLE_VERSION */
  const char *name; /* as in the library's name */

  /* `argument` is what the maker of the world gave along; NULL for plugins. */
  int (*open)(const void *argument, dlc_engine_combine combine, void **world,
              dlc_engine_place *place, char *error, size_t size);
  void (*close)(void *world);

  /* Memory is the engine's until the request is done. All ranks start the same collectives in the
   * same order. `test` frees a request that is done or has failed. */
  int (*start)(void *world, const dlc_engine_call *call, void **request, char *error, size_t size);
  int (*test)(void *world, void *request, int *done, char *error, size_t size);

  /* Small messages between ranks, in order; `receive` writes -1 into *from where there is none.
   * Both may be NULL: then no rank watches whether others live. */
  int (*send)(void *world, int to, const void *data, uint32_t bytes, char *error, size_t size);
  int (*receive)(void *world, int *from, void *data, uint32_t *bytes, char *error, size_t size);

  /* Ends all ranks. Between processes: shows the message and does not return. */
  void (*abort)(void *world, const char *message);
} dlc_engine_table;

/* NOLINTEND(readability-identifier-naming) */

/* What a plugin exports as dlc_<engine>_engine_table: NULL after a message in error where it cannot
 * work. */
typedef const dlc_engine_table *(*dlc_engine_table_function)(char *error, size_t size);

#ifdef __cplusplus
}
#endif
#endif /* DLC_ENGINE_H */
