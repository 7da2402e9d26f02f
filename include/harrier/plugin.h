/*
 * harrier plug-in interface, version 1.0.
 *
 * A plug-in is a shared library that exports hr_plugin_entry_v1. It is compiled against this header alone (C11 or C++17) and is not
 * linked to anything of harrier. Every struct starts with its own size and only ever grows at its end; every enumeration is a
 * fixed-width number and only ever gains members. docs/plugins.md is the reference.
 */
#ifndef HARRIER_PLUGIN_H
#define HARRIER_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ---------------------------------------------------------------------------------------------------------------- */

#define HR_ABI_MAJOR 1
#define HR_ABI_MINOR 0

/* ---- Status: what functions of either side return --------------------------------------------------------------------------- */

typedef int32_t hr_status;

#define HR_OK 0
#define HR_INVALID_ARGUMENT 1
#define HR_OUT_OF_MEMORY 2
#define HR_ABI_MISMATCH 3
#define HR_STRUCT_TOO_SMALL 4
#define HR_STRUCT_TOO_NEW 5 /* a struct longer than the host's own has bytes that are not zero at its end */
#define HR_UNSUPPORTED 6    /* an enumerated value that the host does not know */
#define HR_CAPABILITY_MISSING 7
#define HR_DUPLICATE 8
#define HR_NOT_FOUND 9
#define HR_INTERNAL 10
#define HR_EXCEPTION 11
#define HR_CUDA 20
#define HR_FIRST_PLUGIN_STATUS 1000 /* this and everything above is the plug-in's own */

/* ---- Enumerations: 0 is never valid ----------------------------------------------------------------------------------------- */

/* Roles: input i and output i, for i from 0 to 255. */
#define HR_ROLE_INPUT(i) (0x0100u + (uint32_t)(i))
#define HR_ROLE_OUTPUT(i) (0x0200u + (uint32_t)(i))

/* Kinds: how many axes an operand has. */
#define HR_KIND_SCALAR 1u
#define HR_KIND_VECTOR 2u
#define HR_KIND_MATRIX 3u
#define HR_KIND_TENSOR 4u

/* Access: a mask of two bits. */
#define HR_ACCESS_READ 1u
#define HR_ACCESS_WRITE 2u
#define HR_ACCESS_READ_WRITE 3u

#define HR_BACKEND_CPU_SCALAR 1u
#define HR_BACKEND_CPU_SIMD 2u
#define HR_BACKEND_CPU_PARALLEL 3u
#define HR_BACKEND_CUDA 16u

/* Locations: the device types of DLPack. */
#define HR_LOCATION_HOST 1u
#define HR_LOCATION_CUDA 2u
#define HR_LOCATION_CUDA_PINNED 3u
#define HR_LOCATION_CUDA_MANAGED 13u

#define HR_LAYOUT_ROW_MAJOR 1u
#define HR_LAYOUT_COLUMN_MAJOR 2u
#define HR_LAYOUT_STRIDED 3u

#define HR_CONTIGUITY_CONTIGUOUS 1u
#define HR_CONTIGUITY_ANY 2u

/* Dtypes: a type code of DLPack in the low byte, the bits of one element above it. Complex numbers are pairs, real part first. */
#define HR_DTYPE(code, bits) ((uint32_t)(code) | ((uint32_t)(bits) << 8))
#define HR_DTYPE_BYTES(dtype) (((dtype) >> 8) / 8u)

#define HR_DTYPE_INT8 HR_DTYPE(0, 8)
#define HR_DTYPE_INT16 HR_DTYPE(0, 16)
#define HR_DTYPE_INT32 HR_DTYPE(0, 32)
#define HR_DTYPE_INT64 HR_DTYPE(0, 64)
#define HR_DTYPE_UINT8 HR_DTYPE(1, 8)
#define HR_DTYPE_UINT16 HR_DTYPE(1, 16)
#define HR_DTYPE_UINT32 HR_DTYPE(1, 32)
#define HR_DTYPE_UINT64 HR_DTYPE(1, 64)
#define HR_DTYPE_FLOAT16 HR_DTYPE(2, 16)
#define HR_DTYPE_FLOAT32 HR_DTYPE(2, 32)
#define HR_DTYPE_FLOAT64 HR_DTYPE(2, 64)
#define HR_DTYPE_BFLOAT16 HR_DTYPE(4, 16)
#define HR_DTYPE_COMPLEX64 HR_DTYPE(5, 64)
#define HR_DTYPE_COMPLEX128 HR_DTYPE(5, 128)
#define HR_DTYPE_BOOL HR_DTYPE(6, 8)
#define HR_DTYPE_FLOAT8_E4M3FN HR_DTYPE(10, 8)
#define HR_DTYPE_FLOAT8_E5M2 HR_DTYPE(12, 8)

