/*===- device.h - plugin interface of a device kind, as a table of C functions --===
 *
 * A device kind is implemented by a library libdlc_KIND.so that exports
 *
 *     const dlc_device_table *dlc_KIND_device_table(char *error, size_t size);
 *
 * and is installed in a folder of $DLC_PLUGINS (a list separated by ':') or in lib/dlc of the
 * installed tree. Its devices are named KIND:0, KIND:1 and so on. The compiler, the runtime and the
 * tools accept these names wherever they accept cpu and cuda:0. KIND consists of lower-case
 * letters, digits and '_'.
 *
 * The table is plain C and has no type of the C++ library, so that a plugin can be built with any
 * compiler. Every function that can fail returns 0 on success. On failure it returns nonzero after
 * it has written a message (NUL-terminated, truncated to fit) into error[size]. A message says what
 * was required, what was found and how to fix it. All functions may be called from any thread at
 * any time. Streams, events, modules, functions, graphs and library calls belong to the device that
 * created them. A function may be NULL if it belongs to a capability that the kind does not have.
 */
#ifndef DLC_DEVICE_H
#define DLC_DEVICE_H

#include "dlc/engine.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C naming conventions, as in dlc.h. NOLINTBEGIN(readability-identifier-naming) */

#define DLC_DEVICE_TABLE_VERSION 3u

/* Capabilities of a device kind. */
enum {
  /* The host can load from and store to device addresses directly. */
  DLC_DEVICE_HOST_MEMORY = 1 << 0,
  /* Kernels are machine code of the host's CPU, and library calls are those of the runtime; both
   * are executed by `run`. If the kind also has host memory, the runtime executes them itself
   * and never calls `run`. */
  DLC_DEVICE_HOST_CODE = 1 << 1,
  /* Kernels are compiled from CUDA C++ source: `module_load`, `launch`, `library_make`, ... */
  DLC_DEVICE_GPU_CODE = 1 << 2,
  /* Work on a stream can be captured into a graph and replayed: `capture_begin`, ... */
  DLC_DEVICE_GRAPHS = 1 << 3,
  /* Copies from and to pinned host memory are faster: `allocate_pinned`, ... */
  DLC_DEVICE_PINNED = 1 << 4,
  /* Newly allocated memory is zero-initialized. */
  DLC_DEVICE_ZEROED = 1 << 5,
  /* Ranks of a world run collectives on device memory: `group_member`, ... Each rank of a
   * machine needs a device of its own. */
  DLC_DEVICE_COLLECTIVES = 1 << 6
};

/* Approximate cost-model parameters of a typical device of the kind. The placement of operations
 * uses them to compare devices. */
typedef struct dlc_device_figures {
  double gigaflops, gigabytes;         /* GFLOP/s; GB/s of the device's memory */
  double launch;                       /* launch latency of an empty kernel, in microseconds */
  double host_gigabytes, host_latency; /* link to the host: GB/s, microseconds */
  double peer_gigabytes, peer_latency; /* link between two devices: GB/s, microseconds */
} dlc_device_figures;

typedef struct dlc_device_properties {
  char name[256];
  uint64_t total_bytes, free_bytes;
  int32_t major, minor;    /* compute capability; 0.0 if not a GPU */
  int32_t multiprocessors; /* number of multiprocessors of a GPU or cores of a CPU */
} dlc_device_properties;

enum {
  DLC_COPY_HOST_TO_DEVICE = 0,
  DLC_COPY_DEVICE_TO_HOST = 1,
  DLC_COPY_WITHIN = 2,   /* from the device to itself */
  DLC_COPY_FROM_PEER = 3 /* from peer_device, of the same kind, to this device */
};

/* Host code that works on device memory. `addresses` are the host addresses of the buffers that
 * were passed to `run`. */
typedef int (*dlc_device_work)(void *context, void *const *addresses, char *error, size_t size);

/* Identity that a rank sends to the other ranks to form a device group. Both fields are text. */
typedef struct dlc_device_member {
  char device[96];  /* device ID, equal for two ranks of a machine if they use the same device */
  char carrier[96]; /* name and version of the collective library; must be equal on all ranks */
} dlc_device_member;

/* Size in bytes of the rendezvous message that rank 0 of a group sends to the other ranks. */
#define DLC_DEVICE_INVITATION 128u

