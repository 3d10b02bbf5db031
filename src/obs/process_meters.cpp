#include "obs/process_meters.h"

#include <fstream>
#include <optional>
#include <string>

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "slackline/base/text.h"

namespace slackline::obs {
namespace {

// Fields of /proc/self/stat (proc_pid_stat(5)), counted from 0 behind the name of the program,
// which may itself contain blanks and brackets.
constexpr std::size_t kUserTicks = 11;
constexpr std::size_t kSystemTicks = 12;
constexpr std::size_t kStartTicks = 19;
constexpr std::size_t kVirtualBytes = 20;
constexpr std::size_t kResidentPages = 21;

struct Stat {
  double cpu_s = 0;
  double started_after_boot_s = 0;
  double virtual_bytes = 0;
  double resident_bytes = 0;
};

std::optional<Stat> read_stat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t bracket = line.rfind(") ");
  if (bracket == std::string::npos) return std::nullopt;
  const auto fields = split(std::string_view(line).substr(bracket + 2), ' ');
  if (fields.size() <= kResidentPages) return std::nullopt;
  const auto number = [&](std::size_t field) {
    return static_cast<double>(parse_int(fields[field]).value_or(0));
  };
  const auto ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  Stat stat;
  stat.cpu_s = (number(kUserTicks) + number(kSystemTicks)) / ticks_per_s;
  stat.started_after_boot_s = number(kStartTicks) / ticks_per_s;
  stat.virtual_bytes = number(kVirtualBytes);
  stat.resident_bytes = number(kResidentPages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return stat;
}

// Epoch seconds.
std::optional<double> read_boot_s() {
  constexpr std::string_view kBootTime = "btime ";
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(kBootTime))
      if (const auto time_s = parse_int(std::string_view(line).substr(kBootTime.size())))
        return static_cast<double>(*time_s);
  return std::nullopt;
}

std::optional<double> count_open_fds() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return std::nullopt;
  double count = 0;
  while (const dirent* entry = ::readdir(folder))
    if (entry->d_name[0] != '.') count += 1;
  ::closedir(folder);
  return count - 1;  // the folder's own
}

}  // namespace

ProcessMeters::ProcessMeters(MetricsRegistry& metrics)
    : cpu_(metrics.counter("process_cpu_seconds_total")),
      resident_(metrics.gauge("process_resident_memory_bytes")),
      virtual_(metrics.gauge("process_virtual_memory_bytes")),
      open_fds_(metrics.gauge("process_open_fds")),
      max_fds_(metrics.gauge("process_max_fds")),
      start_(metrics.gauge("process_start_time_seconds")) {
  const auto stat = read_stat();
  const auto boot_s = read_boot_s();
  if (stat && boot_s) start_.set(*boot_s + stat->started_after_boot_s);
  refresh();
}

void ProcessMeters::refresh() {
  const MutexLock lock(mutex_);
  if (const auto stat = read_stat()) {
    if (stat->cpu_s > cpu_s_) cpu_.add(stat->cpu_s - cpu_s_);
    cpu_s_ = stat->cpu_s;
    resident_.set(stat->resident_bytes);
    virtual_.set(stat->virtual_bytes);
  }
  if (const auto open = count_open_fds()) open_fds_.set(*open);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) max_fds_.set(static_cast<double>(limit.rlim_cur));
}

}  // namespace slackline::obs
