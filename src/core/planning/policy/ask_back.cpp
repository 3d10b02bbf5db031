#include "ask_back.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "room_by_stops.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/mixed_pods.h"
#include "slackline/core/planning/share_parts.h"
#include "stop_rules.h"

namespace slackline::core {
namespace {

constexpr double kPoolRank = 100;  // above the levels of runs that fill a node
constexpr double kGoesOn_s = 1;
constexpr std::size_t kMostUnserved = 64;  // askers of one call; so a long queue costs no more

class AskBack {
 public:
  AskBack(Planning& planning, const Policy& policy)
      : planning_(planning),
        state_(planning.state()),
        protect_s_(policy.stop_limits().value_or(StopLimits{}).protect_s) {}

  void call(const std::vector<TaskIndex>& first) {
    for (const TaskIndex owner : first)
      start_if_it_fits(owner);
    look_for_borrowers();
    if (borrowers_.empty()) return;
    for (const TaskIndex asker : askers()) {
      serve(asker);
      if (unserved_ == kMostUnserved) break;
    }
    place_again();
    planning_.wake_by(wake_s_);
  }

  std::vector<TaskIndex> owners_at_risk() const {
    if (planning_.idle() == 0) return {};
    std::vector<TaskIndex> owners;
    const std::set<Claim> rivals = claims_beyond_own();
    if (!rivals.empty())
      for (const TaskIndex task : state_.waiting())
        if (is_at_risk(task, rivals)) owners.push_back(task);
    owners = in_order(std::move(owners));
    if (owners.size() > kMostUnserved) owners.resize(kMostUnserved);
    return owners;
  }

  std::vector<TaskIndex> pushed_out(const std::vector<TaskIndex>& owners) {
    parts_ = share_parts(state_);
    std::vector<TaskIndex> begun;
    for (const TaskIndex run : state_.running())
      if (uses_others(run) && planning_.begins(run)) begun.push_back(run);
    std::vector<TaskIndex> pushed;
    for (const TaskIndex owner : owners)
      if (is_kept_out_by(begun, owner)) pushed.push_back(owner);
    return pushed;
  }

 private:
  using Claim = std::pair<PoolIndex, QueueNumber>;
  struct Borrower {
    StopVictim victim;
    double from_s = 0;  // when it may be stopped
  };

  std::vector<TaskIndex> askers() const {
    std::vector<TaskIndex> askers;
    for (const TaskIndex task : state_.waiting())
      if (planning_.task(task).stops_others && lacks_room(task)) askers.push_back(task);
    return in_order(std::move(askers));
  }

  std::vector<TaskIndex> in_order(std::vector<TaskIndex> askers) const {
    const auto key = [&](TaskIndex task) {
      const TaskDigest& digest = state_.tasks().digest(task);
      return std::tuple(digest.qos != QosClass::kUrgent, digest.deadline_s, digest.submit_s,
                        digest.id);
    };
    std::sort(askers.begin(), askers.end(),
              [&](TaskIndex a, TaskIndex b) { return key(a) < key(b); });
    return askers;
  }

  bool may_ask(TaskIndex task, const Choice& choice) const {
    return state_.shares().is_own(state_.use_of(task, choice)) && state_.may_use(task, choice) &&
           planning_.open(task, choice.pool);
  }

  // Its queue owns room for it, and there is none.
  bool lacks_room(TaskIndex task) const {
    bool asks = false;
    for (const Choice& choice : planning_.menu(task).all) {
      if (!may_ask(task, choice)) continue;
      if (planning_.fits(task, choice)) return false;
      asks = true;
    }
    return asks;
  }

