#include "slackline/core/cluster/queue.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "eligibility.h"
#include "losses/past_losses.h"
#include "other_runs.h"
#include "queue_tasks.h"
#include "scale_up.h"
#include "slackline/base/duration.h"
#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/budgets.h"
#include "slackline/core/cluster/calibration.h"
#include "slackline/core/cluster/depends.h"
#include "slackline/core/cluster/gang_places.h"
#include "slackline/core/cluster/near_ends.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/core/cluster/profiling.h"
#include "slackline/core/cluster/queue_shares.h"
#include "slackline/core/cluster/quota_menu.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/cluster/run_progress.h"
#include "slackline/core/cluster/spared_runs.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

// As the model of the task measured it; 0 where there is none, also where people state its length.
double startup_of(const PlacementMenu& menu) {
  return menu.empty() ? 0 : menu.fastest().startup_s;
}

// A Job that has not gone on by then waits its turn like others.
constexpr double kGoesOnWithin_s = 600;

// How long a new Job keeps its place while its controller has not noted Suspended=True: otherwise
// the younger of two would start if the controller sees it first.
constexpr double kHaltsWithin_s = 10;

const GangPlaces& gang_places_of(const QueueOptions& options) {
  static const GangPlaces kNone;
  return options.gang_places == nullptr ? kNone : *options.gang_places;
}

}  // namespace

bool runs_whole(const QueueTask& task) {
  return task.pods.empty() && runs_as_planned(task);
}

std::vector<PodPtr> Queue::bound_pods(const std::vector<TaskIndex>& tasks) const {
  std::vector<PodPtr> pods;
  for (const TaskIndex task : tasks)
    if (task < tasks_.size())
      pods.insert(pods.end(), tasks_[task].bound.begin(), tasks_[task].bound.end());
    else if (task - tasks_.size() < others_.size())  // no pods are behind later ones
      pods.push_back(others_[task - tasks_.size()]);
  return pods;
}

ObjectKey Queue::key_of_run(TaskIndex run) const {
  return run < tasks_.size() ? tasks_[run].key : known_as(*others_[run - tasks_.size()]);
}

class QueueMaker {
 public:
  QueueMaker(const ClusterSnapshot& snapshot, const QueueOptions& options, TaskMenus& menus)
      : snapshot_(snapshot),
        options_(options),
        rulebook_(options.queues == nullptr ? QueueRulebook() : *options.queues),
        menus_(menus),
        room_(snapshot, options.now_steady_s, options.now_wall_s),
        disruptions_(snapshot, room_.ending().pods(), options.now_wall_s),
        present_(snapshot, *options.catalog),
        resizer_(snapshot, options),
        quotas_(snapshot),
        gang_places_(gang_places_of(options)) {
    quotas_.charge_released(snapshot, options.now_steady_s, options.now_wall_s);
  }

  Queue make() {
    queue_.pools_ = find_pools(snapshot_, *options_.catalog);
    renew_menus();
    FoundTasks found =
        find_queue_tasks(snapshot_, options_.held_off, options_.stop, options_.now_wall_s);
    queue_.to_open_ = std::move(found.to_open);
    queue_.to_let_go_ = std::move(found.to_let_go);
    queue_.tasks_ = std::move(found.waiting);
    std::erase_if(queue_.tasks_, [&](const QueueTask& task) {
      if (task.hindrance && (task.hindrance->reason == reason::kPodsEnding ||
                             task.hindrance->reason == reason::kHeldByUser))
        return false;
      if (kept_place(task) != nullptr) return false;
      if (task.opens && !task.job->suspended) return false;
      return !may_start(task) && options_.now_wall_s > task.created_s + kHaltsWithin_s;
    });
    for (QueueTask& task : found.running)
      queue_.tasks_.push_back(std::move(task));
    for (QueueTask& task : found.let_go) {
      if (may_come_back(task))
        queue_.tasks_.push_back(std::move(task));
      else if (owning_job(snapshot_, *task.member) != nullptr)
        queue_.tasks_.push_back(running_unplanned(snapshot_, std::move(task)));
    }
    count_evictions();
    std::sort(queue_.tasks_.begin(), queue_.tasks_.end(),
              [](const QueueTask& a, const QueueTask& b) {
                return std::tie(a.created_s, a.key, a.kind, a.uid) <
                       std::tie(b.created_s, b.key, b.kind, b.uid);
              });
    prefer_types_of_queues(queue_.tasks_, rulebook_);
    hold_to_limits(queue_.tasks_, options_.queues);
    hold_calibrations(queue_.tasks_);
    if (options_.foresee || options_.reserves) foresee_runs();
    describe_tasks();
    if (is_asked(options_.stop)) return given_up();
    find_runs();
    lay_out_gpus();
    start_runs();
    return std::move(queue_);
  }