typedef struct dlc_device_table {
  uint32_t version;      /* DLC_DEVICE_TABLE_VERSION */
  const char *kind;      /* KIND of the library's name */
  uint32_t capabilities; /* bit mask of DLC_DEVICE_... */
  dlc_device_figures figures;

  /* Returns the number of devices of the kind, at least 0. If there are none, `error` is set to the
   * reason and optionally to a hint. */
  int (*count)(char *error, size_t size);
  int (*open)(int ordinal, void **device, char *error, size_t size);
  void (*close)(void *device);
  int (*properties)(void *device, dlc_device_properties *properties, char *error, size_t size);
  /* Writes a human-readable report of the libraries that were found and their paths; may be
   * NULL. */
  void (*report)(char *text, size_t size);

  /* Allocates memory aligned to at least 256 bytes; for 0 bytes the address may be NULL. Address
   * arithmetic within the allocation must be valid, even if the host cannot dereference the
   * addresses. */
  int (*allocate)(void *device, uint64_t bytes, void **address, char *error, size_t size);
  void (*release)(void *device, void *address);
  /* For tests: makes the allocation at the address accessible or inaccessible; may be NULL. */
  void (*protect)(void *device, void *address, int accessible);

  int (*stream_create)(void *device, void **stream, char *error, size_t size);
  void (*stream_destroy)(void *device, void *stream); /* waits for the stream's work */
  int (*stream_synchronize)(void *device, void *stream, char *error, size_t size);

  int (*event_create)(void *device, void **event, char *error, size_t size);
  void (*event_destroy)(void *device, void *event);
  int (*event_record)(void *device, void *event, void *stream, char *error, size_t size);
  /* Makes the stream wait for the event; the caller does not block. The event may belong to another
   * device of the same kind. A stream does not wait for an event that was never recorded. */
  int (*event_wait)(void *device, void *stream, void *event, char *error, size_t size);
  int (*event_synchronize)(void *device, void *event, char *error, size_t size);
  int (*event_elapsed)(void *device, void *from, void *to, float *milliseconds, char *error,
                       size_t size);

  /* Copies bytes asynchronously, in stream order. The caller keeps source and destination alive
   * until the stream has completed the copy. peer_device is NULL unless the direction is
   * DLC_COPY_FROM_PEER. */
  int (*copy)(void *device, void *stream, void *to, const void *from, uint64_t bytes, int direction,
              void *peer_device, char *error, size_t size);
  int (*fill)(void *device, void *stream, void *to, uint8_t byte, uint64_t bytes, char *error,
              size_t size);

  /* DLC_DEVICE_HOST_CODE. Calls work(context, addresses) in stream order, on any thread.
   * addresses[i] is the host address of the data of buffers[i]; NULL stays NULL. The caller may
   * reuse the array `buffers` when this function returns, but must keep `context` alive until
   * the stream has completed. An error of `work` is reported by this function or by the next
   * call on the stream. */
  int (*run)(void *device, void *stream, dlc_device_work work, void *context, void *const *buffers,
             size_t count, char *error, size_t size);

  /* DLC_DEVICE_PINNED. Allocates pinned host memory, which the device reads and writes without a
   * staging copy. */
  int (*allocate_pinned)(void *device, uint64_t bytes, void **address, char *error, size_t size);
  void (*release_pinned)(void *device, void *address);

  /* DLC_DEVICE_GPU_CODE. Loads a module of compiled kernels from its image. */
  int (*module_load)(void *device, const void *image, uint64_t bytes, void **module, char *error,
                     size_t size);
  void (*module_unload)(void *device, void *module);
  int (*function)(void *device, void *module, const char *name, void **function, char *error,
                  size_t size);
  /* arguments: pointers to the argument values, as in cuLaunchKernel. */
  int (*launch)(void *device, void *stream, void *function, const uint32_t grid[3],
                const uint32_t block[3], uint32_t shared, void **arguments, char *error,
                size_t size);
  /* Prepares a call of a vendor library, given by its name. The format of desc_json is
   * documented in the device's Desc.md. Checks that each buffer is large enough, and writable if
   * required. Sets *workspace to the workspace size in bytes of each run. */
  int (*library_make)(void *device, const char *library, const char *desc_json,
                      const uint64_t *buffer_bytes, const uint8_t *writable, size_t count,
                      void **call, uint64_t *workspace, char *error, size_t size);
  int (*library_run)(void *device, void *stream, void *call, void *const *buffers, void *workspace,
                     char *error, size_t size);
  void (*library_destroy)(void *device, void *call);

  /* DLC_DEVICE_GRAPHS. Work submitted to the stream between begin and end is recorded into the
   * graph instead of being executed. */
  int (*capture_begin)(void *device, void *stream, char *error, size_t size);
  int (*capture_end)(void *device, void *stream, void **graph, char *error, size_t size);
  int (*graph_launch)(void *device, void *graph, void *stream, char *error, size_t size);
  void (*graph_destroy)(void *device, void *graph);

  /* DLC_DEVICE_COLLECTIVES. A group consists of all ranks of a world, each with its own device.
   * All ranks start the same collectives in the same order. The runtime does not call these
   * functions concurrently for one group. Only `group_leave` may block on other ranks. */
  int (*group_member)(void *device, dlc_device_member *member, char *error, size_t size);
  /* Called by rank 0 once for each group: writes the rendezvous message that the other ranks pass
   * to group_join. */
  int (*group_invite)(void *device, void *invitation, char *error, size_t size);
  int (*group_join)(void *device, const void *invitation, int rank, int ranks, void **group,
                    char *error, size_t size);
  /* Executes a collective asynchronously, in stream order. call->reduction may also be
   * DLC_REDUCE_MEAN. Source and destination are device memory, which must not be changed until the
   * stream has completed the collective. */
  int (*group_run)(void *device, void *group, void *stream, const dlc_engine_call *call,
                   char *error, size_t size);
  /* Sets *busy to nonzero while the group is not yet formed or its last collective is not yet in
   * the stream. Fails with any error that occurred since the previous call, in a stream or in
   * another rank. */
  int (*group_test)(void *device, void *group, int *busy, char *error, size_t size);
  /* Aborts the group: unblocks all work that waits in a stream for other ranks; the results of this
   * work are undefined. After this call the group can only be left. */
  void (*group_abort)(void *device, void *group);
  /* Leaves and frees the group. Called by all ranks after their streams have completed. The ranks
   * wait for each other for a few seconds. */
  void (*group_leave)(void *device, void *group);
} dlc_device_table;

/* NOLINTEND(readability-identifier-naming) */

/* Type of the exported function dlc_<kind>_device_table. Returns NULL and writes a message into
 * error if the plugin cannot be used. */
typedef const dlc_device_table *(*dlc_device_table_function)(char *error, size_t size);

#ifdef __cplusplus
}
#endif
#endif /* DLC_DEVICE_H */
