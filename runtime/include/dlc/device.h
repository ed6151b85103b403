/*===- device.h - what a kind of device can do, as a table of C functions --------===
 *
 * A kind of device is a library libdlc_KIND.so that exports
 *
 *     const dlc_device_table *dlc_KIND_device_table(char *error, size_t size);
 *
 * and lies in a folder of $DLC_PLUGINS (a list with ':' between), or in lib/dlc of the installed
 * tree. Its devices are KIND:0, KIND:1 and so on: compiler, runtime and tools take these names
 * wherever they take cpu and cuda:0. KIND is of lower-case letters, digits and '_'.
 *
 * The table is C and holds no type of the C++ library: any compiler's code can fill one in. Every
 * function that can fail returns 0, or nonzero after it has written a message (NUL-terminated, cut
 * to fit) into error[size]; a message says what was required, what was found and how to mend it.
 * All functions may be called from any thread at any time. Streams, events, modules, functions,
 * graphs and library calls belong to the device that made them. A function may be NULL where it
 * belongs to a capability that the kind lacks.
 */
#ifndef DLC_DEVICE_H
#define DLC_DEVICE_H

#include "dlc/engine.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C's names, as in dlc.h. NOLINTBEGIN(readability-identifier-naming) */

#define DLC_DEVICE_TABLE_VERSION 3u

/* What a kind can do. */
enum {
  /* The host reads and writes the device's memory by its address. */
  DLC_DEVICE_HOST_MEMORY = 1 << 0,
  /* Its kernels are the processor's machine code, and so are the runtime's libraries: `run`. With
   * host memory, too, the runtime does that work itself and never calls `run`. */
  DLC_DEVICE_HOST_CODE = 1 << 1,
  /* Its kernels are made from CUDA C++ text: `module_load`, `launch`, `library_make`, ... */
  DLC_DEVICE_GPU_CODE = 1 << 2,
  /* Work in a stream can be kept and given again: `capture_begin`, ... */
  DLC_DEVICE_GRAPHS = 1 << 3,
  /* Pinned host memory makes copies faster: `allocate_pinned`, ... */
  DLC_DEVICE_PINNED = 1 << 4,
  /* Fresh memory is zero. */
  DLC_DEVICE_ZEROED = 1 << 5,
  /* Ranks of a world share what lies on their devices: `group_member`, ... Of a machine's devices
   * each rank has its own. */
  DLC_DEVICE_COLLECTIVES = 1 << 6
};

/* Of a common device of the kind, in round figures: placement ranks devices by them. */
typedef struct dlc_device_figures {
  double gigaflops, gigabytes;         /* a second, of work and of its own memory */
  double launch;                       /* microseconds of a kernel that does nothing */
  double host_gigabytes, host_latency; /* a second, and microseconds: between the host and it */
  double peer_gigabytes, peer_latency; /* between two of the kind */
} dlc_device_figures;

typedef struct dlc_device_properties {
  char name[256];
  uint64_t total_bytes, free_bytes;
  int32_t major, minor;    /* compute capability; 0.0 where kernels are no GPU's */
  int32_t multiprocessors; /* a CPU's cores */
} dlc_device_properties;

enum {
  DLC_COPY_HOST_TO_DEVICE = 0,
  DLC_COPY_DEVICE_TO_HOST = 1,
  DLC_COPY_WITHIN = 2,   /* from the device to itself */
  DLC_COPY_FROM_PEER = 3 /* from peer_device, of the same kind, into this one */
};

/* Work of the host's code on a device's memory: `addresses` are those under which it finds the
 * buffers that `run` was given. */
typedef int (*dlc_device_work)(void *context, void *const *addresses, char *error, size_t size);

/* What a rank brings into a group, each a text. */
typedef struct dlc_device_member {
  char device[96];  /* the same for two ranks of a machine that have one device */
  char carrier[96]; /* what carries collectives, with its version: all ranks must have the same */
} dlc_device_member;

/* The bytes that rank 0 of a group sends to the others. */
#define DLC_DEVICE_INVITATION 128u

