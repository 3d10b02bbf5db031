#include "sim/timeline_svg.h"

#include <algorithm>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/deadline.h"
#include "wire/format/svg.h"

namespace slackline::sim {
namespace {

constexpr double kTimelineLeft = 96;
constexpr double kTimelineTop = 64;
constexpr double kTimelineWidth = 1500;  // of the rows
constexpr double kTimelineBottom = 44;

// Okabe and Ito's palette; the patterns carry the same colours.
constexpr std::string_view kPatterns =
    "<pattern id=\"u\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect width=\"5\" height=\"5\" fill=\"#d55e00\"/>"
    "<rect width=\"1.6\" height=\"5\" fill=\"#fff\"/></pattern>"
    "<pattern id=\"p\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"6\" height=\"6\" fill=\"#0072b2\"/><circle cx=\"3\" cy=\"3\" r=\"1.1\" "
    "fill=\"#fff\"/></pattern>";
constexpr std::string_view kTimelineStyle =
    "text{font:12px system-ui,sans-serif;fill:#333}.h{font-size:15px;font-weight:600}"
    ".m{text-anchor:middle}.e{text-anchor:end}.f{fill:#fff}.g{stroke:#ddd}.n{stroke:#999}"
    ".u{fill:url(#u)}.p{fill:url(#p)}.r{fill:#9fd8b4}.b{stroke:#fff;stroke-width:.5}"
    ".l{stroke:#000;stroke-width:1.3}.t{stroke:#111;stroke-width:1.2}"
    ".x{stroke:#a00;stroke-width:1.6;fill:none}";

// One bar: a run on one of its GPUs.
struct Bar {
  core::TaskIndex task = 0;
  std::size_t row = 0;
  double from_s = 0;
  double to_s = 0;
  bool preempted = false;
  bool first_gpu = false;  // of its run
};

// Which GPUs of the platform a run holds, found by replaying the log.
class Rows {
 public:
  explicit Rows(const Platform& platform) {
    for (const core::Pool& pool : platform.pools) {
      first_row_.push_back(taken_.size());
      gpus_per_node_.push_back(static_cast<std::size_t>(pool.gpus_per_node));
      taken_.resize(taken_.size() + static_cast<std::size_t>(pool.nodes * pool.gpus_per_node));
    }
  }

  std::size_t count() const { return taken_.size(); }

  std::vector<std::size_t> take(const core::Run& run, const core::Choice& choice) {
    std::vector<std::size_t> rows;
    for (const core::PoolNode node : run.nodes) {
      const std::size_t first = first_row_[choice.pool] + node * gpus_per_node_[choice.pool];
      int wanted = choice.shape.d_gpn;
      for (std::size_t row = first; wanted > 0 && row < first + gpus_per_node_[choice.pool];
           ++row) {
        if (taken_[row]) continue;
        taken_[row] = true;
        rows.push_back(row);
        --wanted;
      }
    }
    return rows;
  }

  void give_back(const std::vector<std::size_t>& rows) {
    for (const std::size_t row : rows)
      taken_[row] = false;
  }

 private:
  std::vector<std::size_t> first_row_;  // by pool
  std::vector<std::size_t> gpus_per_node_;
  std::vector<bool> taken_;
};

std::vector<Bar> bars_of(const core::TaskTable& tasks, const Outcome& outcome, Rows& rows) {
  struct Open {
    std::vector<std::size_t> rows;
    double from_s = 0;
  };
  std::vector<Open> open(tasks.size());
  std::vector<Bar> bars;
  for (const EventRow& event : outcome.events) {
    Open& run = open[event.task];
    if (event.kind == core::RunEvent::kStart) {
      run = {rows.take(event.run, tasks[event.task].menu->all[event.run.choice]), event.time_s};
      continue;
    }
    for (const std::size_t row : run.rows)
      bars.push_back({event.task, row, run.from_s, event.time_s,
                      event.kind == core::RunEvent::kPreempt, row == run.rows.front()});
    rows.give_back(run.rows);
  }
  return bars;
}

class Chart {
 public:
  Chart(const core::TaskTable& tasks, const Platform& platform, const Outcome& outcome,
        std::string_view title)
      : tasks_(tasks),
        platform_(platform),
        outcome_(outcome),
        rows_(platform),
        bars_(bars_of(tasks, outcome, rows_)),
        row_height_(std::clamp(480.0 / static_cast<double>(rows_.count()), 3.0, 24.0)),
        height_(row_height_ * static_cast<double>(rows_.count())),
        svg_(
            kTimelineLeft + kTimelineWidth + 24, kTimelineTop + height_ + kTimelineBottom, title,
            format("Gantt chart of {} tasks on {} GPUs: a row per GPU, a bar per run. Urgent tasks "
                   "are hatched, Prior dotted, Normal plain; a tick is a deadline, a cross a "
                   "preemption, a dark frame a missed deadline.",
                   tasks.size(), rows_.count())) {
    svg_.style(kTimelineStyle).definitions(kPatterns);
    svg_.text(kTimelineLeft, 22, "h", title);
    for (const Bar& bar : bars_)
      last_s_ = std::max(last_s_, bar.to_s);
  }

