#include "slackline/core/cluster/resizing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "slackline/base/text.h"
#include "slackline/core/cluster/pod_admission.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/shapes.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/portrait/run_time.h"
#include "slackline/model/pod_ask.h"

namespace slackline::core {
namespace {

constexpr std::int64_t kMebi = std::int64_t{1} << 20;

std::string cpu_text(std::int64_t milli) {
  constexpr std::int64_t kMilli = 1000;
  return milli % kMilli == 0 ? format("{}", milli / kMilli) : format("{}m", milli);
}

// In whole Mi or Gi, as the API server writes it.
std::string memory_text(std::int64_t bytes) {
  constexpr std::int64_t kMebisOfGibi = 1024;
  const std::int64_t mebis = bytes / kMebi + (bytes % kMebi != 0 ? 1 : 0);
  return mebis % kMebisOfGibi == 0 ? format("{}Gi", mebis / kMebisOfGibi) : format("{}Mi", mebis);
}

void advise_cpu_of(const Advice& advice, ContainerAmounts& amounts) {
  if (!advice.cpu_request || !advice.cpu_limit) return;
  const bool limited = !amounts.cpu_limit.empty();
  const bool equal = limited && (amounts.cpu_request.empty() ||
                                 requested_cpu_milli(amounts) == limited_cpu_milli(amounts));
  const bool limit_matters = limited && matters(advice.cpu_limit);
  if (equal && limit_matters) {
    if (!amounts.cpu_request.empty()) amounts.cpu_request = cpu_text(advice.cpu_limit->advised);
    amounts.cpu_limit = cpu_text(advice.cpu_limit->advised);
    return;
  }
  if (equal) return;
  if (limit_matters) amounts.cpu_limit = cpu_text(advice.cpu_limit->advised);
  if (!amounts.cpu_request.empty() && matters(advice.cpu_request))
    amounts.cpu_request = cpu_text(advice.cpu_request->advised);
  // The limit may stay where it is, or the request.
  const auto limit = limited_cpu_milli(amounts);
  if (limit && requested_cpu_milli(amounts) > *limit) amounts.cpu_request = amounts.cpu_limit;
}

void advise_memory_of(const Advice& advice, ContainerAmounts& amounts) {
  if (!matters(advice.memory)) return;
  const std::string advised = memory_text(advice.memory->advised);
  const ContainerAmounts before = amounts;
  if (!amounts.memory_request.empty()) amounts.memory_request = advised;
  if (amounts.memory_limit.empty()) return;
  ContainerAmounts of_limit;
  of_limit.memory_limit = before.memory_limit;
  const std::int64_t limit = requested_memory_bytes(of_limit);
  const std::int64_t had = requested_memory_bytes(before);
  if (had == limit || requested_memory_bytes(amounts) > limit) {
    amounts.memory_limit = advised;
  } else if (advice.memory->shortage && had > 0 && advice.memory->advised > had) {
    // The limit ended a run, whatever was asked for.
    const double growth = static_cast<double>(advice.memory->advised) / static_cast<double>(had);
    amounts.memory_limit =
        memory_text(static_cast<std::int64_t>(static_cast<double>(limit) * growth));
  }
}

}  // namespace

bool matters(const std::optional<AmountAdvice>& advice) {
  if (!advice || advice->asked <= 0) return false;
  const auto asked = static_cast<double>(advice->asked);
  return std::abs(static_cast<double>(advice->advised) - asked) >= kLeastChange * asked;
}

ResizeMode resize_mode(const ClusterSnapshot& snapshot, const QueueRulebook* queues,
                       const std::string& ns, const TaskIntent& intent) {
  if (intent.resize) return *intent.resize;
  if (const Namespace* of = snapshot.find_namespace(ns); of != nullptr && of->resize)
    return *of->resize;
  static const QueueRules kDefaults;
  return queues == nullptr ? kDefaults.resize : queues->of(queue_of(intent, ns), ns).resize;
}

std::string_view to_string(ResizeHold hold) {
  switch (hold) {
    case ResizeHold::kNone:
      break;
    case ResizeHold::kAdvise:
      return "advise";
    case ResizeHold::kTooSmall:
      return "tooSmall";
    case ResizeHold::kFrozen:
      return "frozen";
    case ResizeHold::kTrial:
      return "trial";
    case ResizeHold::kAskedAnew:
      return "askedAnew";
    case ResizeHold::kOthersChanged:
      return "othersChanged";
  }
  return "";
}

const SizedType* Resizing::on(const GpuType& type) const {
  for (const SizedType& sized : types)
    if (sized.gpu_type == type) return &sized;
  return nullptr;
}

bool Resizing::changes() const {
  return std::any_of(types.begin(), types.end(),
                     [](const SizedType& sized) { return sized.changes(); });
}

// What is asked for one Job.
struct Resizer::Question {
  const Job& job;
  const TaskIntent& intent;
  TaskRequest request{};  // as written
  Placement asked{};
  PodRequests requests{};
  std::string family{};  // its key
  PortraitPtr portrait{};
  std::optional<double> time_left_s{};
  bool may_change_shape = false;
};

Resizer::Resizer(const ClusterSnapshot& snapshot, const Situation& situation)
    : snapshot_(snapshot), situation_(situation) {
  if (situation.portraits == nullptr || situation.portraits->portraits.empty()) return;
  pools_ = derive_pools(snapshot, *situation.catalog);
  static const TaskIntent kNothing;
  for (const JobPtr& job : snapshot.jobs) {
    if (job->finished) continue;
    const bool too_small = job->preemptions && job->preemptions->too_small != ResizeFailure::kNone;
    const bool resized = job->plan && job->plan->resize;
    const TaskIntent& intent = job->intent ? *job->intent : kNothing;
    const bool waits = job->waits_with_us() && !too_small && !intent.hold.value_or(false) &&
                       intent.depends_on.empty() && mode_of(*job, intent) == ResizeMode::kAuto;
    if (!too_small && !resized && !waits) continue;
    const std::string family = portrait_key(identity_of(*job));
    if (too_small) too_small_.insert(family);
    if (resized) running_trial_.emplace(family, job->uid);
    if (!waits) continue;
    JobPtr& oldest = oldest_waiting_[family];
    if (!oldest || std::tie(job->created_s, job->key) < std::tie(oldest->created_s, oldest->key))
      oldest = job;
  }
}

ResizeMode Resizer::mode_of(const Job& job, const TaskIntent& intent) const {
  if (job.is_calibration()) return ResizeMode::kOff;  // it measures the shape that was ordered
  const ResizeMode mode = resize_mode(snapshot_, situation_.queues, job.key.ns, intent);
  return starts_one_by_one(job) ? std::min(mode, ResizeMode::kAdvise) : mode;  // opened as written
}

ResizingPtr Resizer::of(const Job& job, const TaskIntent& intent) const {
  if (pools_.empty()) return nullptr;
  auto resizing = std::make_shared<Resizing>();
  resizing->mode = mode_of(job, intent);
  if (resizing->mode == ResizeMode::kOff) return nullptr;
  const PortraitPtr portrait = family_of(situation_.portraits.get(), &job);
  if (!portrait || portrait->recent.empty()) return nullptr;
  const Question question = ask(job, intent, portrait);
  resizing->asked = question.asked;
  resizing->hold = resizing->mode == ResizeMode::kAuto ? hold_of(question, resizing->trial)
                                                       : ResizeHold::kAdvise;
  for (const Pool* pool : accepted_pools(question)) {
    SizedType one = sized(question, *pool);
    if (!one.advice.any()) continue;
    if (resizing->hold != ResizeHold::kNone) {
      one.shape.reset();
      one.amounts.reset();
    }
    resizing->types.push_back(std::move(one));
  }
  if (resizing->types.empty()) return nullptr;
  return resizing;
}

Resizer::Question Resizer::ask(const Job& job, const TaskIntent& intent,
                               const PortraitPtr& portrait) const {
  Question question{.job = job, .intent = intent};
  const PodPtr member = written_pod(job);
  const std::string resource = primary_gpu_resource(member->requests);
  const std::int64_t gpus = member->requests.gpu_count(resource);
  question.request = {resource, std::max<std::int64_t>(1, written_pods(job)), gpus,
                      job.nodes_may_change(), job.gpus_may_change()};
  question.request.spread = spread_of(job.constraints.get());
  question.asked = clamped_placement(question.request.pods, gpus);
  question.requests = written_requests(job);
  question.family = portrait_key(portrait->identity);
  question.portrait = portrait;
  question.may_change_shape = shape_may_change(intent, question.request);
  const auto lat11_s = reference_lat_s({intent, resource, *situation_.catalog},
                                       *situation_.predictor, snapshot_.node_table.types);
  const double created_s = job.created_s > 0 ? job.created_s : situation_.now_wall_s;
  if (const auto deadline_s = resolve_deadline(intent, created_s, lat11_s))
    question.time_left_s = *deadline_s - situation_.now_wall_s;
  return question;
}

std::vector<const Pool*> Resizer::accepted_pools(const Question& question) const {
  const AcceptedTypes accepted(question.intent, *situation_.catalog, question.request.resource);
  std::vector<std::pair<int, const Pool*>> open;
  for (const Pool& pool : pools_)
    if (const auto preference = accepted.preference(pool.type);
        preference && pool.resource == question.request.resource)
      open.emplace_back(*preference, &pool);
  std::stable_sort(open.begin(), open.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Pool*> pools;
  for (const auto& [preference, pool] : open)
    pools.push_back(pool);
  return pools;
}

ResizeHold Resizer::hold_of(const Question& question, bool& trial) const {
  const Job& job = question.job;
  const Portrait& portrait = *question.portrait;
  if (job.preemptions && job.preemptions->too_small != ResizeFailure::kNone)
    return ResizeHold::kTooSmall;
  const ResizeRecord& record = portrait.resizing;
  const double failed_s = record.rolled_back.at_s;
  const bool was_too_small = failed_s > 0 && situation_.now_wall_s < failed_s + kResizeFrozen_s;
  if (was_too_small || too_small_.contains(question.family)) return ResizeHold::kFrozen;
  if (portrait.asked != question.asked || portrait.requests != question.requests)
    return ResizeHold::kAskedAnew;
  if (portrait.others_changed) return ResizeHold::kOthersChanged;
  if (record.kept_s > failed_s) return ResizeHold::kNone;
  if (const auto running = running_trial_.find(question.family);
      running != running_trial_.end() && running->second != job.uid)
    return ResizeHold::kTrial;
  if (const auto oldest = oldest_waiting_.find(question.family);
      oldest != oldest_waiting_.end() && oldest->second->uid != job.uid)
    return ResizeHold::kTrial;
  trial = true;
  return ResizeHold::kNone;
}

bool Resizer::would_be_refused(const Job& job, const ContainerAmounts& amounts) const {
  if (snapshot_.admission == nullptr || job.ask == nullptr) return false;
  auto resized = std::make_shared<Job>(job);
  auto ask = std::make_shared<PodAsk>(*job.ask);
  ContainerAmounts limits;
  limits.memory_limit = amounts.memory_limit;
  for (ContainerAsk& container : ask->containers) {
    if (!container.requests.wants_gpus()) continue;
    container.requests.cpu_milli = requested_cpu_milli(amounts);
    container.requests.memory_bytes = requested_memory_bytes(amounts);
    container.limits.cpu_milli = limited_cpu_milli(amounts).value_or(0);
    container.limits.memory_bytes = requested_memory_bytes(limits);
  }
  resized->ask = std::move(ask);
  const JobPtr admitted = with_admission(std::move(resized), *snapshot_.admission);
  return admitted->constraints != nullptr && !admitted->constraints->refused.empty();
}

SizedType Resizer::sized(const Question& question, const Pool& pool) const {
  SizedType one;
  one.gpu_type = pool.type;
  const AdviceQuestion asked{.match = PortraitMatch::kExact,
                             .asked = question.asked,
                             .requests = question.requests,
                             .gpu_type = pool.type,
                             .shapes = offers(question, pool),
                             .time_left_s = question.time_left_s,
                             .now_s = situation_.now_wall_s};
  one.advice = advise(*question.portrait, asked);
  const std::optional<GpuAdvice>& gpus = one.advice.gpus;
  if (question.may_change_shape && gpus && gpus->advised != gpus->asked) one.shape = gpus->advised;
  if (question.job.amounts) {
    const OriginalShape original = counted_original(question.job);
    const ContainerAmounts& written = original.amounts ? *original.amounts : *question.job.amounts;
    const ContainerAmounts advised = advised_amounts(written, one.advice);
    if (!same_amounts(advised, written) && !would_be_refused(question.job, advised))
      one.amounts = advised;
  }
  const std::span<const PastRun> past = question.portrait->past;
  auto time = run_time_from(past, pool.type, (one.shape ? *one.shape : question.asked).gpus());
  if (!time) time = run_time_from(past, pool.type, question.asked.gpus());
  if (time) one.expected_s = time->median_s;
  return one;
}

std::vector<ShapeOffer> Resizer::offers(const Question& question, const Pool& pool) const {
  const TaskIntent& intent = question.intent;
  std::vector<Placement> shapes = intent.placements;
  if (shapes.empty() || intent.any_placement) shapes = smaller_shapes(question.asked);
  shapes.push_back(question.asked);
  std::sort(shapes.begin(), shapes.end());
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  const std::int64_t batch = intent.batch_size.value_or(0);
  std::erase_if(shapes, [&](const Placement& shape) {
    if (shape == question.asked) return false;
    const bool fixed =
        question.may_change_shape &&
        ((!question.request.nodes_may_change && shape.d_node != question.asked.d_node) ||
         (!question.request.gpus_may_change && shape.d_gpn != question.asked.d_gpn));
    return fixed || shape.d_node > pool.nodes || shape.d_gpn > pool.gpus_per_node ||
           !divides(batch, shape.gpus());
  });
  const auto model = situation_.predictor->prepare(intent, pool.type);
  std::vector<ShapeOffer> offers;
  for (const Placement& shape : shapes) {
    offers.push_back({shape, std::nullopt});
    const auto run = model ? predicted_run(*model, intent, shape) : std::nullopt;
    if (run) offers.back().run_s = run->work_s + run->startup_s;
  }
  return offers;
}

std::vector<std::pair<GpuType, Placement>> sized_by(const PlanNote& plan) {
  if (!plan.resize || !plan.resize->shape) return {};
  return {{plan.gpu_type, *plan.resize->shape}};
}

std::vector<std::pair<GpuType, Placement>> sized_by(const Resizing& resizing) {
  std::vector<std::pair<GpuType, Placement>> sized;
  for (const SizedType& one : resizing.types)
    if (one.shape) sized.emplace_back(one.gpu_type, *one.shape);
  return sized;
}

PodPtr resized_member(const PodPtr& written, const Job& job, const Resizing& resizing) {
  if (!job.amounts) return written;
  const OriginalShape original = counted_original(job);
  const ContainerAmounts& before = original.amounts ? *original.amounts : *job.amounts;
  Resources most = written->requests;
  for (const SizedType& one : resizing.types) {
    if (!one.amounts) continue;
    Resources resized = written->requests;
    change_amounts(resized, before, *one.amounts);
    most = max_of(most, resized);
  }
  if (most == written->requests) return written;
  auto member = std::make_shared<Pod>(*written);
  member->requests = most;
  return member;
}

ContainerAmounts advised_amounts(const ContainerAmounts& written, const Advice& advice) {
  ContainerAmounts amounts = written;
  advise_cpu_of(advice, amounts);
  advise_memory_of(advice, amounts);
  return amounts;
}

std::vector<std::string> suggestions(const Resizing& resizing) {
  const Advice& advice = resizing.types.front().advice;
  std::vector<std::string> texts;
  if (advice.gpus && advice.gpus->advised != advice.gpus->asked)
    texts.push_back(format("asks for {}, {}", counted(advice.gpus->asked.gpus(), "GPU"),
                           explain(*advice.gpus)));
  if (matters(advice.memory)) texts.push_back(explain(AdvisedAmount::kMemory, *advice.memory));
  if (matters(advice.cpu_request))
    texts.push_back(explain(AdvisedAmount::kCpuRequest, *advice.cpu_request));
  if (matters(advice.cpu_limit))
    texts.push_back(explain(AdvisedAmount::kCpuLimit, *advice.cpu_limit));
  return texts;
}

}  // namespace slackline::core
