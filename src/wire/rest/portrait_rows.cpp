// What families of tasks use.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

using Family = const PortraitView&;

template <class Get>
auto of_portrait(Get get) {
  return [get](Family view) { return std::invoke(get, view.portrait); };
}

template <class T>
auto of_identity(T PortraitIdentity::* member) {
  return [member](Family view) { return view.portrait.identity.*member; };
}

std::int64_t ended(Family view, RunOutcome outcome) {
  return view.portrait.outcomes[static_cast<std::size_t>(outcome)];
}

const PortraitUseView* use_of(Family view, UsageKind kind) {
  for (const PortraitUseView& use : view.use)
    if (use.kind == kind) return &use;
  return nullptr;
}

std::string percent_text(Family view, UsageKind kind, double PortraitUseView::* member) {
  const PortraitUseView* use = use_of(view, kind);
  return use == nullptr ? "" : format("{:.0f}", 100 * (*use).*member);
}

std::optional<Seconds> mean_of(const Tally& tally) {
  return tally.runs > 0 ? std::optional(Seconds{tally.mean()}) : std::nullopt;
}

std::optional<Time> when(double epoch_s) {
  return epoch_s > 0 ? std::optional(Time{epoch_s}) : std::nullopt;
}

std::string cores_text(Family view) {
  const PortraitUseView* use = use_of(view, UsageKind::kCpu);
  return use == nullptr ? "" : format("{:.1f}", use->p95);
}

std::string memory_text(Family view) {
  const PortraitUseView* use = use_of(view, UsageKind::kMemory);
  return use == nullptr ? "" : format("{:.1f}", use->p95 / (1024.0 * 1024 * 1024));
}

// "2 GPUs instead of 4, 4.6 GiB instead of 64.0"
std::string advice_text(Family view) {
  constexpr double kGibi = 1024.0 * 1024 * 1024;
  std::vector<std::string> parts;
  for (const AdviceView& advice : view.advice) {
    if (advice.advised == advice.asked || advice.asked <= 0) continue;
    if (advice.resource == "gpus")
      parts.push_back(format("{:.0f} GPUs instead of {:.0f}", advice.advised, advice.asked));
    else if (advice.resource == "memory")
      parts.push_back(
          format("{:.1f} GiB instead of {:.1f}", advice.advised / kGibi, advice.asked / kGibi));
    else if (advice.resource == "cpuRequest")
      parts.push_back(format("{:.1f} CPUs instead of {:.1f}", advice.advised, advice.asked));
  }
  return join(parts, ", ");
}

std::string gpus_text(Family view) {
  return view.portrait.runs() == 0 ? "" : view.portrait.asked.str();
}

}  // namespace

template <>
const Columns<PortraitUseView>& columns<PortraitUseView>() {
  using C = Column<PortraitUseView>;
  static const Columns<PortraitUseView> kColumns = {
      "PortraitUse",
      {
          C(
              "resource", [](const PortraitUseView& use) { return to_string(use.kind); },
              "cpu in cores and memory in bytes of a pod; gpu and gpuMemory as shares 0..1"),
          C("median", &PortraitUseView::median),
          C("p95", &PortraitUseView::p95),
      }};
  return kColumns;
}

template <>
const Columns<PortraitTimeView>& columns<PortraitTimeView>() {
  using C = Column<PortraitTimeView>;
  static const Columns<PortraitTimeView> kColumns = {
      "PortraitTime",
      {
          C("gpuType", &PortraitTimeView::gpu_type),
          C("gpus", &PortraitTimeView::gpus),
          C("medianSeconds", &PortraitTimeView::median_s),
          C("lowSeconds", &PortraitTimeView::low_s, "9 of 10 runs end between low and high"),
          C("highSeconds", &PortraitTimeView::high_s),
          C("runs", &PortraitTimeView::runs),
          C("earned", &PortraitTimeView::earned, "The interval is measured, not assumed"),
      }};
  return kColumns;
}

