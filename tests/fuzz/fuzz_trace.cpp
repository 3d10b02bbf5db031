// Traces: a text is refused with the name of its file, or becomes tasks that can be written and
// read again, in order, and can be bounded.
#include <cmath>

#include "fuzz/fuzz.h"
#include "sim/backtest.h"
#include "sim/bound.h"
#include "sim/platform.h"
#include "sim/right_size.h"
#include "sim/scaling_table.h"
#include "sim/trace_csv.h"
#include "sim/trace_format.h"

using namespace slackline;
using namespace slackline::fuzz;

namespace {

struct Profiles {
  WorkloadProfiles profiles;
  sim::RecordedOptions options;

  Profiles() {
    ProfileEntry bert;
    bert.model = "bert";
    bert.gpu_type = GpuType("A100");
    bert.coefficients = {"table", {64, 1, 100, 64, 2, 150, 64, 4, 200}};
    profiles = WorkloadProfiles({bert});
    options.profiles = &profiles;
    options.gpu_type = bert.gpu_type;
    options.ranges = sim::default_draw_ranges(profiles, bert.gpu_type);
  }
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Profiles known;
  const std::string_view text = text_of(data, size);
  if (const auto table = sim::read_scaling_table(text, "bert", GpuType("A100")))
    require(!table->coefficients.params.empty(), "a scaling table has values");
  if (auto sized = sim::parse_sized_tasks(text)) {
    sim::right_size(*sized);
    for (const sim::SizedTask& task : *sized)
      require(task.advised_gpus >= 1 && task.advised_gpus <= task.gpus, "never above the request");
  }
  if (auto recording = sim::load_recording(text, "auto"); recording && recording->jobs.size() < 500)
    for (const sim::BacktestRow& row :
         sim::backtest(std::move(recording->jobs), sim::FamilyRule::kModel))
      require(row.said >= 0 && row.said <= 1 && row.covered <= 1, "shares are shares");
  for (const std::string& name : sim::trace_format_names()) {
    const auto trace = sim::load_trace(text, "t.csv", name, known.options);
    if (!trace) {
      require(trace.error().message.starts_with("t.csv: "), "an error names the file");
      continue;
    }
    double last_s = 0;
    for (const sim::TraceTask& task : trace->tasks) {
      require(task.submit_s >= last_s && std::isfinite(task.deadline_s), "tasks arrive in order");
      require(task.request_gpus >= 1 && task.iterations > 0 && task.batch > 0, "tasks have work");
      last_s = task.submit_s;
    }
    if (trace->tasks.empty() || trace->tasks.size() > 100) continue;
    require(sim::parse_trace_csv(sim::format_trace_csv(*trace)).has_value(), "a trace comes back");
    sim::Platform platform;
    platform.pools = {{GpuType("A100"), "", 2, 2, 1.0}};
    const auto tasks = sim::prepare(*trace, known.profiles, platform);
    if (!tasks) continue;
    const sim::Bounds bounds =
        sim::bounds_of(sim::bound_tasks(*tasks, platform.pools, {}), platform.gpus());
    require(bounds.q >= 0 && bounds.q <= bounds.feasible_alone + 1e-6, "a bound is a share");
  }
  return 0;
}