/* Bits of hr_host_api.capabilities and hr_plugin_info.required_capabilities. */
#define HR_CAPABILITY_CPU (UINT64_C(1) << 0)
#define HR_CAPABILITY_CUDA_BUILT_IN (UINT64_C(1) << 1) /* the host knows how to run CUDA kernels */
#define HR_CAPABILITY_CUDA_USABLE (UINT64_C(1) << 2)   /* and there is a driver with a device */

/* Bit of hr_kernel_desc.flags: no two calls of the same execute function may overlap. */
#define HR_KERNEL_SERIALISE 1u

/* Bit of hr_tensor.flags: the elements follow each other without holes. */
#define HR_TENSOR_CONTIGUOUS 1u

/* ---- Structs ---------------------------------------------------------------------------------------------------------------- */

/* UTF-8 text of a known length, without a terminator. */
typedef struct hr_string {
  const char *ptr;
  uint64_t len;
} hr_string;

/* Room for an error message, in memory of the host. */
typedef struct hr_error {
  uint32_t struct_size;
  int32_t code;      /* written */
  uint32_t capacity; /* bytes that message has room for */
  uint32_t length;   /* written: bytes of message that were filled */
  char *message;     /* null when there is no room */
} hr_error;

/* An operand of an operation. */
typedef struct hr_operand_spec {
  uint32_t struct_size;
  uint32_t role;
  uint32_t kind;
  uint32_t access;
} hr_operand_spec;

/* An operand of a kernel: that of the operation, and the one sort of array that the kernel takes. */
typedef struct hr_backend_operand_spec {
  uint32_t struct_size;
  uint32_t role;
  uint32_t kind;
  uint32_t access;
  uint32_t dtype;
  uint32_t compute_dtype;
  uint32_t location;
  uint32_t layout;
  uint32_t contiguity;
  uint32_t reserved0; /* 0 */
} hr_backend_operand_spec;

/* An array of the caller, for the time of one call. */
typedef struct hr_tensor {
  uint32_t struct_size;
  uint32_t role;
  uint32_t kind;
  uint32_t access;
  uint32_t dtype;
  uint32_t compute_dtype;
  uint32_t location;
  uint32_t layout;
  int32_t device; /* -1 on the host */
  uint32_t flags;
  uint32_t rank;
  uint32_t reserved0;
  void *data;             /* the first element, aligned to the element; may be null when an extent is 0 */
  uint64_t byte_length;   /* from data to the end of the element with the highest address */
  const int64_t *shape;   /* rank extents */
  const int64_t *strides; /* rank strides, in elements */
} hr_tensor;

/* One call of a kernel or validator. */
typedef struct hr_invocation {
  uint32_t struct_size;
  uint32_t backend; /* 0 in a validator, which runs before a kernel is chosen */
  uint32_t operand_count;
  int32_t cuda_device;       /* -1 on the CPU */
  const hr_tensor *operands; /* in the order of the operation's roles; see hr_operand */
  void *stream;              /* a cudaStream_t and CUstream; null on the CPU */
  hr_error *error;
  const void *next; /* null in 1.0 */
} hr_invocation;

typedef hr_status (*hr_call)(const hr_invocation *invocation, void *user_data);
typedef void (*hr_release)(void *user_data);

/* An operation to be registered. */
typedef struct hr_operation_desc {
  uint32_t struct_size;
  uint32_t operand_count;
  hr_string name;
  const hr_operand_spec *operands;
  hr_call validate; /* may be null */
  void *user_data;
  hr_release release; /* may be null */
  hr_string doc;
} hr_operation_desc;

/* A kernel to be registered. */
typedef struct hr_kernel_desc {
  uint32_t struct_size;
  uint32_t operand_count;
  hr_string operation;
  uint32_t backend;
  uint32_t flags;
  const hr_backend_operand_spec *operands;
  hr_call execute;
  void *user_data;
  hr_release release; /* may be null */
  hr_string label;
} hr_kernel_desc;

/* The handle of the registrations that an entry makes; it dies when the entry returns. */
typedef struct hr_registrar hr_registrar;

/* What the host offers. */
typedef struct hr_host_api {
  uint32_t struct_size;
  uint16_t abi_major;
  uint16_t abi_minor;
  uint64_t capabilities;
  hr_string host_name;
  hr_string host_version;
  int32_t cuda_device_count;
  int32_t cuda_driver_version; /* 1000 * major + 10 * minor; 0 without a driver */
  const void *next;            /* null in 1.0 */
  hr_status (*register_operation)(hr_registrar *registrar, const hr_operation_desc *desc, hr_error *error);
  hr_status (*register_kernel)(hr_registrar *registrar, const hr_kernel_desc *desc, hr_error *error);
} hr_host_api;

