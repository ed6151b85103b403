/*===- dlc.h - C interface of the runtime: load a program and run it ------------===
 *
 * Every function that can fail returns a dlc_error *, with NULL for success; the caller frees an
 * error with dlc_error_free. Tensors are those of DLPack. 4-bit integers are packed two to a byte,
 * the first in the low half, and each row (the last dimension) starts at a byte boundary. A session
 * may be used by several threads, which serializes its runs; different sessions run concurrently.
 */
#ifndef DLC_DLC_H
#define DLC_DLC_H

#include "dlc/dlpack.h"
#include "dlc/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DLC_C_EXPORT __attribute__((visibility("default")))

typedef struct dlc_error dlc_error;
typedef struct dlc_program dlc_program;
typedef struct dlc_session dlc_session;

/* Description of an input, output or state. The pointers are valid as long as the program. */
typedef struct {
  const char *name;
  DLDataType dtype;
  int32_t ndim;
  const int64_t *shape;
  uint64_t bytes;
} dlc_tensor_info;

typedef struct {
  int threads; /* number of threads; 0: as compiled into the program, at most the CPU count */
  /* Session whose state is shared, or NULL. For each state name that both programs have, both
   * sessions use the same memory, which is freed with the last session that uses it. Types and
   * shapes must match. Runs of sessions that share state are serialized. */
  const dlc_session *share_state;
} dlc_session_options;

typedef struct {
  uint64_t arena_bytes;    /* memory for intermediate values */
  uint64_t scratch_bytes;  /* working memory of kernels and libraries */
  uint64_t constant_bytes; /* memory-mapped, shared between sessions */
  uint64_t code_bytes;
  uint64_t state_bytes; /* persistent state, without the states borrowed from another session */
} dlc_memory_figures;

DLC_C_EXPORT const char *dlc_version(void);

DLC_C_EXPORT const char *dlc_error_message(const dlc_error *error);
DLC_C_EXPORT void dlc_error_free(dlc_error *error);

/* Loads a program file. The file is memory-mapped: pages of constants and code are read at their
 * first use. */
DLC_C_EXPORT dlc_error *dlc_program_load(const char *path, dlc_program **program);
/* Loads a program from the bytes of a program file in memory, which are copied. */
DLC_C_EXPORT dlc_error *dlc_program_load_memory(const void *data, size_t size,
                                                dlc_program **program);
/* Destroys a program. Its sessions keep the parts that they need, so a program may be destroyed
 * before its sessions. */
DLC_C_EXPORT void dlc_program_destroy(dlc_program *program);

DLC_C_EXPORT size_t dlc_program_input_count(const dlc_program *program);
DLC_C_EXPORT size_t dlc_program_output_count(const dlc_program *program);
DLC_C_EXPORT dlc_error *dlc_program_input(const dlc_program *program, size_t index,
                                          dlc_tensor_info *info);
DLC_C_EXPORT dlc_error *dlc_program_output(const dlc_program *program, size_t index,
                                           dlc_tensor_info *info);

/* Reports whether an output has a data-dependent size, such as the number of boxes in an image. The
 * shape of such an output has the upper bound of the size, and its memory must be large enough for
 * this bound. After a run, the output with index *counter, an i64 scalar, holds the actual size of
 * dimension *dimension. The data is stored at the beginning of the memory as a compact tensor of
 * the actual size. Counters are the last outputs of a program. Returns 0 if the output's shape is
 * static. */
DLC_C_EXPORT int dlc_program_output_counter(const dlc_program *program, size_t index,
                                            int32_t *dimension, size_t *counter);

/* States are tensors that persist in a session between runs: parameters, running statistics,
 * moments of an optimizer. A run reads and updates them; they are neither inputs nor outputs. */
DLC_C_EXPORT size_t dlc_program_state_count(const dlc_program *program);
DLC_C_EXPORT dlc_error *dlc_program_state(const dlc_program *program, size_t index,
                                          dlc_tensor_info *info);