 private:
  static Queue given_up() {
    Queue nothing;
    nothing.gave_up_ = true;
    return nothing;
  }

  // As if younger pods of its controller had been evicted: one plan evicts no more than it may.
  void count_evictions() {
    std::map<Uid, std::int64_t> younger;
    for (auto task = queue_.tasks_.rbegin(); task != queue_.tasks_.rend(); ++task) {
      if (task->job || !is_replaced(*task->member)) continue;
      const Uid& controller = task->member->owner->uid;
      if (options_.stop_book != nullptr)
        task->evictions = options_.stop_book->count(controller, options_.now_wall_s);
      if (runs_alone(*task)) task->stops_before = younger[controller]++;
    }
  }

  const QueueRules& rules_of(const QueueTask& task) const {
    return rulebook_.of(queue_of(*task.intent, task.key.ns), task.key.ns);
  }

  void renew_menus() {
    std::vector<Pool> pools;
    for (const QueuePool& pool : queue_.pools_)
      pools.push_back(pool.pool);
    const std::vector<GpuType>& types = snapshot_.node_table.types;
    if (!menus_.made_for(pools, types, options_.predictor.get(), options_.theta))
      menus_ =
          TaskMenus(std::move(pools), types, *options_.catalog, options_.predictor, options_.theta);
  }

  void describe_tasks() {
    const bool looks_ahead = options_.reserves || options_.may_stop;
    std::optional<RoomTable> later;
    if (options_.foresee || looks_ahead || any_prefers_types(queue_.tasks_))
      later.emplace(once_gpu_pods_end(snapshot_, room_));
    Eligibility eligibility(snapshot_, queue_.pools_, room_, later ? &*later : nullptr,
                            options_.foresee, options_.refused);
    std::optional<Eligibility> once_free;
    if (looks_ahead && !options_.foresee)
      once_free.emplace(snapshot_, queue_.pools_, room_, &*later, true, options_.refused);
    std::vector<PlanTask> tasks;
    const std::vector<std::int64_t> keys = keys_of_equals(queue_.tasks_);
    number_accounts();
    for (QueueTask& task : queue_.tasks_) {
      if (is_asked(options_.stop)) return;
      const PortraitPtr family = family_of(options_.portraits.get(), task.job.get());
      // Only where its past counts: tasks of one request share a menu.
      if (!task.intent->expected_duration_s)
        task.request.past = past_of(options_.portraits.get(), task.job.get());
      resize(task, resizer_, kept_place(task) != nullptr);
      const TaskMenu& written = menu_of(task, eligibility);
      task.deadline_s = resolve_deadline(*task.intent, task.created_s, written.lat11_s);
      make_due_by_clocks(snapshot_, written, task);
      make_time_for_later_pods(snapshot_, written, task);
      const auto planned = menu_as_planned(task, written, menus_, options_.theta);
      const TaskMenu& menu = planned ? *planned : written;
      task.length = menu.length;
      PlanTask described;
      squared_errors_ += menu.error * menu.error;
      described.id = keys[tasks.size()];
      described.submit_s = task.created_s;
      described.deadline_s = task.deadline_s.value_or(kNoDeadline);
      described.level = level_of(family.get());
      described.qos = task.intent->qos_class.value_or(QosClass::kNormal);
      ask_for(task.request, menus_.pools(), described);
      described.type = task.intent->workload().value_or("");
      described.checkpoint_s =
          checkpoint_interval_s(task.plan.get(), *task.intent).value_or(kNever);
      described.preemptible = may_be_stopped(task);
      described.endless = options_.foresee && !task.length_known() && serves(*task.member);
      described.keeps_gpus = !rules_of(task).preemptible || !(task.job || comes_back(task));
      described.can_give_back =
          options_.may_stop && spared_as_run(task, options_.stop_book) == Spared::kNo;
      if (task.plan) describe_run(task, described);
      described.limit_s = limit_of_next_run_s(task);
      described.queue = number_of(task.account);
      described.menu = has_place(task) ? menu.menu : within_quotas(task, menu.menu);
      described.quotas = quota_needs(quotas_, task, *described.menu);
      if (const double startup_s = startup_of(*described.menu); startup_s > 0)
        described.restart_s = startup_s;
      described.fallback_after_s = rules_of(task).fallback_after_s;
      describe_nodes(task, eligibility, once_free ? &*once_free : nullptr, described);
      described.preference = eligibility.usable_of(menu.preference, task, described);
      if (!task.plan && !task.hindrance && rules_of(task).scale_up &&
          !present_.could_run(task, eligibility_key(*task.member)))
        scale_up(static_cast<TaskIndex>(tasks.size()));
      tasks.push_back(std::move(described));
    }
    if (options_.foresee) {
      for (const OtherRun& run : other_runs_) {
        const auto id = static_cast<std::int64_t>(tasks.size());
        tasks.push_back(task_of(run, id, number_of(""), menus_.pools()));
        tasks.back().quotas = quotas_.held(run.pod->key.ns, run.pod->requests, 1);
        queue_.others_.push_back(run.pod);
      }
      add_later_pods(snapshot_, queue_.tasks_, other_runs_, menus_, eligibility, tasks);
      come_after_dependencies(snapshot_, queue_.tasks_, other_runs_, tasks);
    }
    rest_ = RestNeeds(snapshot_, queue_.pools_, queue_.tasks_, other_runs_, tasks);
    queue_.table_ = std::make_unique<TaskTable>(std::move(tasks));
  }