/* What a plug-in says of itself, filled by its entry in memory of the host. */
typedef struct hr_plugin_info {
  uint32_t struct_size;    /* comes in as the bytes there are, goes out as sizeof(hr_plugin_info) */
  uint16_t abi_major;      /* HR_ABI_MAJOR */
  uint16_t min_host_minor; /* the lowest minor version that the plug-in works with */
  uint64_t required_capabilities;
  hr_string name;
  hr_string version;
  void (*shutdown)(void *plugin_state); /* may be null */
  void *plugin_state;
} hr_plugin_info;

/* ---- Sizes: a compiler that lays these structs out in another way cannot be used --------------------------------------------- */

#ifdef __cplusplus
#define HR_ASSERT(condition, text) static_assert(condition, text)
#else
#define HR_ASSERT(condition, text) _Static_assert(condition, text)
#endif

HR_ASSERT(sizeof(void *) == 8 && sizeof(hr_call) == 8, "harrier plug-ins are for 64-bit targets");
HR_ASSERT(sizeof(hr_string) == 16, "hr_string");
HR_ASSERT(sizeof(hr_error) == 24, "hr_error");
HR_ASSERT(sizeof(hr_operand_spec) == 16, "hr_operand_spec");
HR_ASSERT(sizeof(hr_backend_operand_spec) == 40, "hr_backend_operand_spec");
HR_ASSERT(sizeof(hr_tensor) == 80, "hr_tensor");
HR_ASSERT(sizeof(hr_invocation) == 48, "hr_invocation");
HR_ASSERT(sizeof(hr_operation_desc) == 72, "hr_operation_desc");
HR_ASSERT(sizeof(hr_kernel_desc) == 80, "hr_kernel_desc");
HR_ASSERT(sizeof(hr_host_api) == 80, "hr_host_api");
HR_ASSERT(sizeof(hr_plugin_info) == 64, "hr_plugin_info");

/* ---- Exported by a plug-in --------------------------------------------------------------------------------------------------- */

#if defined(_WIN32)
#define HR_EXPORT __declspec(dllexport)
#else
#define HR_EXPORT __attribute__((visibility("default")))
#endif

/* Required: registers what the plug-in offers and fills info. */
HR_EXPORT hr_status hr_plugin_entry_v1(const hr_host_api *host, hr_registrar *registrar, hr_plugin_info *info, hr_error *error);

/* Optional: major << 16 | minor of the header that the plug-in was built with; called before the entry. */
HR_EXPORT uint32_t hr_plugin_abi_version(void);

/* ---- Helpers: compiled into the plug-in -------------------------------------------------------------------------------------- */

#define HR_ABI_VERSION ((uint32_t)HR_ABI_MAJOR << 16 | (uint32_t)HR_ABI_MINOR)

/* Whether a struct of the host, given by a pointer, is long enough to have a member. */
#define HR_HAS(pointer, type, member) ((pointer)->struct_size >= offsetof(type, member) + sizeof((pointer)->member))

/* Text from a C string, which must outlive the use of the result. */
static inline hr_string hr_text(const char *text) {
  hr_string result;
  result.ptr = text;
  result.len = 0;
  while (text[result.len] != '\0') result.len++;
  return result;
}

/* Fills an hr_error, if there is one, with a code and as much of the text as there is room for. Returns the code. */
static inline hr_status hr_fail(hr_error *error, hr_status code, const char *text) {
  uint32_t length = 0;
  if (error != NULL) {
    error->code = code;
    if (error->message != NULL) {
      while (length < error->capacity && text[length] != '\0') {
        error->message[length] = text[length];
        length++;
      }
    }
    error->length = length;
  }
  return code;
}

/* Operand i of a call. The distance between operands is the size that the host gave them. */
static inline const hr_tensor *hr_operand(const hr_invocation *invocation, uint32_t i) {
  const char *first = (const char *)invocation->operands;
  return (const hr_tensor *)(const void *)(first + (size_t)i * invocation->operands->struct_size);
}

/* How many elements an array has. */
static inline int64_t hr_element_count(const hr_tensor *tensor) {
  int64_t count = 1;
  uint32_t axis;
  for (axis = 0; axis < tensor->rank; axis++) count *= tensor->shape[axis];
  return count;
}

#ifdef __cplusplus
}
#endif

#endif
