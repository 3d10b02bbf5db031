#include "slackline/model/resize.h"

#include <array>

#include "slackline/base/quantity.h"

namespace slackline {
namespace {

std::int64_t milli_of(const std::string& quantity) {
  return parse_quantity_milli(quantity).value_or(0);
}
std::int64_t bytes_of(const std::string& quantity) {
  return parse_quantity(quantity).value_or(0);
}

bool same_quantity(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto of_a = parse_quantity_milli(a);
  const auto of_b = parse_quantity_milli(b);
  if (of_a && of_b) return *of_a == *of_b;
  const auto whole_a = parse_quantity(a);
  const auto whole_b = parse_quantity(b);
  return whole_a && whole_b && *whole_a == *whole_b;
}

constexpr std::array kFailures = {ResizeFailure::kOutOfMemory, ResizeFailure::kGpuOutOfMemory,
                                  ResizeFailure::kSlow};

}  // namespace

std::string_view to_string(ResizeMode mode) {
  switch (mode) {
    case ResizeMode::kOff:
      return "off";
    case ResizeMode::kAdvise:
      return "advise";
    case ResizeMode::kAuto:
      break;
  }
  return "auto";
}

std::optional<ResizeMode> resize_mode_named(std::string_view name) {
  for (const ResizeMode mode : {ResizeMode::kOff, ResizeMode::kAdvise, ResizeMode::kAuto})
    if (name == to_string(mode)) return mode;
  return std::nullopt;
}

std::int64_t requested_cpu_milli(const ContainerAmounts& amounts) {
  return milli_of(amounts.cpu_request.empty() ? amounts.cpu_limit : amounts.cpu_request);
}

std::int64_t requested_memory_bytes(const ContainerAmounts& amounts) {
  return bytes_of(amounts.memory_request.empty() ? amounts.memory_limit : amounts.memory_request);
}

std::optional<std::int64_t> limited_cpu_milli(const ContainerAmounts& amounts) {
  const auto limit = parse_quantity_milli(amounts.cpu_limit);
  return limit ? std::optional(*limit) : std::nullopt;
}

bool same_amounts(const ContainerAmounts& a, const ContainerAmounts& b) {
  return same_quantity(a.cpu_request, b.cpu_request) && same_quantity(a.cpu_limit, b.cpu_limit) &&
         same_quantity(a.memory_request, b.memory_request) &&
         same_quantity(a.memory_limit, b.memory_limit);
}

bool has_amounts(const ContainerAmounts& of_pod, const ContainerAmounts& written) {
  const auto has = [&](std::string ContainerAmounts::* amount) {
    return (written.*amount).empty() || same_quantity(of_pod.*amount, written.*amount);
  };
  return has(&ContainerAmounts::cpu_request) && has(&ContainerAmounts::cpu_limit) &&
         has(&ContainerAmounts::memory_request) && has(&ContainerAmounts::memory_limit);
}

void change_amounts(Resources& of_pod, const ContainerAmounts& before,
                    const ContainerAmounts& after) {
  of_pod.cpu_milli += requested_cpu_milli(after) - requested_cpu_milli(before);
  of_pod.memory_bytes += requested_memory_bytes(after) - requested_memory_bytes(before);
}

std::string_view to_string(ResizeFailure failure) {
  switch (failure) {
    case ResizeFailure::kNone:
      break;
    case ResizeFailure::kOutOfMemory:
      return "OOMKilled";
    case ResizeFailure::kGpuOutOfMemory:
      return "GpuOutOfMemory";
    case ResizeFailure::kSlow:
      return "Slow";
  }
  return "";
}

ResizeFailure resize_failure_named(std::string_view name) {
  for (const ResizeFailure failure : kFailures)
    if (name == to_string(failure)) return failure;
  return ResizeFailure::kNone;
}

}  // namespace slackline
