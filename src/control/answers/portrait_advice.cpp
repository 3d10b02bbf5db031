#include "control/answers/portrait_advice.h"

#include "slackline/base/text.h"
#include "slackline/core/cluster/resizing.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/portrait/advice.h"

namespace slackline::control {
namespace {

constexpr double kMega = 1e6;

core::AdviceQuestion question_of(const core::QueueTask& task, const core::Quote& quote,
                                 double now_s) {
  core::AdviceQuestion question;
  question.asked = clamped_placement(task.request.pods, task.request.gpus);
  const Resources& requests = task.member->requests;
  question.requests = {requests.cpu_milli, std::nullopt, requests.memory_bytes};
  question.now_s = now_s;
  for (const core::QuoteRow& row : quote.rows)
    if (question.gpu_type.empty() && row.accepted) question.gpu_type = row.gpu_type;
  question.shapes.push_back({question.asked, std::nullopt});
  for (const Placement& shape : core::smaller_shapes(question.asked))
    question.shapes.push_back({shape, std::nullopt});
  for (core::ShapeOffer& offer : question.shapes)
    for (const core::QuoteRow& row : quote.rows)
      if (row.shape == offer.shape && row.gpu_type == question.gpu_type) offer.run_s = row.run_s;
  return question;
}

}  // namespace

std::vector<std::string> portrait_advice(const core::QueueTask& task,
                                         const core::QueueOptions& options,
                                         const core::Quote& quote) {
  std::vector<std::string> lines;
  const auto portrait = core::family_of(options.portraits.get(), task.job.get());
  if (!portrait) return lines;
  const core::Advice advice = core::advise(*portrait, question_of(task, quote, options.now_wall_s));
  if (advice.gpus) lines.push_back("GPUs: " + core::explain(*advice.gpus));
  if (core::matters(advice.cpu_request))
    lines.push_back(format("CPU: ask for {:.1f} instead of {:.1f} cores of each pod",
                           static_cast<double>(advice.cpu_request->advised) / 1000,
                           static_cast<double>(advice.cpu_request->asked) / 1000));
  if (core::matters(advice.memory))
    lines.push_back(format("memory: ask for {:.0f} MB instead of {:.0f} MB of each pod",
                           static_cast<double>(advice.memory->advised) / kMega,
                           static_cast<double>(advice.memory->asked) / kMega));
  return lines;
}

}  // namespace slackline::control
