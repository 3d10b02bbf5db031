// AnswerQuery: what people ask of the queue's future: why a task waits and what would help it, when
// it will run, what one that is not submitted would get, what a change of the cluster would do.
//
// Every answer is made of one reading of the queue by the functions that plan it (core/answers), in
// limited time: what there is no time for is counted or marked as not tried. Nothing is written,
// and neither journal nor metrics learn of a question.
//
// Thread-safe: one question at a time. The viewer is asked after the lock is released.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/answers/viewer.h"
#include "message/answer_views.h"
#include "message/portrait_views.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"
#include "slackline/model/pod.h"

namespace slackline::cluster {
class ClusterSource;
}

namespace slackline::control {

struct Known;
struct PlannerOptions;
struct PlannerView;
struct WrittenBook;

// Where the time goes: plans that have begun are not cut short by more than one call of the policy.
struct AnswerTimes {
  double why_s = 0.7;
  double quote_s = 0.15;      // with up to kQuickQueue waiting tasks
  double long_quote_s = 0.8;  // with more
  double what_if_s = 20;
};
inline constexpr std::size_t kQuickQueue = 1000;

// A Job, or a pod that starts by itself, as it would be submitted. Exactly one is set.
struct PostedTask {
  std::shared_ptr<const Job> job{};
  std::shared_ptr<const Pod> pod{};
  std::optional<double> deadline_s{};  // in place of its own
};

// Exactly one is set.
struct WhatIfQuestion {
  std::string drain{};  // nodes, by comma
  std::string add{};    // "4xA100x8": nodes, GPU type, GPUs of each
  std::string policy{};
};

struct CalendarQuestion {
  std::string gpu_type{};  // empty: all
  double days = 3;
};

class AnswerQuery {
 public:
  // All references outlive it.
  AnswerQuery(const PlannerOptions& options, const Published<Known>& known,
              const cluster::ClusterSource& source, const Published<PlannerView>& planner,
              const Published<WrittenBook>& books, const Clock& clock, AnswerTimes times = {});
  ~AnswerQuery();

  // kNotFound: it neither waits nor has a plan.
  Result<EtaView> eta(const ObjectKey& task);
  // `node`: also what it says of this one; kNotFound: there is no such node.
  Result<ExplainView> explain(const ObjectKey& task, const std::string& node, Viewer viewer);
  Result<QuoteView> quote(const PostedTask& task, Viewer viewer);
  // kInvalidArgument names the part of the question that is wrong.
  Result<WhatIfView> what_if(const WhatIfQuestion& question, Viewer viewer);
  // What a Job should ask for by what its family used, on every GPU type that it may run on and on
  // which there is evidence. kNotFound: there is no such Job, or nothing is known.
  Result<std::vector<AdviceView>> advice(const ObjectKey& job);
  Result<std::vector<CalendarRow>> calendar(const CalendarQuestion& question);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slackline::control