  // Who waits and would use more there than his queue owns, once those of his queue have started
  // that stay within it.
  std::set<Claim> claims_beyond_own() const {
    std::set<Claim> claims;
    ShareUse use = state_.shares();
    for (const TaskIndex task : state_.waiting()) {
      std::optional<SharedUse> own;
      for (const Choice& choice : planning_.menu(task).all) {
        const SharedUse asked = state_.use_of(task, choice);
        if (!use.is_own(asked) && !state_.stays(task) && state_.may_use(task, choice))
          claims.emplace(choice.pool, planning_.task(task).queue);
        else if (!own && use.is_own(asked))
          own = asked;
      }
      if (own) use.begin(*own);
    }
    return claims;
  }

  // It fits, and so might somebody of another queue.
  bool is_at_risk(TaskIndex task, const std::set<Claim>& rivals) const {
    const std::vector<Choice>& all = planning_.menu(task).all;
    return std::any_of(all.begin(), all.end(), [&](const Choice& choice) {
      const auto is_rival = [&](const Claim& claim) {
        return claim.first == choice.pool && claim.second != planning_.task(task).queue;
      };
      return may_ask(task, choice) && std::any_of(rivals.begin(), rivals.end(), is_rival) &&
             planning_.fits(task, choice);
    });
  }

  bool is_kept_out_by(const std::vector<TaskIndex>& begun, TaskIndex owner) const {
    if (state_.progress(owner).phase != TaskPhase::kWaiting || !lacks_room(owner)) return false;
    const PlanTask& task = planning_.task(owner);
    FreeGpus free = state_.free();
    for (const TaskIndex run : begun) {
      if (planning_.task(run).queue != task.queue) core::give_back(free, state_, run);
    }
    const std::vector<Choice>& all = task.menu->all;
    return std::any_of(all.begin(), all.end(), [&](const Choice& wanted) {
      return may_ask(owner, wanted) && fits(free, task, wanted);
    });
  }

  // Of what its queue owns room for: first what keeps its deadline, the cheapest first.
  template <class Take>
  bool take_own(TaskIndex asker, const Take& take) {
    const double latest_end_s = planning_.task(asker).deadline_s + kDeadlineTolerance_s;
    for (const bool in_time : {true, false})
      for (const ChoiceIndex index : planning_.menu(asker).by_cer) {
        const Choice& wanted = planning_.menu(asker).all[index];
        const double end_s = planning_.now_s() + planning_.lat_s(asker, wanted);
        if ((end_s <= latest_end_s) != in_time || !may_ask(asker, wanted)) continue;
        if (take(index)) return true;
      }
    return false;
  }

  void start_if_it_fits(TaskIndex owner) {
    take_own(owner, [&](ChoiceIndex index) {
      const bool fits = planning_.fits(owner, planning_.menu(owner).all[index]);
      if (fits) planning_.start(owner, index);
      return fits;
    });
  }

  void serve(TaskIndex asker) {
    if (!lacks_room(asker)) return;  // it did, before another one was served
    const auto stops_for = [&](ChoiceIndex index) { return start_after_stops(asker, index); };
    if (take_own(asker, stops_for)) return;
    ++unserved_;
    for (const Choice& wanted : planning_.menu(asker).all)
      if (may_ask(asker, wanted)) wait_for(asker, wanted);
  }

  bool start_after_stops(TaskIndex asker, ChoiceIndex index) {
    const Choice& wanted = planning_.menu(asker).all[index];
    const auto victims = victims_of(asker, wanted, planning_.now_s());
    const auto sets = sets_of(asker, wanted, victims);
    const auto set = std::find_if(sets.begin(), sets.end(), [&](const StopVictims& each) {
      return leaves_the_rest(asker, wanted, each);
    });
    if (set == sets.end()) return false;
    const RoomGain gain = gain_of(asker, wanted, *set);
    for (const StopVictim* victim : *set) {
      if (victim->overdue)
        planning_.give_back_at_last(victim->run, gain);
      else
        planning_.give_back(victim->run, gain);
      stopped_.push_back(victim->run);
    }
    planning_.start(asker, index);
    look_for_borrowers();
    return true;
  }