typedef struct dlc_device_table {
  uint32_t version;      /* DLC_DEVICE_TABLE_VERSION */
  const char *kind;      /* as in the library's name */
  uint32_t capabilities; /* DLC_DEVICE_... */
  dlc_device_figures figures;

  /* How many devices there are, at least 0. Why there is none, or how to get more, is in error. */
  int (*count)(char *error, size_t size);
  int (*open)(int ordinal, void **device, char *error, size_t size);
  void (*close)(void *device);
  int (*properties)(void *device, dlc_device_properties *properties, char *error, size_t size);
  /* For people to read, lines of what was found where; may be NULL. */
  void (*report)(char *text, size_t size);

  /* Aligned to 256 at least; of 0 bytes a NULL is fine. An address inside of what was allocated
   * names the byte there, whether or not the host may follow it. */
  int (*allocate)(void *device, uint64_t bytes, void **address, char *error, size_t size);
  void (*release)(void *device, void *address);
  /* For tests: whether anybody may touch what was allocated at the address; may be NULL. */
  void (*protect)(void *device, void *address, int accessible);

  int (*stream_create)(void *device, void **stream, char *error, size_t size);
  void (*stream_destroy)(void *device, void *stream); /* waits for the stream's work */
  int (*stream_synchronize)(void *device, void *stream, char *error, size_t size);

  int (*event_create)(void *device, void **event, char *error, size_t size);
  void (*event_destroy)(void *device, void *event);
  int (*event_record)(void *device, void *event, void *stream, char *error, size_t size);
  /* The stream waits, the caller does not. The event may be another device's of the same kind. An
   * event that was never recorded has come to pass. */
  int (*event_wait)(void *device, void *stream, void *event, char *error, size_t size);
  int (*event_synchronize)(void *device, void *event, char *error, size_t size);
  int (*event_elapsed)(void *device, void *from, void *to, float *milliseconds, char *error,
                       size_t size);

  /* In the stream's order; the caller keeps both sides alive until the stream is through.
   * peer_device is NULL unless the direction is DLC_COPY_FROM_PEER. */
  int (*copy)(void *device, void *stream, void *to, const void *from, uint64_t bytes, int direction,
              void *peer_device, char *error, size_t size);
  int (*fill)(void *device, void *stream, void *to, uint8_t byte, uint64_t bytes, char *error,
              size_t size);

  /* DLC_DEVICE_HOST_CODE. In the stream's order, on any thread: work(context, addresses), where
   * addresses[i] is where the host finds what lies at buffers[i] on the device; a NULL stays one.
   * The list of buffers is the caller's again when this returns; `context` lives until the stream
   * is through. What `work` fails with is this function's, or the stream's next, error. */
  int (*run)(void *device, void *stream, dlc_device_work work, void *context, void *const *buffers,
             size_t count, char *error, size_t size);

  /* DLC_DEVICE_PINNED. Host memory that the device copies from and to without a detour. */
  int (*allocate_pinned)(void *device, uint64_t bytes, void **address, char *error, size_t size);
  void (*release_pinned)(void *device, void *address);

  /* DLC_DEVICE_GPU_CODE. */
  int (*module_load)(void *device, const void *image, uint64_t bytes, void **module, char *error,
                     size_t size);
  void (*module_unload)(void *device, void *module);
  int (*function)(void *device, void *module, const char *name, void **function, char *error,
                  size_t size);
  /* arguments: pointers to the values, as cuLaunchKernel takes them. */
  int (*launch)(void *device, void *stream, void *function, const uint32_t grid[3],
                const uint32_t block[3], uint32_t shared, void **arguments, char *error,
                size_t size);
  /* A call of a vendor's library by its name, described as the device's Desc.md says.
   * Checks that each buffer is large enough and writable where it must be; *workspace are the bytes
   * that each run wants. */
  int (*library_make)(void *device, const char *library, const char *desc_json,
                      const uint64_t *buffer_bytes, const uint8_t *writable, size_t count,
                      void **call, uint64_t *workspace, char *error, size_t size);
  int (*library_run)(void *device, void *stream, void *call, void *const *buffers, void *workspace,
                     char *error, size_t size);
  void (*library_destroy)(void *device, void *call);

  /* DLC_DEVICE_GRAPHS. What goes into the stream between begin and end is kept in the graph instead
   * of being run. */
  int (*capture_begin)(void *device, void *stream, char *error, size_t size);
  int (*capture_end)(void *device, void *stream, void **graph, char *error, size_t size);
  int (*graph_launch)(void *device, void *graph, void *stream, char *error, size_t size);
  void (*graph_destroy)(void *device, void *graph);

  /* DLC_DEVICE_COLLECTIVES. A group is all ranks of a world, each with a device of its own. All
   * start the same collectives in the same order. For one group these are called one at a time;
   * none waits for other ranks but `group_leave`. */
  int (*group_member)(void *device, dlc_device_member *member, char *error, size_t size);
  /* By rank 0, once for each group: what others need to find it. */
  int (*group_invite)(void *device, void *invitation, char *error, size_t size);
  int (*group_join)(void *device, const void *invitation, int rank, int ranks, void **group,
                    char *error, size_t size);
  /* In the stream's order. call->reduction may be DLC_REDUCE_MEAN, too; both sides are memory of
   * the device, and the group's until the stream is through. */
  int (*group_run)(void *device, void *group, void *stream, const dlc_engine_call *call,
                   char *error, size_t size);
  /* *busy: the group is not formed so far, or its last collective is not in the stream. Fails with
   * what went wrong since it was asked last, in a stream or in another rank. */
  int (*group_test)(void *device, void *group, int *busy, char *error, size_t size);
  /* Whoever waits in a stream for other ranks goes on, with whatever lies in its memory. After this
   * the group can do nothing but be left. */
  void (*group_abort)(void *device, void *group);
  /* When its streams are through; by all ranks, which wait for one another a few seconds. */
  void (*group_leave)(void *device, void *group);
} dlc_device_table;

/* NOLINTEND(readability-identifier-naming) */

/* What a plugin exports as dlc_<kind>_device_table: NULL after a message in error where it cannot
 * work. */
typedef const dlc_device_table *(*dlc_device_table_function)(char *error, size_t size);

#ifdef __cplusplus
}
#endif
#endif /* DLC_DEVICE_H */