  // `later`: by what is free once runs have ended; null: nobody asks for it.
  void describe_nodes(const QueueTask& task, Eligibility& eligibility, Eligibility* later,
                      PlanTask& described) {
    described.mixed = eligibility.mixed(task);
    if (!task.plan)
      described.eligible =
          described.mixed ? eligibility.of_all(*described.mixed) : eligibility.of(task);
    if (!task.plan && later && !described.mixed) eligibility.look_ahead(later->of(task), described);
    described.stops_others = task.plan || (eligibility.is_bound_where_it_fits(task) &&
                                           !was_refused(options_.stop_book, task.uid));
    if (!task.plan && eligibility.profilers() &&
        is_unknown_task(snapshot_, options_, *task.intent, task.job.get()))
      described.preferred = eligibility.profilers();
  }

  const TaskMenu& menu_of(QueueTask& task, Eligibility& eligibility) {
    eligibility.stay_in_reach(task, *menus_.of(*task.intent, task.request).menu);
    const TaskMenu& even = menus_.of(*task.intent, task.request);
    const GangPlaces::Place* again = gang_places_.kept_for(snapshot_, task);
    const PlanNote* place = again != nullptr ? again->plan.get() : task.plan.get();
    const bool may_start = !task.hindrance && kept_place(task) == nullptr;
    auto one_by_one = eligibility.one_by_one(task, even, place, may_start);
    if (!one_by_one) return even;
    const TaskMenu& uneven = menus_.of(*task.intent, *one_by_one);
    if (uneven.menu->empty() ||
        (place == nullptr && !eligibility.could_hold(task, *one_by_one, *uneven.menu)))
      return even;
    task.request = *std::move(one_by_one);
    return uneven;
  }

  void describe_run(QueueTask& task, PlanTask& described) const {
    described.last_checkpoint_s = task.intent->last_checkpoint_s;
    if (options_.near_ends != nullptr)
      described.near_end_since_s =
          options_.near_ends->since_s(task.uid, started_s(task).value_or(options_.now_wall_s));
    for (const PodPtr& pod : task.bound)
      described.grace_s = std::max(described.grace_s, pod->grace_s);
    described.disrupts = disruptions_.needs(task.bound);
    task.notice_s = rules_of(task).notice_s;
    const auto told = notice_of(task.bound);
    described.notice_s = told ? std::max(0.0, told->at_s - options_.now_wall_s) : task.notice_s;
    for (TaskIndex t = 0; told && t < queue_.tasks_.size(); ++t)
      if (!queue_.tasks_[t].plan && is_asker(*told, queue_.tasks_[t])) described.promised_to = t;
  }

