// A plug-in in C++17: the operation stats.moments, which gives mean and variance of a vector of numbers. It shows a template for
// several dtypes, two outputs, state that belongs to one context, and how exceptions are kept inside.
#include <harrier/plugin.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

// Runs a function of the plug-in for the host: no exception may leave it.
template <typename Function>
hr_status guarded(hr_error *error, Function &&function) noexcept {
  try {
    function();
    return HR_OK;
  } catch (const std::exception &exception) {
    return hr_fail(error, HR_EXCEPTION, exception.what());
  } catch (...) {
    return hr_fail(error, HR_EXCEPTION, "an exception that is no std::exception");
  }
}

// What one context keeps: scratch memory that grows with the longest vector seen. Contexts in other threads have their own.
struct State {
  std::vector<double> deviations;
};

template <typename Number>
hr_status moments(const hr_invocation *call, void *user_data) {
  return guarded(call->error, [&] {
    auto &deviations = static_cast<State *>(user_data)->deviations;
    const hr_tensor *x = hr_operand(call, 0);
    const auto *values = static_cast<const Number *>(x->data);
    const auto count = static_cast<std::size_t>(hr_element_count(x));
    if (count == 0) throw std::invalid_argument("a vector without elements has no mean");

    double sum = 0;
    for (std::size_t i = 0; i < count; i++) sum += static_cast<double>(values[i]);
    const double mean = sum / static_cast<double>(count);

    deviations.resize(count);
    for (std::size_t i = 0; i < count; i++) deviations[i] = static_cast<double>(values[i]) - mean;
    double squares = 0;
    for (const double deviation : deviations) squares += deviation * deviation;

    *static_cast<Number *>(hr_operand(call, 1)->data) = static_cast<Number>(mean);
    *static_cast<Number *>(hr_operand(call, 2)->data) = static_cast<Number>(squares / static_cast<double>(count));
  });
}

constexpr hr_operand_spec operand(uint32_t role, uint32_t kind, uint32_t access) {
  return {sizeof(hr_operand_spec), role, kind, access};
}

constexpr hr_backend_operand_spec array(uint32_t role, uint32_t kind, uint32_t access, uint32_t dtype) {
  return {sizeof(hr_backend_operand_spec), role, kind, access, dtype, dtype, HR_LOCATION_HOST, HR_LAYOUT_ROW_MAJOR,
          HR_CONTIGUITY_CONTIGUOUS, 0};
}

void check(hr_status status) {
  if (status != HR_OK) throw std::runtime_error("a registration was refused");
}

template <typename Number>
void register_kernel(const hr_host_api *host, hr_registrar *registrar, hr_error *error, uint32_t dtype, const char *label) {
  const hr_backend_operand_spec operands[] = {
      array(HR_ROLE_INPUT(0), HR_KIND_VECTOR, HR_ACCESS_READ, dtype),
      array(HR_ROLE_OUTPUT(0), HR_KIND_SCALAR, HR_ACCESS_WRITE, dtype),
      array(HR_ROLE_OUTPUT(1), HR_KIND_SCALAR, HR_ACCESS_WRITE, dtype),
  };
  auto state = std::make_unique<State>();
  hr_kernel_desc kernel{};
  kernel.struct_size = sizeof kernel;
  kernel.operation = hr_text("stats.moments");
  kernel.backend = HR_BACKEND_CPU_SCALAR;
  kernel.operand_count = 3;
  kernel.operands = operands;
  kernel.execute = moments<Number>;
  kernel.user_data = state.get();
  kernel.release = [](void *user_data) { delete static_cast<State *>(user_data); };
  kernel.label = hr_text(label);
  check(host->register_kernel(registrar, &kernel, error));
  // Accepted: from now on it belongs to the host, until it calls release.
  state.release();
}

}  // namespace

hr_status hr_plugin_entry_v1(const hr_host_api *host, hr_registrar *registrar, hr_plugin_info *info, hr_error *error) {
  if (host->abi_major != HR_ABI_MAJOR) return HR_ABI_MISMATCH;
  return guarded(error, [&] {
    const hr_operand_spec operands[] = {
        operand(HR_ROLE_INPUT(0), HR_KIND_VECTOR, HR_ACCESS_READ),
        operand(HR_ROLE_OUTPUT(0), HR_KIND_SCALAR, HR_ACCESS_WRITE),
        operand(HR_ROLE_OUTPUT(1), HR_KIND_SCALAR, HR_ACCESS_WRITE),
    };
    hr_operation_desc operation{};
    operation.struct_size = sizeof operation;
    operation.name = hr_text("stats.moments");
    operation.doc = hr_text("mean and variance of x");
    operation.operand_count = 3;
    operation.operands = operands;
    check(host->register_operation(registrar, &operation, error));

    register_kernel<float>(host, registrar, error, HR_DTYPE_FLOAT32, "moments<float>");
    register_kernel<double>(host, registrar, error, HR_DTYPE_FLOAT64, "moments<double>");

    info->struct_size = sizeof *info;
    info->abi_major = HR_ABI_MAJOR;
    info->name = hr_text("moments");
    info->version = hr_text("1.0.0");
  });
}

uint32_t hr_plugin_abi_version(void) { return HR_ABI_VERSION; }
