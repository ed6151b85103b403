/*===- dlc.h - the C interface of the runtime: load a program and run it ------===
 *
 * Every function that can fail returns a dlc_error *, NULL meaning success; the caller frees an
 * error with dlc_error_free. Tensors are DLPack's; integers of 4 bits are packed, two in a byte,
 * the first in the low half, and each row (the last dimension) begins at a byte. A session may be
 * used by several threads (its runs are then serialised); several sessions run at once.
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

/* What an input, output or state is. The pointers live as long as the program. */
typedef struct {
  const char *name;
  DLDataType dtype;
  int32_t ndim;
  const int64_t *shape;
  uint64_t bytes;
} dlc_tensor_info;

typedef struct {
  int threads; /* 0: as many as the program was compiled for, at most the machine's */
  /* NULL, or a session whose state this one uses where both programs have a state of the same name:
   * one memory, kept until the last session that uses it is destroyed. Type and shape must agree.
   * Runs of sessions that share state take turns. */
  const dlc_session *share_state;
} dlc_session_options;

typedef struct {
  uint64_t arena_bytes;    /* the intermediate values */
  uint64_t scratch_bytes;  /* kernels' and libraries' working memory */
  uint64_t constant_bytes; /* mapped, shared between sessions */
  uint64_t code_bytes;
  uint64_t state_bytes; /* what lives from run to run, without what another session lends */
} dlc_memory_figures;

DLC_C_EXPORT const char *dlc_version(void);

DLC_C_EXPORT const char *dlc_error_message(const dlc_error *error);
DLC_C_EXPORT void dlc_error_free(dlc_error *error);

/* Maps the file: constants and code are not read until they are used. */
DLC_C_EXPORT dlc_error *dlc_program_load(const char *path, dlc_program **program);
/* The same from bytes, which are copied. */
DLC_C_EXPORT dlc_error *dlc_program_load_memory(const void *data, size_t size,
                                                dlc_program **program);
/* Sessions keep what they need: a program may be destroyed before them. */
DLC_C_EXPORT void dlc_program_destroy(dlc_program *program);

DLC_C_EXPORT size_t dlc_program_input_count(const dlc_program *program);
DLC_C_EXPORT size_t dlc_program_output_count(const dlc_program *program);
DLC_C_EXPORT dlc_error *dlc_program_input(const dlc_program *program, size_t index,
                                          dlc_tensor_info *info);
DLC_C_EXPORT dlc_error *dlc_program_output(const dlc_program *program, size_t index,
                                           dlc_tensor_info *info);

/* Of some outputs only the run finds a size, as of the boxes in an image. Their shape tells the
 * most that there may be, for which memory must suffice. After a run the output `counter`, an i64
 * number, says how many there are along `dimension`; these stand at the beginning of the memory, as
 * a compact tensor of that size. Counters are the last outputs. Returns 0 where the shape is what
 * it is. */
DLC_C_EXPORT int dlc_program_output_counter(const dlc_program *program, size_t index,
                                            int32_t *dimension, size_t *counter);

/* State is what lives in a session from run to run: parameters, running statistics, an optimiser's
 * memory. A run reads and replaces it; it is neither input nor output. */
DLC_C_EXPORT size_t dlc_program_state_count(const dlc_program *program);
DLC_C_EXPORT dlc_error *dlc_program_state(const dlc_program *program, size_t index,
                                          dlc_tensor_info *info);
/* Whether gradients go to it (0 too where there is no such state). */
DLC_C_EXPORT int dlc_program_state_is_parameter(const dlc_program *program, size_t index);

/* options may be NULL. */
DLC_C_EXPORT dlc_error *dlc_session_create(const dlc_program *program,
                                           const dlc_session_options *options,
                                           dlc_session **session);
DLC_C_EXPORT void dlc_session_destroy(dlc_session *session);
/* Runs that begin after this use the other program: the same model compiled otherwise (tuned
 * kernels, say), with inputs, outputs and states of the same names, types and shapes in the same
 * order. The state goes over; a run that is under way in another thread ends as it began. On error
 * the session stays as it is. */
DLC_C_EXPORT dlc_error *dlc_session_replace(dlc_session *session, const dlc_program *program);
DLC_C_EXPORT const dlc_program *dlc_session_program(const dlc_session *session);
DLC_C_EXPORT void dlc_session_memory(const dlc_session *session, dlc_memory_figures *figures);

/* Runs on tensors in the order of the program's inputs and outputs. An input with strides is copied
 * to a compact one first; an output must be compact. */
DLC_C_EXPORT dlc_error *dlc_session_run(dlc_session *session, const DLTensor *inputs,
                                        size_t input_count, const DLTensor *outputs,
                                        size_t output_count);
/* The same, but makes the outputs, with the sizes that the run finds: outputs[i] is freed by its
 * own deleter. */
DLC_C_EXPORT dlc_error *dlc_session_run_alloc(dlc_session *session, const DLTensor *inputs,
                                              size_t input_count, DLManagedTensor **outputs,
                                              size_t output_count);