  // With their GPUs, CPU and memory beside them.
  bool leaves_the_rest(TaskIndex asker, const Choice& wanted, const StopVictims& set) const {
    FreeGpus free = state_.free();
    if (!free.rest()) return true;
    for (const StopVictim* victim : set)
      core::give_back(free, state_, victim->run);
    return fits(free, planning_.task(asker), wanted);
  }

  // Who has a deadline and can meet it in what room is left, elsewhere or in another shape, goes on
  // there before anybody else starts.
  void place_again() {
    const auto by_deadline = [&](TaskIndex a, TaskIndex b) {
      return planning_.task(a).deadline_s < planning_.task(b).deadline_s;
    };
    std::stable_sort(stopped_.begin(), stopped_.end(), by_deadline);
    for (const TaskIndex task : stopped_) {
      if (planning_.task(task).deadline_s == kNoDeadline) break;
      const double latest_end_s = planning_.task(task).deadline_s + kDeadlineTolerance_s;
      const auto meets_it = [&](ChoiceIndex index) {
        const Choice& choice = planning_.menu(task).all[index];
        return planning_.now_s() + planning_.lat_s(task, choice) <= latest_end_s &&
               planning_.fits(task, choice) && !has_owner_first(task, choice);
      };
      const std::vector<ChoiceIndex>& by_cer = planning_.menu(task).by_cer;
      const auto found = std::find_if(by_cer.begin(), by_cer.end(), meets_it);
      if (found != by_cer.end()) planning_.start(task, *found);
    }
  }

  // It would borrow again, where an owner fits: the policy decides who else starts.
  bool has_owner_first(TaskIndex task, const Choice& choice) const {
    if (state_.stays(task) || state_.shares().is_own(state_.use_of(task, choice))) return false;
    const std::set<Claim> again{{choice.pool, planning_.task(task).queue}};
    return std::any_of(state_.waiting().begin(), state_.waiting().end(),
                       [&](TaskIndex owner) { return is_at_risk(owner, again); });
  }

  // Somebody can give it back, later; or with others, once no disruption budget holds any more.
  void wait_for(TaskIndex asker, const Choice& wanted) {
    if (sets_of(asker, wanted, victims_of(asker, wanted, kNoDeadline)).empty()) return;
    planning_.keep_for_owners(wanted.pool);
    for (const TaskIndex run : borrowers_)
      if (const auto borrower = borrower_of(run, asker, wanted))
        for (const double next_s : {borrower->from_s, at_last_s(run, asker)})
          if (next_s > planning_.now_s()) wake_s_ = std::min(wake_s_, next_s);
  }

  std::vector<StopVictims> sets_of(TaskIndex asker, const Choice& wanted,
                                   const std::vector<StopVictim>& victims) const {
    if (victims.empty()) return {};
    const PlanTask& task = planning_.task(asker);
    const Choice equal = as_if_equal(task, wanted);
    const UsableByStops usable(state_.free(), task, equal);
    return RoomByStops(state_, equal, usable.nodes(), victims).sets();
  }

  // Cheapest first.
  std::vector<StopVictim> victims_of(TaskIndex asker, const Choice& wanted, double by_s) const {
    std::vector<StopVictim> victims;
    for (const TaskIndex run : borrowers_)
      if (const auto borrower = borrower_of(run, asker, wanted);
          borrower && borrower->from_s <= by_s) {
        victims.push_back(borrower->victim);
        victims.back().overdue = at_last_s(run, asker) <= by_s;
      }
    sort_cheapest_first(victims);
    return victims;
  }

  // As it is now: a stop makes other runs of its queue the queue's own.
  void look_for_borrowers() {
    parts_ = share_parts(state_);
    borrowers_.clear();
    for (const TaskIndex run : state_.running())
      if (planning_.task(run).can_give_back && uses_others(run)) borrowers_.push_back(run);
  }

