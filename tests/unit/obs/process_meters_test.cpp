// The metrics of the process itself.
#include "obs/process_meters.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "slackline/base/clock.h"

namespace slackline::obs {
namespace {

double value_of(const MetricsRegistry& metrics, const std::string& name) {
  const std::string text = metrics.expose();
  const std::size_t at = text.find("\n" + name + " ");
  EXPECT_NE(at, std::string::npos) << name;
  return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

TEST(ProcessMeters, CountFilesMemoryAndTheStart) {
  MetricsRegistry metrics;
  ProcessMeters meters(metrics);
  const double before = value_of(metrics, "process_open_fds");
  EXPECT_GE(before, 3);
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  meters.refresh();
  EXPECT_EQ(value_of(metrics, "process_open_fds"), before + 1);
  ::close(file);
  EXPECT_GT(value_of(metrics, "process_max_fds"), before);
  EXPECT_GT(value_of(metrics, "process_resident_memory_bytes"), 1e6);
  EXPECT_GT(value_of(metrics, "process_virtual_memory_bytes"),
            value_of(metrics, "process_resident_memory_bytes"));
  const double started_s = value_of(metrics, "process_start_time_seconds");
  EXPECT_LE(started_s, system_clock().wall_s() + 2);
  EXPECT_GT(started_s, system_clock().wall_s() - 3600);
}

TEST(ProcessMeters, TimeOfTheProcessorOnlyGrows) {
  MetricsRegistry metrics;
  ProcessMeters meters(metrics);
  const double before = value_of(metrics, "process_cpu_seconds_total");
  volatile double sum = 0;
  for (const double until_s = system_clock().steady_s() + 0.2; system_clock().steady_s() < until_s;)
    sum = sum + 1;
  meters.refresh();
  EXPECT_GE(value_of(metrics, "process_cpu_seconds_total"), before + 0.05);
}

}  // namespace
}  // namespace slackline::obs