/* Returns 1 if the state is a trainable parameter, which receives gradients. Returns 0 otherwise,
 * also if there is no state with this index. */
DLC_C_EXPORT int dlc_program_state_is_parameter(const dlc_program *program, size_t index);

/* Creates a session, which has the memory to run the program. `options` may be NULL for the
 * defaults. */
DLC_C_EXPORT dlc_error *dlc_session_create(const dlc_program *program,
                                           const dlc_session_options *options,
                                           dlc_session **session);
DLC_C_EXPORT void dlc_session_destroy(dlc_session *session);
/* Replaces the session's program for all runs that start after this call. The new program must
 * be the same model compiled differently (for example with tuned kernels): inputs, outputs and
 * states must have the same names, types and shapes in the same order. The state is kept. A run
 * in progress in another thread completes with the old program. On error the session is
 * unchanged. */
DLC_C_EXPORT dlc_error *dlc_session_replace(dlc_session *session, const dlc_program *program);
DLC_C_EXPORT const dlc_program *dlc_session_program(const dlc_session *session);
DLC_C_EXPORT void dlc_session_memory(const dlc_session *session, dlc_memory_figures *figures);

/* Runs the program on tensors in the order of its inputs and outputs. An input with strides is
 * first copied to a compact tensor. Outputs must be compact. */
DLC_C_EXPORT dlc_error *dlc_session_run(dlc_session *session, const DLTensor *inputs,
                                        size_t input_count, const DLTensor *outputs,
                                        size_t output_count);
/* Runs the program as dlc_session_run does, but allocates the outputs, with their run-time sizes.
 * The caller frees outputs[i] by calling its deleter. */
DLC_C_EXPORT dlc_error *dlc_session_run_alloc(dlc_session *session, const DLTensor *inputs,
                                              size_t input_count, DLManagedTensor **outputs,
                                              size_t output_count);

/* get_state copies the state with this name to `value`; set_state copies `value` to the state. A
 * run that fails before its first state update leaves the state unchanged. If a run fails later
 * (the message says so), some states are updated and others are not. Then all runs and saves of
 * every session that uses this memory fail until reset_state, or load_state without
 * DLC_STATE_ALLOW_MISSING, has set all states again. get_state works even then. */
DLC_C_EXPORT dlc_error *dlc_session_get_state(const dlc_session *session, const char *name,
                                              const DLTensor *value);
DLC_C_EXPORT dlc_error *dlc_session_set_state(dlc_session *session, const char *name,
                                              const DLTensor *value);
/* Resets all states to their initial values. */
DLC_C_EXPORT dlc_error *dlc_session_reset_state(dlc_session *session);

/* Saves all states as a checkpoint: a safetensors file with one tensor per state. Saving writes a
 * temporary file and renames it: after a crash, `path` is either the complete old file or the
 * complete new file. */
DLC_C_EXPORT dlc_error *dlc_session_save_state(const dlc_session *session, const char *path);
/* Flags of dlc_session_load_state. DLC_STATE_ALLOW_MISSING: states that the file does not contain
 * keep their values. DLC_STATE_ALLOW_EXTRA: tensors of the file that are not states are ignored.
 * Without these flags, both cases are errors. A wrong type or shape is always an error. On error no
 * state is changed. */
#define DLC_STATE_ALLOW_MISSING 1u
#define DLC_STATE_ALLOW_EXTRA 2u
DLC_C_EXPORT dlc_error *dlc_session_load_state(dlc_session *session, const char *path,
                                               unsigned flags);

/* Devices are identified as in DLPack: {kDLCPU, 0} is cpu, {kDLCUDA, 1} is cuda:1. kDLExtDev is
 * used for virtual CPU devices with their own memory ({kDLExtDev, 1} is cpu:1) and for the
 * devices of plugins (device.h). IDs of plugin devices are valid within this process only:
 * dlc_device_parse returns them. {kDLCUDAHost, 0} is pinned host memory, which cuda:0 copies
 * from and to without staging (ordinary host memory if there is no such device). */