/* State by name, copied. A run that fails before its first update leaves state as it was. One that
 * fails later (the message says so) leaves some states updated and others not: from then on every
 * run and save of a session that uses this memory is refused until load_state without
 * DLC_STATE_ALLOW_MISSING, or reset_state, has given all of it a value again. get_state works even
 * then. */
DLC_C_EXPORT dlc_error *dlc_session_get_state(const dlc_session *session, const char *name,
                                              const DLTensor *value);
DLC_C_EXPORT dlc_error *dlc_session_set_state(dlc_session *session, const char *name,
                                              const DLTensor *value);
/* Back to the values that the program begins with. */
DLC_C_EXPORT dlc_error *dlc_session_reset_state(dlc_session *session);

/* Checkpoints are safetensors files with a tensor for each state. Saving writes a new file and then
 * renames it: whatever dies meanwhile, `path` is the old file or the whole new one. */
DLC_C_EXPORT dlc_error *dlc_session_save_state(const dlc_session *session, const char *path);
/* What a file lacks stays as it is; what it has too much is passed over. Without these both are
 * errors. A wrong type or shape always is one. After an error nothing has been loaded. */
#define DLC_STATE_ALLOW_MISSING 1u
#define DLC_STATE_ALLOW_EXTRA 2u
DLC_C_EXPORT dlc_error *dlc_session_load_state(dlc_session *session, const char *path,
                                               unsigned flags);

/* Devices are DLPack's: {kDLCPU, 0} is cpu, {kDLCUDA, 1} is cuda:1. Extensions, with kDLExtDev, are
 * virtual devices on the CPU with memory of their own ({kDLExtDev, 1} is cpu:1) and the devices of
 * plugins (device.h), whose numbers hold for this process: dlc_device_parse gives them.
 * {kDLCUDAHost, 0} is host memory that cuda:0 copies from and to without a detour (ordinary memory
 * where there is no such device). */
typedef struct {
  char name[256];
  uint64_t total_bytes, free_bytes;
  int32_t major, minor;    /* compute capability; 0.0 for a CPU */
  int32_t multiprocessors; /* a CPU's cores */
} dlc_device_info;

/* "cpu", "cpu:1", "cuda:0". The device need not be there, its kind must. */
DLC_C_EXPORT dlc_error *dlc_device_parse(const char *name, DLDevice *device);
/* The other way round: NUL-terminated, of at most 64 bytes. */
DLC_C_EXPORT dlc_error *dlc_device_name(DLDevice device, char *name, size_t size);
/* How many there are of a kind ("cpu", "cuda", a plugin's). */
DLC_C_EXPORT int dlc_device_count(const char *kind);
DLC_C_EXPORT dlc_error *dlc_device_describe(DLDevice device, dlc_device_info *info);
/* Aligned to 64; freed on the same device. */
DLC_C_EXPORT dlc_error *dlc_memory_allocate(DLDevice device, uint64_t bytes, void **address);
DLC_C_EXPORT void dlc_memory_free(DLDevice device, void *address);
/* Between any devices and element types, shapes being equal and both compact. Done when it returns.
 */
DLC_C_EXPORT dlc_error *dlc_tensor_copy(const DLTensor *to, const DLTensor *from);

/* The same, but what needs no conversion may go on after this returns, beside other work. Both
 * tensors' memory must stay, and be left alone, until dlc_copy_end has waited for the copy: that
 * frees `copy` (NULL is fine) and says whether it failed. */
typedef struct dlc_copy dlc_copy;
DLC_C_EXPORT dlc_error *dlc_tensor_copy_begin(const DLTensor *to, const DLTensor *from,
                                              dlc_copy **copy);
DLC_C_EXPORT dlc_error *dlc_copy_end(dlc_copy *copy);

/* The processes that run one program together: those that a launcher started (mpirun, srun), or
 * this one alone. Formed when first asked for, by all of them together, and once: it may bind the
 * calling thread, and those that this starts from then on, to a share of the machine's processors.
 */
DLC_C_EXPORT dlc_error *dlc_world(dlc_engine_place *place);
/* The same, formed now by the caller's engine and by no launcher's. An error where it is formed
 * already. `argument`, for the engine's `open`, must live until this returns; the table as long as
 * the process. */
DLC_C_EXPORT dlc_error *dlc_world_form(const dlc_engine_table *engine, const void *argument,
                                       dlc_engine_place *place);
/* Shows the message once, with this process's rank, and ends all of them. Returns in a world of one
 * alone, with the message as the error. */
DLC_C_EXPORT dlc_error *dlc_world_abort(const char *message);
/* All processes call it together, before the first run of a program that has collectives. An error
 * in all of them where they have different programs. The first one's state becomes everybody's, but
 * for what each has a part of. */
DLC_C_EXPORT dlc_error *dlc_session_join_world(dlc_session *session);

/* From now on (or no longer) each command's time is kept. */
DLC_C_EXPORT void dlc_session_set_trace(dlc_session *session, int enabled);
/* Writes what was kept as Chrome trace JSON (chrome://tracing, ui.perfetto.dev) and forgets it. */
DLC_C_EXPORT dlc_error *dlc_session_write_trace(dlc_session *session, const char *path);

#ifdef __cplusplus
}
#endif
#endif /* DLC_DLC_H */
