// What would help a task is really done in a random cluster, and the queue is played on: does what
// was said come true? SLACKLINE_TRUTH_SEEDS sets how many clusters are asked; scripts/study/answers
// asks many, and prints the figures.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slackline/base/duration.h"
#include "slackline/core/answers/changes.h"
#include "slackline/core/planning/play.h"
#include "support/answer_world.h"

namespace slackline::core {
namespace {

using test::AnswerWorld;

std::uint64_t seeds() {
  const char* asked = std::getenv("SLACKLINE_TRUTH_SEEDS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 60;
}

struct Happened {
  double start_s = kNever;
  double finish_s = kNever;
};

// True run times: exp(sigma z) times the prediction, where half the variance is a placement's.
class TrueTimes {
 public:
  TrueTimes(AnswerWorld& world, double sigma) : world_(world), sigma_(sigma) {}

  double factor(const std::string& task, const Choice& choice) {
    if (sigma_ == 0) return 1;
    const double own = draw("task " + task);
    const double shared = draw(format("place {} {}", choice.pool, choice.shape.str()));
    return std::exp(sigma_ * (own + shared) / std::sqrt(2.0));
  }

 private:
  double draw(const std::string& of) {
    const auto [at, first] = drawn_.try_emplace(of);
    if (first) at->second = world_.normal();
    return at->second;
  }

  AnswerWorld& world_;
  double sigma_;
  std::map<std::string, double> drawn_;
};

Happened play_on(const ClusterSnapshot& snapshot, const QueueOptions& options, const Policy& policy,
                 const ObjectKey& asked, TrueTimes& truth) {
  TaskMenus menus;
  const Queue queue = make_queue(snapshot, options, menus);
  PlanState state = queue.state();
  Happened happened;
  PlayHooks hooks;
  hooks.work_s = [&](TaskIndex task, const Run& run) {
    const Choice& choice = state.choice(task, run.choice);
    const double work_s = choice.work_s * truth.factor(queue.task(task).key.str(), choice);
    // Who runs has not ended yet.
    const double gone_s = options.now_wall_s - run.started_s - run.overhead_s;
    return std::max(work_s, (gone_s + 1) / run.left);
  };
  hooks.on_event = [&](double at_s, RunEvent event, TaskIndex task, const Run&) {
    if (queue.task(task).key != asked) return;
    if (event == RunEvent::kStart) happened.start_s = std::min(happened.start_s, at_s);
    if (event == RunEvent::kFinish) happened.finish_s = at_s;
  };
  play(state, policy, {}, hooks, {options.now_wall_s, 0});
  return happened;
}

// The snapshot after the change. Quotas are no part of these clusters.
ClusterSnapshot with_change(const ClusterSnapshot& snapshot, const Change& change,
                            const std::vector<Proposal>& all, const ObjectKey& asked) {
  ClusterSnapshot changed = snapshot;
  if (change.by) {
    const Job* job = snapshot.find_job(change.by->ns, change.by->name);
    for (NodeStatePtr& node : changed.nodes) {
      auto copy = std::make_shared<NodeState>(*node);
      std::erase_if(copy->pods, [&](const PodPtr& pod) {
        const bool gone = pod->owner && pod->owner->uid == job->uid;
        if (gone) copy->used -= pod->requests;
        return gone;
      });
      node = std::move(copy);
    }
    std::erase_if(changed.jobs, [&](const JobPtr& each) { return each->uid == job->uid; });
    return changed;
  }
  for (const Proposal& proposal : all) {
    if (proposal.kind != change.kind || proposal.what != change.what) continue;
    for (JobPtr& job : changed.jobs)
      if (job->key == asked) {
        auto copy = std::make_shared<Job>(*proposal.variant.job);
        copy->uid = job->uid;
        job = std::move(copy);
      }
  }
  return changed;
}

struct Tally {
  int changes = 0;
  int as_said = 0;  // start and finish at the time that was said
  int start_within_p90 = 0;
  int finish_within_p90 = 0;
};

// Asks for one task of the world, and tries everything that is said to help.
void ask(std::uint64_t seed, double sigma, Tally& tally) {
  AnswerWorld world(seed, sigma);
  const Policy policy = *parse_policy("savable-p,headroom=0,calm=0");
  TaskMenus menus;
  const Queue queue = make_queue(world.snapshot(), world.options(), menus);
  const std::string name = world.waiting()[static_cast<std::size_t>(
      world.pick(0, static_cast<std::int64_t>(world.waiting().size()) - 1))];
  std::vector<Uid> names;
  TaskIndex task = 0;
  for (TaskIndex index = 0; index < queue.size(); ++index) {
    names.push_back(queue.task(index).uid);
    if (queue.task(index).key.name == name) task = index;
  }
  const double now_s = AnswerWorld::kNow_s;
  const ForecastBook book(queue.state(), names, now_s, policy);
  ExplainQuestion question{.snapshot = world.snapshot(),
                           .queue = queue,
                           .task = task,
                           .catalog = *world.options().catalog,
                           .now_s = now_s,
                           .now_steady_s = now_s};
  question.forecast = [&](TaskIndex index) {
    return index < names.size() ? book.find(names[index]) : nullptr;
  };
  const ChangeOptions options{.may_be_urgent = true};
  const Changes changes = find_changes(question, world.options(), policy, menus, options);
  EXPECT_EQ(changes.not_tried, 0);
  const std::vector<Proposal> all = proposals(question, options);
  const ObjectKey key = queue.task(task).key;
  for (const Change& change : changes.helpful) {
    TrueTimes truth(world, sigma);
    const Happened real = play_on(with_change(world.snapshot(), change, all, key), world.options(),
                                  policy, key, truth);
    const auto near = [&](double real_s, double said_s) {
      return real_s == said_s || std::abs(real_s - said_s) <= 1 + 0.02 * (said_s - now_s);
    };
    ++tally.changes;
    const bool as_said = near(real.start_s, change.outlook.start_s.p50()) &&
                         near(real.finish_s, change.outlook.finish_s.p50());
    tally.as_said += as_said ? 1 : 0;
    tally.start_within_p90 += real.start_s <= change.outlook.start_s.p90() + 1 ? 1 : 0;
    tally.finish_within_p90 += real.finish_s <= change.outlook.finish_s.p90() + 1 ? 1 : 0;
  }
}

void report(const char* what, int part, int all) {
  std::printf("%s: %d of %d\n", what, part, all);
}

TEST(AnswersTruth, WithoutNoiseAChangeDoesWhatWasSaid) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < seeds(); ++seed)
    ask(seed, 0, tally);
  report("without noise, as said", tally.as_said, tally.changes);
  ASSERT_GE(tally.changes, static_cast<int>(seeds() / 2));
  EXPECT_GE(tally.as_said, 0.93 * tally.changes) << "of many clusters it is more than 0.95";
}

TEST(AnswersTruth, WithNoiseItIsWithinTheNinetyPercentThatWereSaid) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < seeds(); ++seed)
    ask(seed, 0.15, tally);
  report("with noise, start within p90", tally.start_within_p90, tally.changes);
  report("with noise, finish within p90", tally.finish_within_p90, tally.changes);
  ASSERT_GE(tally.changes, static_cast<int>(seeds() / 2));
  EXPECT_GE(tally.start_within_p90, 0.85 * tally.changes);
  EXPECT_GE(tally.finish_within_p90, 0.80 * tally.changes);
}

}  // namespace
}  // namespace slackline::core