  std::string draw() {
    draw_legend();
    draw_axis();
    for (const Bar& bar : bars_)
      draw_bar(bar);
    draw_nodes();
    for (const Bar& bar : bars_)
      if (bar.first_gpu) draw_marks(bar);
    return svg_.str();
  }

 private:
  double x(double time_s) const { return kTimelineLeft + kTimelineWidth * time_s / last_s_; }
  double y(std::size_t row) const { return kTimelineTop + row_height_ * static_cast<double>(row); }

  bool missed(core::TaskIndex task) const {
    const TaskOutcome& outcome = outcome_.tasks[task];
    return !outcome.finished ||
           outcome.finish_s > tasks_[task].deadline_s + core::kDeadlineTolerance_s;
  }

  void draw_legend() {
    double at = kTimelineLeft;
    const auto entry = [&](std::string_view css_class, std::string_view label) {
      svg_.rect(at, 34, 22, 14, css_class);
      svg_.text(at + 28, 45, "", label);
      at += 44 + 7.0 * static_cast<double>(label.size());
    };
    entry("u", "Urgent");
    entry("p", "Prior");
    entry("r", "Normal");
    entry("r l", "missed its deadline");
    svg_.line(at + 11, 34, at + 11, 48, "t").text(at + 20, 45, "", "deadline");
    at += 90;
    draw_cross(at + 11, 41, 5);
    svg_.text(at + 22, 45, "", "preempted");
  }

  void draw_axis() {
    svg_.rect(kTimelineLeft, kTimelineTop, kTimelineWidth, height_, "f");
    for (const double hour : axis_marks(last_s_ / kHour_s)) {
      const double at = x(hour * kHour_s);
      svg_.line(at, kTimelineTop, at, kTimelineTop + height_, "g");
      svg_.text(at, kTimelineTop + height_ + 16, "m", format("{:g}", hour));
    }
    svg_.text(kTimelineLeft + kTimelineWidth / 2, kTimelineTop + height_ + 36, "m", "hours");
  }

  void draw_nodes() {
    double at = kTimelineTop;
    for (const core::Pool& pool : platform_.pools)
      for (int node = 0; node < pool.nodes; ++node) {
        const double node_height = row_height_ * pool.gpus_per_node;
        svg_.line(kTimelineLeft - 8, at, kTimelineLeft + kTimelineWidth, at, "n");
        if (node_height >= 12)
          svg_.text(kTimelineLeft - 12, at + node_height / 2 + 4, "e",
                    format("{} {}", pool.type.str(), node));
        at += node_height;
      }
  }

  void draw_bar(const Bar& bar) {
    const core::PlanTask& task = tasks_[bar.task];
    const std::string_view fill = task.qos == QosClass::kUrgent  ? "u"
                                  : task.qos == QosClass::kPrior ? "p"
                                                                 : "r";
    const std::string tip =
        format("task {}: {}, {}, {:.2f}-{:.2f} h{}, deadline {:.2f} h", task.id, task.type,
               to_string(task.qos), bar.from_s / kHour_s, bar.to_s / kHour_s,
               bar.preempted ? " (preempted)" : "", task.deadline_s / kHour_s);
    svg_.rect(x(bar.from_s), y(bar.row), x(bar.to_s) - x(bar.from_s), row_height_,
              format("{} {}", fill, missed(bar.task) ? "l" : "b"), tip);
  }

  void draw_marks(const Bar& bar) {
    const double top = y(bar.row);
    if (bar.preempted) {
      draw_cross(x(bar.to_s), top + row_height_ / 2, std::min(5.0, row_height_ / 2));
      return;
    }
    const double deadline_s = tasks_[bar.task].deadline_s;
    if (deadline_s <= last_s_)
      svg_.line(x(deadline_s), top, x(deadline_s), top + row_height_ * 0.6, "t");
  }

  void draw_cross(double cx, double cy, double half) {
    svg_.line(cx - half, cy - half, cx + half, cy + half, "x");
    svg_.line(cx - half, cy + half, cx + half, cy - half, "x");
  }

  const core::TaskTable& tasks_;
  const Platform& platform_;
  const Outcome& outcome_;
  Rows rows_;
  std::vector<Bar> bars_;
  double row_height_;
  double height_;
  double last_s_ = 1;
  wire::Svg svg_;
};

}  // namespace

std::vector<double> axis_marks(double last) {
  constexpr double kMostSteps = 12;
  double step = 0.1;
  for (int i = 0; step * kMostSteps < last; ++i)
    step *= i % 3 == 1 ? 2.5 : 2;  // 0.1, 0.2, 0.5, 1 ...
  std::vector<double> marks;
  for (int i = 0; step * i <= last; ++i)
    marks.push_back(step * i);
  return marks;
}

std::string timeline_svg(const core::TaskTable& tasks, const Platform& platform,
                         const Outcome& outcome, std::string_view title) {
  return Chart(tasks, platform, outcome, title).draw();
}

}  // namespace slackline::sim
