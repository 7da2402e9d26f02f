/* What the plug-ins of the tests share: one operation on vectors, y = f(x), with a float32 kernel that doubles. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <harrier/plugin.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY \
  HR_EXPORT hr_status hr_plugin_entry_v1(const hr_host_api *host, hr_registrar *registrar, hr_plugin_info *info, hr_error *error)

#define KERNEL(name) static hr_status name(const hr_invocation *call, void *user_data)

/* What happened in the plug-in, in order, for the test to read. */
static char log_text[16384];

static inline void log_line(const char *format, ...) {
  size_t used = strlen(log_text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(log_text + used, sizeof log_text - used, format, arguments);
  va_end(arguments);
  strncat(log_text, "\n", sizeof log_text - strlen(log_text) - 1);
}

HR_EXPORT const char *fixture_log(void);
HR_EXPORT const char *fixture_log(void) { return log_text; }

HR_EXPORT void fixture_clear(void);
HR_EXPORT void fixture_clear(void) { log_text[0] = '\0'; }

/* A release or shutdown function that tells the name it is called with. */
static inline void log_release(void *name) { log_line("release %s", name == NULL ? "nothing" : (const char *)name); }
static inline void log_shutdown(void *name) { log_line("shutdown %s", name == NULL ? "nothing" : (const char *)name); }

static const hr_operand_spec UNARY[2] = {
    {sizeof(hr_operand_spec), HR_ROLE_INPUT(0), HR_KIND_VECTOR, HR_ACCESS_READ},
    {sizeof(hr_operand_spec), HR_ROLE_OUTPUT(0), HR_KIND_VECTOR, HR_ACCESS_WRITE},
};

static const hr_backend_operand_spec UNARY_F32[2] = {
    {sizeof(hr_backend_operand_spec), HR_ROLE_INPUT(0), HR_KIND_VECTOR, HR_ACCESS_READ, HR_DTYPE_FLOAT32, HR_DTYPE_FLOAT32,
     HR_LOCATION_HOST, HR_LAYOUT_ROW_MAJOR, HR_CONTIGUITY_CONTIGUOUS, 0},
    {sizeof(hr_backend_operand_spec), HR_ROLE_OUTPUT(0), HR_KIND_VECTOR, HR_ACCESS_WRITE, HR_DTYPE_FLOAT32, HR_DTYPE_FLOAT32,
     HR_LOCATION_HOST, HR_LAYOUT_ROW_MAJOR, HR_CONTIGUITY_CONTIGUOUS, 0},
};

static inline hr_status double_f32(const hr_invocation *call, void *user_data) {
  const hr_tensor *x = hr_operand(call, 0);
  const hr_tensor *y = hr_operand(call, 1);
  int64_t count = hr_element_count(x);
  (void)user_data;
  if (hr_element_count(y) != count) return hr_fail(call->error, HR_INVALID_ARGUMENT, "the lengths differ");
  for (int64_t i = 0; i < count; i++) ((float *)y->data)[i] = 2 * ((const float *)x->data)[i];
  return HR_OK;
}

static inline hr_operation_desc unary_operation(const char *name) {
  hr_operation_desc desc;
  memset(&desc, 0, sizeof desc);
  desc.struct_size = sizeof desc;
  desc.operand_count = 2;
  desc.name = hr_text(name);
  desc.operands = UNARY;
  return desc;
}

static inline hr_kernel_desc unary_kernel(const char *operation) {
  hr_kernel_desc desc;
  memset(&desc, 0, sizeof desc);
  desc.struct_size = sizeof desc;
  desc.operand_count = 2;
  desc.operation = hr_text(operation);
  desc.backend = HR_BACKEND_CPU_SCALAR;
  desc.operands = UNARY_F32;
  desc.execute = double_f32;
  desc.label = hr_text("double_f32");
  return desc;
}

/* Fills what a plug-in says of itself, and is HR_OK. */
static inline hr_status introduce(hr_plugin_info *info) {
  info->struct_size = sizeof *info;
  info->abi_major = HR_ABI_MAJOR;
  info->min_host_minor = 0;
  info->name = hr_text("fixture");
  info->version = hr_text("1.2.3");
  return HR_OK;
}

/* Registers the operation plug.double and its kernel, and introduces the plug-in. */
static inline hr_status register_double(const hr_host_api *host, hr_registrar *registrar, hr_plugin_info *info, hr_error *error) {
  hr_operation_desc operation = unary_operation("plug.double");
  hr_kernel_desc kernel = unary_kernel("plug.double");
  hr_status status = host->register_operation(registrar, &operation, error);
  if (status == HR_OK) status = host->register_kernel(registrar, &kernel, error);
  return status == HR_OK ? introduce(info) : status;
}

#endif
