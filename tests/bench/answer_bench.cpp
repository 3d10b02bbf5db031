// Answers about a long queue: a quote of a new task, and why one waits, by the whole query that
// REST calls, limits of time included. Wall time; `tried` of the placements were played.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "control/answers/answer_query.h"
#include "control/query/forecast_keeper.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"
#include "support/answer_world.h"
#include "support/fake_cluster.h"

namespace slackline {
namespace {

constexpr int kGpus = 8;
constexpr int kRounds = 40;

control::Known known_speeds() {
  std::vector<ProfileEntry> entries;
  for (const char* type : {"A100", "K80", "P100", "T4"}) {
    ProfileEntry entry{"bert", GpuType(type), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, 8.0, ""};
    entry.held_out_p90 = 20;
    entries.push_back(entry);
  }
  return control::make_known(WorkloadProfiles(entries));
}

test::JobBuilder trained(const std::string& name, int number, double now_s) {
  auto job = test::a_job(name)
                 .trains("bert", 256, 500 + 37 * (number % 211))
                 .gpus(std::int64_t{1} << (number % 4))
                 .created(now_s - 3600 + 0.1 * number);
  job.intent().deadline_s = now_s + 3600.0 * (1 + number % 30);
  if (number % 3 == 0) job.intent().gpu_types = {GpuType("A100")};
  return job;
}

// Every node runs a Job; so many wait.
ClusterSnapshot busy_cluster(int waiting, double now_s) {
  const std::vector<std::string> types = {"A100", "K80", "P100", "T4"};
  test::ClusterBuilder cluster;
  const int nodes = std::max(100, waiting / 10);
  for (int i = 0; i < nodes; ++i) {
    const std::string node = format("node-{:05}", i);
    const std::string name = format("runs-{:05}", i);
    const std::string& type = types[static_cast<std::size_t>(i) % types.size()];
    cluster.with(test::a_node(node).of(type, kGpus));
    test::add_running(cluster, test::a_job(name).trains("bert", 256, 3000 + 97 * (i % 89)), name,
                      kGpus, node, type, now_s - 900);
  }
  for (int i = 0; i < waiting; ++i)
    cluster.with(trained(format("waits-{:05}", i), i, now_s).waiting());
  return cluster.build();
}

struct Times {
  std::vector<double> ms;

  double at(double share) {
    std::sort(ms.begin(), ms.end());
    return ms[std::min(ms.size() - 1,
                       static_cast<std::size_t>(share * static_cast<double>(ms.size())))];
  }
};

void measure(int waiting, const control::PlannerOptions& options,
             const Published<control::Known>& known) {
  const Clock& clock = system_clock();
  const test::FakeSource source(busy_cluster(waiting, clock.wall_s()));
  Published<control::PlannerView> planner;
  planner.set({.active = true, .leads = true, .leader = "me", .backoffs = {}});
  Published<control::WrittenBook> books;
  obs::MetricsRegistry metrics;
  const auto nobody = [](const TaskEvent&) { return true; };
  control::ForecastKeeper keeper(options, known, source, planner, books, nobody, metrics, clock);
  keeper.look();
  control::AnswerQuery answers(options, known, source, planner, books, clock);
  Times quotes;
  Times whys;
  std::int64_t tried = 0;
  std::int64_t helpful = 0;
  for (int round = 0; round < kRounds; ++round) {
    auto job = trained("new", round, clock.wall_s());
    const control::PostedTask task{.job = std::make_shared<const Job>(job.build())};
    double began_s = clock.steady_s();
    const auto quote = answers.quote(task, control::Viewer());
    quotes.ms.push_back(1000 * (clock.steady_s() - began_s));
    if (quote) tried += quote->tried;
    if (round % 4 != 0) continue;
    began_s = clock.steady_s();
    const auto why =
        answers.explain({"default", format("waits-{:05}", 7 * round)}, "", control::Viewer());
    whys.ms.push_back(1000 * (clock.steady_s() - began_s));
    if (why) helpful += why->changes_tried;
  }
  std::printf("%8d %10.0f %10.0f %8.1f %10.0f %10.0f %8.1f\n", waiting, quotes.at(0.5),
              quotes.at(0.99), static_cast<double>(tried) / kRounds, whys.at(0.5), whys.at(0.99),
              static_cast<double>(helpful) / static_cast<double>(whys.ms.size()));
}

}  // namespace
}  // namespace slackline

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using namespace slackline;
  control::Settings settings;
  settings.policy = *core::parse_policy("default");
  Published<control::Settings> published;
  published.set(settings);
  control::PlannerOptions options;
  options.catalog = default_gpu_catalog();
  options.settings = &published;
  const Published<control::Known> known{known_speeds()};
  std::printf("%8s %10s %10s %8s %10s %10s %8s\n", "waiting", "quote p50", "quote p99", "tried",
              "why p50", "why p99", "changes");
  for (const int waiting : {100, 1000, 10000})
    measure(waiting, options, known);
}