  // More than its queue owns, as far as the rule of shares lets it be asked for.
  bool uses_others(TaskIndex run) const {
    return parts_[run].borrowed + parts_[run].of_pool > 0 && !state_.stays(run) &&
           state_.shares().is_beyond_own(planning_.task(run).queue,
                                         state_.running_choice(run).pool);
  }

  std::optional<Borrower> borrower_of(TaskIndex run, TaskIndex asker, const Choice& wanted) const {
    const PlanTask& task = planning_.task(run);
    if (state_.running_choice(run).pool != wanted.pool) return std::nullopt;
    if (task.queue == planning_.task(asker).queue) return std::nullopt;
    if (task.promised_to && *task.promised_to != asker) return std::nullopt;
    const double most_grace_s =
        spare_limit_s(planning_.task(asker), planning_.lat_s(asker, wanted));
    if (!ends_in_time(task, kNoDeadline, most_grace_s)) return std::nullopt;
    Borrower borrower{{run, {}}, from_s(run, asker)};
    if (task.promised_to) return borrower;  // it was chosen, and told, before
    const double rank = task.level + (parts_[run].of_pool > 0 ? kPoolRank : 0);
    const double now_s = planning_.now_s();
    borrower.victim.cost = {
        rank, wasted_if_stopped_gpu_s(state_, run, state_.observed_work_s(run, now_s), now_s)};
    return borrower;
  }

  // Whatever protects it.
  double at_last_s(TaskIndex run, TaskIndex asker) const {
    const Shares& shares = *state_.shares().shares();
    const PlanTask& owner = planning_.task(asker);
    const double both_there_s = std::max(state_.progress(run).run.started_s, owner.submit_s);
    return both_there_s + shares.of_queue[owner.queue].give_back_within_s;
  }

  double from_s(TaskIndex run, TaskIndex asker) const {
    const PlanTask& task = planning_.task(run);
    const double started_s = state_.progress(run).run.started_s;
    const double at_last_s = this->at_last_s(run, asker);
    double from_s = started_s + protect_s_;
    const double end_s = state_.observed_due_s(run, planning_.now_s());
    if (planning_.now_s() < end_s && end_s <= planning_.now_s() + protect_s_)
      from_s = std::max(from_s, end_s);
    if (!task.preemptible) from_s = at_last_s;
    const double soonest_s = started_s + kGoesOn_s;  // what this plan has started goes on
    return std::max(soonest_s, std::min(from_s, at_last_s));
  }

  RoomGain gain_of(TaskIndex asker, const Choice& wanted, const StopVictims& set) const {
    double ended_s = planning_.now_s();
    for (const StopVictim* victim : set)
      ended_s = std::max(ended_s, state_.observed_end_s(victim->run, planning_.now_s()));
    return planning_.gain_of(asker, wanted, ended_s);
  }

  Planning& planning_;
  const PlanState& state_;
  double protect_s_;
  double wake_s_ = kNoDeadline;
  std::vector<ShareParts> parts_;     // by task
  std::vector<TaskIndex> borrowers_;  // whom somebody may ask
  std::vector<TaskIndex> stopped_;
  std::size_t unserved_ = 0;
};

}  // namespace

bool has_owners(const PlanState& state) {
  const Shares* shares = state.shares().shares();
  return shares != nullptr && !shares->types.empty();
}

void ask_back(Planning& planning, const Policy& policy, const std::vector<TaskIndex>& first) {
  if (has_owners(planning.state())) AskBack(planning, policy).call(first);
}

std::vector<TaskIndex> owners_at_risk(Planning& planning, const Policy& policy) {
  if (!has_owners(planning.state())) return {};
  return AskBack(planning, policy).owners_at_risk();
}

std::vector<TaskIndex> pushed_out(Planning& planning, const Policy& policy,
                                  const std::vector<TaskIndex>& owners) {
  return AskBack(planning, policy).pushed_out(owners);
}

}  // namespace slackline::core
