// Right-sizing: how far what a task asks for follows what its family used (docs/RIGHT-SIZING.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slackline/model/placement.h"
#include "slackline/model/resources.h"

namespace slackline {

// Off: nothing is said. Advise: people are told. Auto: Slackline changes the request itself.
enum class ResizeMode : std::uint8_t { kOff, kAdvise, kAuto };
std::string_view to_string(ResizeMode mode);  // "off", "advise", "auto"
std::optional<ResizeMode> resize_mode_named(std::string_view name);

// CPU and memory of one container as its object has them: quantities, byte for byte. Empty: it does
// not have this one.
struct ContainerAmounts {
  std::string cpu_request;
  std::string cpu_limit;
  std::string memory_request;
  std::string memory_limit;
  friend bool operator==(const ContainerAmounts&, const ContainerAmounts&) = default;
};

// The amounts that scheduling counts: requests, else limits; 0 where there is neither, or it cannot
// be read.
std::int64_t requested_cpu_milli(const ContainerAmounts& amounts);
std::int64_t requested_memory_bytes(const ContainerAmounts& amounts);
std::optional<std::int64_t> limited_cpu_milli(const ContainerAmounts& amounts);
// "1000m" is "1".
bool same_amounts(const ContainerAmounts& a, const ContainerAmounts& b);

// Whether a pod has those of the written amounts that are there. Kubernetes itself adds others.
bool has_amounts(const ContainerAmounts& of_pod, const ContainerAmounts& written);

// What a pod asks for once one of its containers has other amounts.
void change_amounts(Resources& of_pod, const ContainerAmounts& before,
                    const ContainerAmounts& after);

// What right-sizing has changed of a run; part of its plan.
struct ResizeNote {
  Placement asked;                            // as written
  std::optional<Placement> shape{};           // that was advised; nullopt: as written
  std::optional<ContainerAmounts> amounts{};  // of the container with GPUs; nullopt: as written
  double expected_s = 0;                      // how long it should run, seconds; 0: nothing says
  bool trial = false;                         // the family's first run of this kind
};

// Why a run was too small.
enum class ResizeFailure : std::uint8_t { kNone, kOutOfMemory, kGpuOutOfMemory, kSlow };
// "", "OOMKilled", "GpuOutOfMemory", "Slow": for annotations, metrics and people
std::string_view to_string(ResizeFailure failure);
ResizeFailure resize_failure_named(std::string_view name);  // kNone: there is no such one

}  // namespace slackline