  // By name: a queue with another task of the same accounts has the same numbers.
  void number_accounts() {
    std::set<std::string_view> accounts;
    for (QueueTask& task : queue_.tasks_) {
      task.account = rulebook_.account(queue_of(*task.intent, task.key.ns), task.key.ns);
      accounts.insert(task.account);
    }
    for (const std::string_view account : accounts)
      number_of(std::string(account));
  }

  QueueNumber number_of(const std::string& account) {
    const auto [at, first] =
        numbers_.try_emplace(account, static_cast<QueueNumber>(queue_.queue_names_.size()));
    if (first) queue_.queue_names_.push_back(account);
    return at->second;
  }

  bool may_be_stopped(const QueueTask& task) const {
    return options_.may_stop &&
           spared_for_others(task, rules_of(task), options_.stop_book, disruptions_) == Spared::kNo;
  }

  // Few ask where none waits.
  void foresee_runs() {
    const auto waits = [](const QueueTask& task) { return task.plan == nullptr; };
    if (!options_.foresee_always && std::none_of(queue_.tasks_.begin(), queue_.tasks_.end(), waits))
      return;
    other_runs_ = find_other_runs(snapshot_, queue_.pools_, room_.ending(), options_);
  }

  // A node that could run it has appeared: without a plan, tasks behind it would get that node.
  bool may_come_back(const QueueTask& task) {
    return rules_of(task).scale_up && present_.could_run(task, eligibility_key(*task.member));
  }

  void scale_up(TaskIndex index) {
    QueueTask& task = queue_.tasks_[index];
    if (task.request.pods > 1) {
      task.hindrance =
          Hindrance{reason::kGangCannotScaleUp,
                    task.request.of_each.empty()
                        ? format("{} pods of {} GPUs", task.request.pods, task.request.gpus)
                        : format("pods with GPUs: {}", listed(task.request.of_each))};
      return;
    }
    if (let_go_.insert(index); !may_start(task)) return;
    if (task.job && task.job->suspended)
      queue_.to_open_.push_back(task.job);
    else
      queue_.to_let_go_.insert(queue_.to_let_go_.end(), task.pods.begin(), task.pods.end());
  }

  std::shared_ptr<const PlacementMenu> within_quotas(
      QueueTask& task, const std::shared_ptr<const PlacementMenu>& menu) const {
    if (quotas_.empty() || menu->empty() || task.hindrance) return menu;
    auto admitted = admitted_menu(quotas_, task, menu, menus_.pools(), options_.theta);
    if (!admitted->empty()) return admitted;
    task.hindrance = Hindrance{reason::kQuotaExceeded, task.key.ns};
    return menu;
  }

  // It runs there, or goes on there.
  bool has_place(const QueueTask& task) const {
    return task.plan || kept_place(task) != nullptr ||
           gang_places_.kept_for(snapshot_, task) != nullptr;
  }

  // nullptr: it has none, or not any more.
  const PreemptionNote::GoesOn* kept_place(const QueueTask& task) const {
    if (task.plan || !task.job || !task.job->preemptions || !task.job->preemptions->goes_on)
      return nullptr;
    const PreemptionNote& note = *task.job->preemptions;
    if (options_.now_wall_s > note.at_s + kGoesOnWithin_s) return nullptr;
    const bool ends = task.hindrance && task.hindrance->reason == reason::kPodsEnding;
    if (task.hindrance && !ends) return nullptr;
    const bool starts_now = !ends && may_start(task);
    const bool pods_end = room_.ending().any_of(*task.job);
    const bool in_time = options_.now_wall_s <= note.at_s + kOverdue_s;
    return starts_now || pods_end || in_time ? &*note.goes_on : nullptr;
  }

