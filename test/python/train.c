/* train.c - runs a saved training step without Python: train STEP.dlcx STEPS INPUT...
 * Each INPUT is a file with the input's bytes for one or more steps, in the order of the program's
 * inputs. At the end of a file the steps start from its beginning again. Prints the first output of
 * each step, which is the loss. */
#include <dlc/dlc.h>
#include <stdio.h>
#include <stdlib.h>

static void check(dlc_error *error) {
  if (error) {
    fprintf(stderr, "%s\n", dlc_error_message(error));
    exit(1);
  }
}

/* Reads the input of the next step. At the end of the file, starts from its beginning again. */
static void next(FILE *file, const char *path, void *data, size_t bytes) {
  for (int again = 0; again < 2; ++again) {
    if (file && fread(data, 1, bytes, file) == bytes)
      return;
    if (file)
      rewind(file);
  }
  fprintf(stderr, "%s: required: %zu bytes for each step\n", path, bytes);
  exit(1);
}

int main(int argc, char **argv) {
  dlc_program *program;
  dlc_session *session;
  check(dlc_program_load(argv[1], &program));
  check(dlc_session_create(program, NULL, &session));
  size_t inputs = dlc_program_input_count(program);
  if (inputs != (size_t)argc - 3) {
    fprintf(stderr, "required: %zu inputs\n", inputs);
    return 1;
  }
  DLTensor *in = calloc(inputs, sizeof *in);
  FILE **files = calloc(inputs, sizeof *files);
  dlc_tensor_info *infos = calloc(inputs, sizeof *infos);
  for (size_t i = 0; i < inputs; ++i) {
    dlc_tensor_info *info = &infos[i];
    check(dlc_program_input(program, i, info));
    files[i] = fopen(argv[3 + i], "rb");
    in[i] = (DLTensor){malloc(info->bytes),    {kDLCPU, 0}, info->ndim, info->dtype,
                       (int64_t *)info->shape, NULL,        0};
  }
  for (int step = atoi(argv[2]); step > 0; --step) {
    DLManagedTensor *loss;
    for (size_t i = 0; i < inputs; ++i)
      next(files[i], argv[3 + i], in[i].data, infos[i].bytes);
    check(dlc_session_run_alloc(session, in, inputs, &loss, 1));
    printf("%.9g\n", *(float *)loss->dl_tensor.data);
    loss->deleter(loss);
  }
  dlc_session_destroy(session);
  dlc_program_destroy(program);
  return 0;
}
