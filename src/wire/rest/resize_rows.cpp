// What right-sizing says of tasks and families.
#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {

template <>
const Columns<ResizeView>& columns<ResizeView>() {
  using C = Column<ResizeView>;
  static const Columns<ResizeView> kColumns = {
      "Resize",
      {
          C("mode", &ResizeView::mode).one_of({"advise", "auto"}),
          C("state", &ResizeView::state,
            "What is made of the advice; from tooSmall on: why auto does not apply it")
              .one_of({"suggested", "applied", "tooSmall", "frozen", "trial", "askedAnew"}),
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
          C("resource", &AdviceView::resource, "CPU in cores and memory in bytes of a pod")
              .one_of({"gpus", "cpuRequest", "cpuLimit", "memory"}),
          C("asked", &AdviceView::asked),
          C("advised", &AdviceView::advised),
          C("used", &AdviceView::used, "That the number comes from"),
          C("raise", &AdviceView::raise, "It is above what was asked for"),
          C("runs", &AdviceView::runs, "That are the evidence"),
          C("from", [](Advice advice) { return Time{advice.from_s}; }),
          C("to", [](Advice advice) { return Time{advice.to_s}; }),
          C("measured", &AdviceView::coverage, "The least part of a run that was measured, 0..1"),
          C("confidence", &AdviceView::confidence).one_of({"low", "medium", "high"}),
          C("gpuHoursReturned", &AdviceView::gpu_hours_returned, "Of GPUs, by a run"),
          C("text", &AdviceView::text, "All of it, for people"),
      }};
  return kColumns;
}

}  // namespace slackline::wire
