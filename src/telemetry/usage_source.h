// UsageSource: the seam to whoever knows what tasks used. One real implementation (UsageReader),
// and what tests script.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/usage.h"
#include "telemetry/measured_tasks.h"
#include "telemetry/node_load.h"
#include "telemetry/window.h"

namespace slackline::telemetry {

struct UsageReading {
  std::vector<UsageSample> samples;
  // What is missing in all of them, and what the Prometheus warned of.
  std::vector<std::string> remarks;
};

class UsageSource {
 public:
  virtual ~UsageSource() = default;

  // What the tasks used while `window`, each only as far as the window is its own: one sample a
  // task, in their order. An error: nothing is known of this window.
  virtual Result<UsageReading> read(std::span<const MeasuredTask> tasks, const Window& window) = 0;
  // The same step by step: a sample for each step and each task that has a part in it, by time.
  virtual Result<UsageReading> read_steps(std::span<const MeasuredTask> tasks,
                                          const Window& window) = 0;
  // How busy the nodes were in the step that ends then, by name.
  virtual Result<std::vector<NodeLoad>> node_loads(double end_s) = 0;
  // The shortest time that counts as measured or not.
  virtual int step_s() const = 0;
  // Ends the reading in progress and all later ones. From any thread.
  virtual void stop() = 0;
};

}  // namespace slackline::telemetry