  void find_runs() {
    runs_.resize(queue_.tasks_.size());
    for (TaskIndex t = 0; t < queue_.tasks_.size(); ++t) {
      const QueueTask& task = queue_.tasks_[t];
      const PlacementMenu& menu = *(*queue_.table_)[t].menu;
      if (task.plan)
        runs_[t] = planned_run(snapshot_, task, menu, queue_.pools_);
      else if (const PreemptionNote::GoesOn* on = kept_place(task))
        runs_[t] = planned_run(snapshot_, on->shape, on->gpu_type, on->nodes, menu, queue_.pools_);
      else
        runs_[t] = gang_places_.run_again(snapshot_, task, menu, queue_.pools_);
    }
    const bool planned = std::any_of(other_runs_.begin(), other_runs_.end(),
                                     [](const OtherRun& run) { return run.planned; });
    std::unordered_set<Uid> of_queue;  // pods whose run is that of a task of the queue
    for (TaskIndex t = 0; t < queue_.tasks_.size(); ++t)
      if (runs_[t] && (planned || !queue_.tasks_[t].is_planned()))
        for (const PodPtr& pod : queue_.tasks_[t].bound)
          of_queue.insert(pod->uid);
    const auto is_of_queue = [&](const OtherRun& run) { return of_queue.contains(run.pod->uid); };
    if (!options_.foresee) return void(std::erase_if(other_runs_, is_of_queue));
    for (const OtherRun& run : other_runs_) {
      runs_.emplace_back();
      if (is_of_queue(run)) continue;
      runs_.back() = PlannedRun{0, {run.node}};
      if (!run.known && !run.endless()) ++queue_.runs_of_unknown_length_;
    }
  }

  void lay_out_gpus() {
    std::vector<std::vector<int>> gpus = free_by_pool(queue_.pools_, room_);
    for (TaskIndex t = 0; t < runs_.size(); ++t)
      if (runs_[t] && t < queue_.tasks_.size() &&
          (queue_.tasks_[t].disruption || !queue_.tasks_[t].plan))
        keep_room_of_missing_pods(t, gpus);
    gang_places_.keep_room(snapshot_, queue_.pools_, gangs_that_came(), gpus);
    for (TaskIndex t = 0; t < runs_.size(); ++t) {
      if (!runs_[t]) continue;
      const Choice& choice = (*queue_.table_)[t].menu->all[runs_[t]->choice];
      std::vector<int>& of_pool = gpus[choice.pool];
      if (has_room_beside(of_pool, *runs_[t], choice.shape.d_gpn))
        for (const PoolNode node : runs_[t]->nodes)
          of_pool[node] += choice.shape.d_gpn;
      else
        runs_[t].reset();
    }
    FreeGpus free = without_lost_gpus(std::move(gpus), queue_.pools_, room_, other_runs_);
    free.set_blocks(find_blocks(snapshot_, queue_.pools_));
    free.set_rest(rest_.free_beside(runs_, room_, *queue_.table_, free));
    if (!options_.foresee && !other_runs_.empty())
      free.expect(std::make_shared<const std::vector<FreeGpus::ToCome>>(
          gpus_to_come(other_runs_, options_.now_wall_s)));
    // Slow ones, and those on which pods have to end before.
    auto last = options_.slow_nodes ? *options_.slow_nodes : std::unordered_set<NodeName>();
    for (const PodPtr& pod : room_.ending().pods())
      last.insert(pod->node);
    if (!last.empty()) free.avoid(nodes_named(snapshot_, queue_.pools_, last));
    auto shares =
        make_shares(rulebook_, queue_.queue_names_, queue_.pools_, free, *options_.catalog);
    queue_.state_ = PlanState(*queue_.table_, std::move(free));
    queue_.state_.share_by(std::move(shares));
    if (options_.may_stop)
      queue_.state_.recall_accounts(past_losses(
          snapshot_, options_.stop_book, rulebook_,
          [&](const std::string& account) { return number_of(account); }, options_.now_wall_s));
    if (!queue_.tasks_.empty())
      queue_.state_.believe(
          ModelError(std::sqrt(squared_errors_ / static_cast<double>(queue_.tasks_.size()))));
  }

