/*
 * A plug-in in C: the operation audio.gain, y = factor * x, for float32 and float64 arrays on the CPU, and a validator that refuses
 * arrays of different lengths before a kernel is chosen.
 */
#include <harrier/plugin.h>

static hr_status same_lengths(const hr_invocation *call, void *user_data) {
  (void)user_data;
  if (hr_element_count(hr_operand(call, 0)) != hr_element_count(hr_operand(call, 2)))
    return hr_fail(call->error, HR_INVALID_ARGUMENT, "x and y differ in length");
  return HR_OK;
}

static hr_status gain_f32(const hr_invocation *call, void *user_data) {
  const float *x = (const float *)hr_operand(call, 0)->data;
  const float factor = *(const float *)hr_operand(call, 1)->data;
  float *y = (float *)hr_operand(call, 2)->data;
  const int64_t count = hr_element_count(hr_operand(call, 0));
  (void)user_data;
  for (int64_t i = 0; i < count; i++) y[i] = factor * x[i];
  return HR_OK;
}

static hr_status gain_f64(const hr_invocation *call, void *user_data) {
  const double *x = (const double *)hr_operand(call, 0)->data;
  const double factor = *(const double *)hr_operand(call, 1)->data;
  double *y = (double *)hr_operand(call, 2)->data;
  const int64_t count = hr_element_count(hr_operand(call, 0));
  (void)user_data;
  for (int64_t i = 0; i < count; i++) y[i] = factor * x[i];
  return HR_OK;
}

#define OPERAND(role, kind, access) {sizeof(hr_operand_spec), role, kind, access}

/* A host array without holes, computed in the type that it is stored in. */
#define ARRAY(role, kind, access, dtype)                                                                            \
  {                                                                                                                 \
    sizeof(hr_backend_operand_spec), role, kind, access, dtype, dtype, HR_LOCATION_HOST, HR_LAYOUT_ROW_MAJOR,        \
        HR_CONTIGUITY_CONTIGUOUS, 0                                                                                 \
  }

#define ARRAYS(dtype)                                                                                               \
  {                                                                                                                 \
    ARRAY(HR_ROLE_INPUT(0), HR_KIND_VECTOR, HR_ACCESS_READ, dtype),                                                 \
    ARRAY(HR_ROLE_INPUT(1), HR_KIND_SCALAR, HR_ACCESS_READ, dtype),                                                 \
    ARRAY(HR_ROLE_OUTPUT(0), HR_KIND_VECTOR, HR_ACCESS_WRITE, dtype)                                                \
  }

static const hr_operand_spec OPERANDS[3] = {
    OPERAND(HR_ROLE_INPUT(0), HR_KIND_VECTOR, HR_ACCESS_READ),
    OPERAND(HR_ROLE_INPUT(1), HR_KIND_SCALAR, HR_ACCESS_READ),
    OPERAND(HR_ROLE_OUTPUT(0), HR_KIND_VECTOR, HR_ACCESS_WRITE),
};
static const hr_backend_operand_spec FLOAT32[3] = ARRAYS(HR_DTYPE_FLOAT32);
static const hr_backend_operand_spec FLOAT64[3] = ARRAYS(HR_DTYPE_FLOAT64);

hr_status hr_plugin_entry_v1(const hr_host_api *host, hr_registrar *registrar, hr_plugin_info *info, hr_error *error) {
  hr_operation_desc operation = {0};
  hr_kernel_desc kernel = {0};
  hr_status status;

  if (host->abi_major != HR_ABI_MAJOR) return HR_ABI_MISMATCH;

  operation.struct_size = sizeof operation;
  operation.name = hr_text("audio.gain");
  operation.doc = hr_text("y = factor * x");
  operation.operand_count = 3;
  operation.operands = OPERANDS;
  operation.validate = same_lengths;
  status = host->register_operation(registrar, &operation, error);
  if (status != HR_OK) return status;

  kernel.struct_size = sizeof kernel;
  kernel.operation = hr_text("audio.gain");
  kernel.backend = HR_BACKEND_CPU_SCALAR;
  kernel.operand_count = 3;
  kernel.operands = FLOAT32;
  kernel.execute = gain_f32;
  kernel.label = hr_text("gain_f32");
  status = host->register_kernel(registrar, &kernel, error);
  if (status != HR_OK) return status;

  kernel.operands = FLOAT64;
  kernel.execute = gain_f64;
  kernel.label = hr_text("gain_f64");
  status = host->register_kernel(registrar, &kernel, error);
  if (status != HR_OK) return status;

  info->struct_size = sizeof *info;
  info->abi_major = HR_ABI_MAJOR;
  info->name = hr_text("gain");
  info->version = hr_text("1.0.0");
  return HR_OK;
}

uint32_t hr_plugin_abi_version(void) { return HR_ABI_VERSION; }