namespace {

using PortraitColumns = std::vector<Column<PortraitView>>;

PortraitColumns family_columns() {
  using C = Column<PortraitView>;
  return {
      C("key", &PortraitView::key),
      C(
          "match", [](Family view) { return if_any(view.match); },
          "With job=: exact, of its family; similar, borrowed from the nearest one")
          .cell("~MATCH"),
      C("distance", &PortraitView::distance, "Of a similar one: 0 is the same"),
      C("namespace", of_identity(&PortraitIdentity::department)).cell("NAMESPACE"),
      C("name", &PortraitView::name, "The family as declared, else the owner of its runs")
          .cell("FAMILY"),
      C("image", of_identity(&PortraitIdentity::image)).cell("IMAGE").wide(),
      C("model", [](Family view) { return if_any(view.portrait.identity.model); }).cell("~MODEL"),
      C("framework", of_identity(&PortraitIdentity::framework)).cell("KIND").wide(),
      C("mode", [](Family view) { return to_string(view.portrait.identity.mode); }),
      C("imageDigest", [](Family view) { return if_any(view.portrait.image_digest); }),
      C("version", of_portrait(&Portrait::version), "Grows with every other image digest")
          .cell(">VERSION")
          .wide(),
      C(
          "gpuType", [](Family view) { return if_any(view.gpu_type); }, "Of the last run")
          .cell("GPU TYPE"),
      C::only_cell("ASKED", gpus_text),
      C(
          "gpus", [](Family view) { return view.portrait.asked.gpus(); }, "That it asked for"),
  };
}

PortraitColumns run_columns() {
  using C = Column<PortraitView>;
  return {
      C("runs", of_portrait(&Portrait::runs)).cell(">RUNS"),
      C("succeeded", [](Family view) { return ended(view, RunOutcome::kSucceeded); }),
      C(
          "failed",
          [](Family view) { return view.portrait.runs() - ended(view, RunOutcome::kSucceeded); },
          "Those that were short of memory included")
          .cell(">~FAILED"),
      C("outOfMemory", [](Family view) { return ended(view, RunOutcome::kOutOfMemory); })
          .cell(">OOM")
          .wide(),
      C("gpuOutOfMemory", [](Family view) { return ended(view, RunOutcome::kGpuOutOfMemory); }),
      C("preemptions", of_portrait(&Portrait::preemptions)).cell(">PREEMPTIONS").wide(),
      C(
          "meanRunSeconds", [](Family view) { return mean_of(view.portrait.runs_s); },
          "Of those that succeeded")
          .cell(">RUN TIME"),
      C("meanWaitSeconds",
        [](Family view) {
          return mean_of(view.portrait.waits_s);
        }).cell(">~WAITED"),
      C(
          "meanSpeed",
          [](Family view) {
            const Tally& speeds = view.portrait.speeds;
            return speeds.runs > 0 ? std::optional(speeds.mean()) : std::nullopt;
          },
          "Predicted / observed run time")
          .cell(">SPEED",
                [](Family view) {
                  const Tally& speeds = view.portrait.speeds;
                  return speeds.runs > 0 ? format("{:.2f}", speeds.mean()) : "";
                })
          .wide(),
  };
}

PortraitColumns use_columns() {
  using C = Column<PortraitView>;
  return {
      C(
          "cpuMilli", [](Family view) { return view.portrait.requests.cpu_milli; },
          "That a pod of the last run asked for"),
      C("memoryBytes", [](Family view) { return view.portrait.requests.memory_bytes; }),
      C("use", &PortraitView::use, "What was measured of it; empty: nothing"),
      C::only_cell(">GPU %",
                   [](Family view) {
                     return percent_text(view, UsageKind::kGpu, &PortraitUseView::median);
                   }),
      C::only_cell(">GPU MEM %",
                   [](Family view) {
                     return percent_text(view, UsageKind::kGpuMemory, &PortraitUseView::p95);
                   }),
      C::only_cell(">CPU", cores_text),
      C::only_cell(">MEM GIB", memory_text),
      C("evidence", &PortraitView::evidence, "Runs that advice rests on").cell(">EVIDENCE").wide(),
      C("score", &PortraitView::score, "How well it uses the GPUs that it gets, 0..1"),
      C("level", &PortraitView::level, "1 to 10; 5 where nothing was measured").cell(">LEVEL"),
      C("runTimes", &PortraitView::times, "By its own past, per GPU type and number of GPUs"),
      C("advice", &PortraitView::advice,
        "What the next run should ask for, by what the last ones used; empty: nothing is known")
          .cell("ADVICE", advice_text)
          .wide(),
      C(
          "resizeKept", [](Family view) { return when(view.portrait.resizing.kept_s); },
          "When a run ended well that right-sizing had changed; absent: none has"),
      C(
          "resizeRolledBack",
          [](Family view) { return when(view.portrait.resizing.rolled_back.at_s); },
          "When such a run showed that it was too small or too slow; absent: none has"),
      C(
          "resizeFailure",
          [](Family view) { return if_any(to_string(view.portrait.resizing.rolled_back.failure)); },
          "Why it was")
          .one_of({"OOMKilled", "GpuOutOfMemory", "Slow"}),
      C(
          "resizeFrozenUntil", [](Family view) { return time_of(view.frozen_until_s); },
          "Its runs are as written until then; absent: they may be resized"),
      C("first", [](Family view) { return when(view.portrait.first_s); }),
      C("last", [](Family view) { return when(view.portrait.last_s); }).cell("LAST RUN"),
      C(
          "packed", [](Family view) { return if_any(view.packed); },
          "All of it, for POST; only with packed=true"),
  };
}

}  // namespace

template <>
const Columns<PortraitView>& columns<PortraitView>() {
  static const Columns<PortraitView> kColumns = [] {
    PortraitColumns all;
    for (const PortraitColumns& part : {family_columns(), run_columns(), use_columns()})
      all.insert(all.end(), part.begin(), part.end());
    return Columns<PortraitView>{"Portrait", std::move(all)};
  }();
  return kColumns;
}

}  // namespace slackline::wire
