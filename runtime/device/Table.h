/*===- Table.h - what every device can do, as a table of C functions -----------===
 *
 * One table per kind of device. It is C and holds no type of the C++ library: a plugin built by
 * another compiler fills one in. Every function that can fail returns 0, or nonzero after it has
 * written a message (NUL-terminated, cut to fit) into error[size]; a message says what was
 * required, what was found and how to mend it. All functions may be called from any thread at any
 * time. Streams, events, modules, functions, graphs and library calls belong to the device that
 * made them.
 */
#ifndef DLC_RUNTIME_DEVICE_TABLE_H
#define DLC_RUNTIME_DEVICE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C's names, as in dlc.h. NOLINTBEGIN(readability-identifier-naming) */

#define DLC_DEVICE_TABLE_VERSION 1u

typedef struct dlc_device_properties {
  char name[256];
  uint64_t total_bytes, free_bytes;
  int32_t major, minor;    /* compute capability; 0.0 for a CPU */
  int32_t multiprocessors; /* a CPU's cores */
  int32_t pinned;          /* whether pinned host memory makes copies faster here */
  int32_t unified; /* whether the host may read and write the device's memory by its address */
} dlc_device_properties;

enum {
  DLC_COPY_HOST_TO_DEVICE = 0,
  DLC_COPY_DEVICE_TO_HOST = 1,
  DLC_COPY_WITHIN = 2,   /* from the device to itself */
  DLC_COPY_FROM_PEER = 3 /* from peer_device, of the same kind, into this one */
};

typedef struct dlc_device_table {
  uint32_t version; /* DLC_DEVICE_TABLE_VERSION */
  const char *kind; /* "cpu", "cuda" */

  /* How many devices there are: at least 0. Where there is none the reason is in error. */
  int (*count)(char *error, size_t size);
  int (*open)(int ordinal, void **device, char *error, size_t size);
  void (*close)(void *device);
  int (*properties)(void *device, dlc_device_properties *properties, char *error, size_t size);

  /* Aligned to 256 at least; of 0 bytes a NULL is fine. */
  int (*allocate)(void *device, uint64_t bytes, void **address, char *error, size_t size);
  void (*release)(void *device, void *address);
  /* Host memory that the device copies from and to without a detour. */
  int (*allocate_pinned)(void *device, uint64_t bytes, void **address, char *error, size_t size);
  void (*release_pinned)(void *device, void *address);

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

  int (*module_load)(void *device, const void *image, uint64_t bytes, void **module, char *error,
                     size_t size);
  void (*module_unload)(void *device, void *module);
  int (*function)(void *device, void *module, const char *name, void **function, char *error,
                  size_t size);
  /* arguments: pointers to the values, as cuLaunchKernel takes them. */
  int (*launch)(void *device, void *stream, void *function, const uint32_t grid[3],
                const uint32_t block[3], uint32_t shared, void **arguments, char *error,
                size_t size);

  /* What goes into the stream between begin and end is kept in the graph instead of being run. */
  int (*capture_begin)(void *device, void *stream, char *error, size_t size);
  int (*capture_end)(void *device, void *stream, void **graph, char *error, size_t size);
  int (*graph_launch)(void *device, void *graph, void *stream, char *error, size_t size);
  void (*graph_destroy)(void *device, void *graph);

  /* A call of a vendor's library by its name, described as the device's Desc.md says.
   * Checks that each buffer is large enough and writable where it must be; *workspace are the bytes
   * that each run wants. */
  int (*library_make)(void *device, const char *library, const char *desc_json,
                      const uint64_t *buffer_bytes, const uint8_t *writable, size_t count,
                      void **call, uint64_t *workspace, char *error, size_t size);
  int (*library_run)(void *device, void *stream, void *call, void *const *buffers, void *workspace,
                     char *error, size_t size);
  void (*library_destroy)(void *device, void *call);
} dlc_device_table;

/* NOLINTEND(readability-identifier-naming) */

/* What a plugin exports as dlc_<kind>_device_table: NULL after a message in error where it cannot
 * work. */
typedef const dlc_device_table *(*dlc_device_table_function)(char *error, size_t size);

#ifdef __cplusplus
}
#endif
#endif /* DLC_RUNTIME_DEVICE_TABLE_H */