typedef struct {
  char name[256];
  uint64_t total_bytes, free_bytes;
  int32_t major, minor;    /* compute capability; 0.0 for a CPU */
  int32_t multiprocessors; /* number of multiprocessors of a GPU or cores of a CPU */
} dlc_device_info;

/* Parses a device name: "cpu", "cpu:1", "cuda:0". The device need not exist, but its kind must. */
DLC_C_EXPORT dlc_error *dlc_device_parse(const char *name, DLDevice *device);
/* Writes the name of the device: NUL-terminated, at most 64 bytes. */
DLC_C_EXPORT dlc_error *dlc_device_name(DLDevice device, char *name, size_t size);
/* Returns the number of devices of a kind ("cpu", "cuda" or the kind of a plugin). */
DLC_C_EXPORT int dlc_device_count(const char *kind);
DLC_C_EXPORT dlc_error *dlc_device_describe(DLDevice device, dlc_device_info *info);
/* Allocates memory on the device, aligned to 64 bytes. It must be freed on the same device. */
DLC_C_EXPORT dlc_error *dlc_memory_allocate(DLDevice device, uint64_t bytes, void **address);
DLC_C_EXPORT void dlc_memory_free(DLDevice device, void *address);
/* Copies a tensor synchronously between any devices, with conversion between any element types.
 * Both tensors must be compact and have the same shape. */
DLC_C_EXPORT dlc_error *dlc_tensor_copy(const DLTensor *to, const DLTensor *from);

/* Starts an asynchronous copy between two tensors. If their element types differ, the copy is done
 * synchronously. The memory of both tensors must stay allocated and unmodified until dlc_copy_end.
 * dlc_copy_end waits for the copy, frees `copy` (NULL is allowed) and returns the error if the copy
 * failed. */
typedef struct dlc_copy dlc_copy;
DLC_C_EXPORT dlc_error *dlc_tensor_copy_begin(const DLTensor *to, const DLTensor *from,
                                              dlc_copy **copy);
DLC_C_EXPORT dlc_error *dlc_copy_end(dlc_copy *copy);

/* Returns this process's rank and the number of ranks of the world: the processes that a launcher
 * (mpirun, srun) started to run one program together, or this process alone. The world is formed
 * once, at the first call, by all of its processes together. This may bind the calling thread, and
 * the threads that it creates later, to a subset of the machine's CPUs. */
DLC_C_EXPORT dlc_error *dlc_world(dlc_engine_place *place);
/* Forms the world of processes with the caller's engine instead of a launcher's. It is an error if
 * the world is already formed. `argument`, which is passed to the engine's `open`, must be valid
 * until this function returns; the table must be valid as long as the process. */
DLC_C_EXPORT dlc_error *dlc_world_form(const dlc_engine_table *engine, const void *argument,
                                       dlc_engine_place *place);
/* Aborts the world: prints the message once, with this process's rank, and terminates all processes
 * of the world. In a world of a single process it returns the message as an error instead. */
DLC_C_EXPORT dlc_error *dlc_world_abort(const char *message);
/* Prepares a session to run in the world. All processes must call this function together, before
 * the first run of a program that has collectives. It fails in all processes if they have different
 * programs. The state of rank 0 is broadcast to all ranks, except states that are sharded over the
 * ranks. */
DLC_C_EXPORT dlc_error *dlc_session_join_world(dlc_session *session);

/* Enables or disables tracing, which records the start and end time of each command. */
DLC_C_EXPORT void dlc_session_set_trace(dlc_session *session, int enabled);
/* Writes the recorded command times as a Chrome trace (JSON; chrome://tracing, ui.perfetto.dev) and
 * discards them. */
DLC_C_EXPORT dlc_error *dlc_session_write_trace(dlc_session *session, const char *path);

#ifdef __cplusplus
}
#endif
#endif /* DLC_DLC_H */