  // Those that are all there and do not go on where they ran wait like any other.
  std::set<Uid> gangs_that_came() const {
    std::set<Uid> gangs;
    for (TaskIndex t = 0; t < queue_.tasks_.size(); ++t) {
      const QueueTask& task = queue_.tasks_[t];
      if (task.kind == TaskKind::kGang && !task.plan && (runs_[t] || !task.hindrance))
        gangs.insert(lasting_name(snapshot_, nullptr, *task.member));
    }
    return gangs;
  }

  // Of a run that is about to be stopped, because others took pods from it, or that goes on once
  // its pods have ended. Nobody gets what is free of its place before it waits in the queue, too.
  void keep_room_of_missing_pods(TaskIndex t, std::vector<std::vector<int>>& gpus) {
    const Choice& choice = (*queue_.table_)[t].menu->all[runs_[t]->choice];
    const QueuePool& pool = queue_.pools_[choice.pool];
    std::vector<int>& of_pool = gpus[choice.pool];
    std::map<PoolNode, int> missing;
    for (const PoolNode node : runs_[t]->nodes)
      missing[node] += choice.shape.d_gpn;
    for (auto& [node, gpus_of_node] : missing) {
      const QueueTask& task = queue_.tasks_[t];
      const std::int64_t own = task.plan ? held_by(task, pool.nodes[node], pool.pool.resource) : 0;
      gpus_of_node -= static_cast<int>(std::clamp<std::int64_t>(own, 0, gpus_of_node));
      if (of_pool[node] < gpus_of_node) return runs_[t].reset();
    }
    for (const auto& [node, gpus_of_node] : missing)
      of_pool[node] -= gpus_of_node;
  }

  // By its pods that are there, and by live holds of its own.
  std::int64_t held_by(const QueueTask& task, NodeIndex node, const std::string& resource) const {
    std::int64_t gpus = 0;
    for (const PodPtr& pod : task.bound)
      if (pod->node == snapshot_.node(node).node->name) gpus += pod->requests.gpu_count(resource);
    for (const Hold& hold : snapshot_.holds_on(node))
      if (hold.expires_s > options_.now_steady_s && hold.task == task.uid)
        gpus += hold.amount.gpu_count(resource);
    return gpus;
  }

  // Plans for more GPUs than a node can have are not Slackline's, and must not cost memory.
  static bool has_room_beside(const std::vector<int>& gpus, const PlannedRun& run, int d_gpn) {
    return std::all_of(run.nodes.begin(), run.nodes.end(),
                       [&](PoolNode node) { return gpus[node] + d_gpn <= kMaxGpusPerNode; });
  }

  void let_arrive(bool stopped_before) {
    for (TaskIndex t = 0; t < queue_.tasks_.size(); ++t) {
      const QueueTask& task = queue_.tasks_[t];
      if (!task.plan && !runs_[t] && (!task.hindrance || awaits_quota(t)) && !let_go_.contains(t) &&
          was_stopped(task) == stopped_before)
        queue_.state_.arrive(t);
    }
  }

  // For forecasts: it starts once its quotas have room, if ever.
  bool awaits_quota(TaskIndex t) const {
    const QueueTask& task = queue_.tasks_[t];
    return options_.foresee && task.hindrance->reason == reason::kQuotaExceeded &&
           !is_never_admitted(quotas_, task, *(*queue_.table_)[t].menu);
  }

  void start_runs() {
    std::vector<std::pair<double, TaskIndex>> started;
    for (TaskIndex t = 0; t < queue_.tasks_.size(); ++t) {
      recall_stops(t);
      const QueueTask& task = queue_.tasks_[t];
      if (!runs_[t] && task.plan && !task.bound.empty())
        queue_.state_.runs_elsewhere(t, end_as_planned(task, options_.now_wall_s).value_or(kNever));
      if (!runs_[t]) continue;
      if (!task.plan) queue_.going_on_.push_back(t);
      const auto since_s = task.plan ? started_s(task) : std::nullopt;
      // Clocks differ: nothing starts later than now.
      started.emplace_back(std::min(since_s.value_or(kNever), options_.now_wall_s), t);
    }
    let_arrive(/*stopped_before=*/true);
    let_arrive(/*stopped_before=*/false);
    for (auto t = static_cast<TaskIndex>(queue_.tasks_.size()); t < runs_.size(); ++t)
      if (runs_[t]) started.emplace_back(other_runs_[t - queue_.tasks_.size()].started_s, t);
    std::sort(started.begin(), started.end());
    queue_.state_.keep_quotas(quotas_.left());
    for (const auto& [time_s, t] : started) {
      queue_.state_.arrive(t);
      Run run = queue_.state_.run_at(t, runs_[t]->choice, time_s, runs_[t]->nodes);
      if (t < queue_.tasks_.size() && queue_.tasks_[t].plan)
        run.promoted = queue_.tasks_[t].plan->promoted;
      const double work_s = queue_.state_.choice(t, run.choice).work_s;
      if (const ProgressNote* told = told_of(t)) believe_progress(*told, work_s, run);
      if (const auto end_s = believed_end_s_of(t, run))
        believe_end(*end_s, options_.now_wall_s, work_s, run);
      queue_.state_.start(t, std::move(run));
    }
  }

