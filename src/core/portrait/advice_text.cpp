#include <string>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/portrait/advice.h"

namespace slackline::core {
namespace {

std::string times(const GpuAdvice& advice) {
  if (!advice.asked_run_s || !advice.advised_run_s) return {};
  if (!advice.modelled)
    return format("; {:.1f} GPU-hours a run returned if it takes {} as before",
                  *advice.gpu_hours_returned, format_duration(*advice.asked_run_s));
  std::string text = format("; predicted {} instead of {}, {:.1f} GPU-hours returned",
                            format_duration(*advice.advised_run_s),
                            format_duration(*advice.asked_run_s), *advice.gpu_hours_returned);
  if (advice.deadline_kept) text += *advice.deadline_kept ? ", deadline kept" : ", deadline missed";
  return text;
}

std::string runs_text(const Evidence& evidence) {
  return evidence.runs == 1 ? std::string("the last run")
                            : format("the last {} runs", evidence.runs);
}

std::string amount_text(AdvisedAmount what, double amount) {
  constexpr double kGibi = 1024.0 * 1024 * 1024;
  constexpr double kMilli = 1000;
  if (what == AdvisedAmount::kMemory) return format("{:.1f} GiB", amount / kGibi);
  return format("{:.2f} CPUs", amount / kMilli);
}

}  // namespace

std::string_view to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::kLow:
      return "low";
    case Confidence::kMedium:
      return "medium";
    case Confidence::kHigh:
      return "high";
  }
  return "";
}

std::string explain(const GpuAdvice& advice) {
  constexpr double kPercent = 100;
  const int asked = advice.asked.gpus();
  std::string text =
      format("{} used {:.1f} of {} ({:.0f} % of their time, at most {:.0f} % of their memory): ",
             runs_text(advice.evidence), asked * advice.utilisation, counted(asked, "GPU"),
             advice.utilisation * kPercent, advice.memory_share * kPercent);
  if (advice.advised == advice.asked) return text + "the request stays";
  return text + format("{} ({}) {} enough{} (confidence {})", advice.advised.gpus(),
                       advice.advised.str(), advice.advised.gpus() == 1 ? "is" : "are",
                       times(advice), to_string(advice.evidence.confidence));
}

std::string explain(AdvisedAmount what, const AmountAdvice& advice) {
  const bool mean = what == AdvisedAmount::kCpuRequest;
  const std::string used =
      advice.shortage ? std::string("ended for lack of it")
                      : format("used {}{}", mean ? "" : "at most ", amount_text(what, advice.used));
  return format("asks for {}{}, {} {}{}: {}{} (confidence {})",
                amount_text(what, static_cast<double>(advice.asked)),
                what == AdvisedAmount::kMemory     ? " of memory"
                : what == AdvisedAmount::kCpuLimit ? " at most"
                                                   : "",
                advice.shortage ? std::string("runs") : runs_text(advice.evidence), used,
                mean && !advice.shortage ? " in the mean" : "",
                amount_text(what, static_cast<double>(advice.advised)),
                advice.raise ? " are needed" : " are enough",
                to_string(advice.evidence.confidence));
}

}  // namespace slackline::core
