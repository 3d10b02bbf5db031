// What right-sizing says of tasks and families.
#include <string>

#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

auto amount_text(double AdviceView::* member) {
  return [member](const AdviceView& advice) {
    constexpr double kGibi = 1024.0 * 1024 * 1024;
    const double amount = advice.*member;
    if (advice.resource == "memory") return format("{:.1f} GiB", amount / kGibi);
    return advice.resource == "gpus" && member != &AdviceView::used ? format("{:.0f}", amount)
                                                                    : format("{:.1f}", amount);
  };
}

}  // namespace

template <>
const Columns<ResizeView>& columns<ResizeView>() {
  using C = Column<ResizeView>;
  static const Columns<ResizeView> kColumns = {
      "Resize",
      {
          C("mode", &ResizeView::mode).one_of({"advise", "auto"}),
          C("state", &ResizeView::state,
            "What is made of the advice; from tooSmall on: why auto does not apply it")
              .one_of({"suggested", "applied", "tooSmall", "frozen", "trial", "askedAnew",
                       "othersChanged"}),
          C("advice", &ResizeView::texts, "With evidence, confidence and effect"),
          C("asked", &ResizeView::asked, "Of a run that was resized: the shape as written"),
      }};
  return kColumns;
}

template <>
const Columns<AdviceView>& columns<AdviceView>() {
  using C = Column<AdviceView>;
  using Advice = const AdviceView&;
  static const Columns<AdviceView> kColumns = {
      "Advice",
      {
          C("gpuType", &AdviceView::gpu_type).cell("GPU TYPE"),
          C("resource", &AdviceView::resource, "CPU in cores and memory in bytes of a pod")
              .one_of({"gpus", "cpuRequest", "cpuLimit", "memory"})
              .cell("RESOURCE"),
          C("asked", &AdviceView::asked).cell(">ASKED", amount_text(&AdviceView::asked)),
          C("advised", &AdviceView::advised).cell(">ADVISED", amount_text(&AdviceView::advised)),
          C("used", &AdviceView::used, "That the number comes from")
              .cell(">USED", amount_text(&AdviceView::used)),
          C("raise", &AdviceView::raise, "It is above what was asked for"),
          C("runs", &AdviceView::runs, "That are the evidence").cell(">RUNS"),
          C("from", [](Advice advice) { return Time{advice.from_s}; }).cell("FROM").wide(),
          C("to", [](Advice advice) { return Time{advice.to_s}; }).cell("TO").wide(),
          C("measured", &AdviceView::coverage, "The least part of a run that was measured, 0..1"),
          C("confidence", &AdviceView::confidence)
              .one_of({"low", "medium", "high"})
              .cell("CONFIDENCE"),
          C(
              "runSeconds", [](Advice advice) { return seconds_of(advice.run_s); },
              "Of GPUs: a run as asked")
              .cell(">~RUN TIME"),
          C(
              "advisedRunSeconds", [](Advice advice) { return seconds_of(advice.advised_run_s); },
              "Likewise, as advised")
              .cell(">~ADVISED RUN TIME"),
          C(
              "basis", [](Advice advice) { return if_any(advice.basis); },
              "Of these times: a throughput model, or the past, as if it took as long as before")
              .one_of({"model", "past"}),
          C("gpuHoursReturned", &AdviceView::gpu_hours_returned, "Of GPUs, by a run")
              .cell(">~GPU-HOURS RETURNED",
                    [](Advice advice) {
                      return advice.gpu_hours_returned
                                 ? format("{:.1f}", *advice.gpu_hours_returned)
                                 : "";
                    }),
          C("deadlineKept", &AdviceView::deadline_kept,
            "Of GPUs, started now, by a model; absent: none says")
              .cell("~DEADLINE KEPT"),
          C("text", &AdviceView::text, "All of it, for people").cell("TEXT").wide(),
      }};
  return kColumns;
}

}  // namespace slackline::wire