  // Of its present run, by its Job; nullptr: nothing.
  const ProgressNote* told_of(TaskIndex t) const {
    if (t >= queue_.tasks_.size()) return other_runs_[t - queue_.tasks_.size()].told.get();
    const QueueTask& task = queue_.tasks_[t];
    return task.plan && task.job ? task.job->progress.get() : nullptr;
  }

  // nullopt: as its length says, or later. Nothing is done of what has not begun.
  std::optional<double> believed_end_s_of(TaskIndex t, const Run& run) const {
    if (const auto gone_by_s = gone_by_s_of(t)) return gone_by_s;
    if (t >= queue_.tasks_.size()) return std::nullopt;
    std::optional<double> end_s;
    if (pod_not_starting(queue_.tasks_[t]) != nullptr)
      end_s = options_.now_wall_s + run.predicted_end_s - run.started_s;
    const auto limit_s = limit_end_s(queue_.tasks_[t]);
    return limit_s && *limit_s < end_s.value_or(run.predicted_end_s) ? limit_s : end_s;
  }

  // nullopt: it goes on, or its pods are replaced.
  std::optional<double> gone_by_s_of(TaskIndex t) const {
    if (t >= queue_.tasks_.size()) return other_runs_[t - queue_.tasks_.size()].gone_by_s;
    const QueueTask& task = queue_.tasks_[t];
    if (task.job ? !replaces_no_pods(*task.job, options_.now_wall_s) : task.kind != TaskKind::kPod)
      return std::nullopt;
    std::optional<double> last_s;
    for (const PodPtr& pod : task.bound) {
      if (!pod->gone_by_s) return std::nullopt;
      last_s = std::max(last_s.value_or(*pod->gone_by_s), *pod->gone_by_s);
    }
    return last_s;
  }

  void recall_stops(TaskIndex t) {
    const QueueTask& task = queue_.tasks_[t];
    if (const auto stops = task.evictions + task.stops_before; stops > 0)
      queue_.state_.recall(t, saturating_int(stops), 1, 0);
    if (!task.job || !task.job->preemptions) return;
    const PreemptionNote& note = *task.job->preemptions;
    const PlanTask& described = (*queue_.table_)[t];
    queue_.state_.recall(t, saturating_int(note.count), note.left,
                         described.restart_s - startup_of(*described.menu));
  }

  const ClusterSnapshot& snapshot_;
  const QueueOptions& options_;
  const QueueRulebook rulebook_;
  TaskMenus& menus_;
  const RoomTable room_;
  const Disruptions disruptions_;
  double squared_errors_ = 0;  // of what is predicted of the tasks
  PresentNodes present_;
  const Resizer resizer_;
  std::set<TaskIndex> let_go_;
  std::map<std::string, QueueNumber, std::less<>> numbers_;  // of accounts
  QuotaBook quotas_;
  const GangPlaces& gang_places_;
  RestNeeds rest_;
  std::vector<OtherRun> other_runs_;             // behind the tasks of the queue
  std::vector<std::optional<PlannedRun>> runs_;  // by task; nullopt: not a run of the queue
  Queue queue_;
};

Queue make_queue(const ClusterSnapshot& snapshot, const QueueOptions& options, TaskMenus& menus) {
  return QueueMaker(snapshot, options, menus).make();
}

}  // namespace slackline::core
