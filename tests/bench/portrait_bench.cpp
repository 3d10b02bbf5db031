// What 10,000 portraits cost: to list them, to advise from them, and to learn of a night in which
// every family ran.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "control/portrait/portrait_keeper.h"
#include "control/portrait/portrait_query.h"
#include "obs/metrics.h"
#include "slackline/base/text.h"
#include "slackline/core/portrait/advice.h"
#include "slackline/core/portrait/learn.h"
#include "support/portrait_runs.h"
#include "wire/rest/rows.h"

namespace slackline::control {
namespace {

constexpr int kFamilies = 10'000;
constexpr int kNights = 40;  // more than a portrait remembers
constexpr double kMi = 1024.0 * 1024;

PortraitIdentity identity(int family) {
  PortraitIdentity identity;
  identity.department = format("team-{}", family % 100);
  identity.owner = format("train-{}", family);
  identity.image = format("registry.example/team-{}/net-{}:v3", family % 100, family);
  identity.model = format("net-{}", family % 500);
  identity.framework = "Job";
  return identity;
}

PortraitRun a_night(int family, int night) {
  PortraitRun run =
      test::a_run(night, {.gpu = 0.1 + 0.08 * (family % 10), .cpu = 1.0 + family % 7});
  run.usage.run = Uid(format("run-{}-{}", family, night));
  if (family % 4 == 0 && night % 2 == 0) run.gpu_type = GpuType("T4");
  return run;
}

std::vector<Portrait> families() {
  std::vector<Portrait> portraits(kFamilies);
  for (int i = 0; i < kFamilies; ++i) {
    Portrait& portrait = portraits[static_cast<std::size_t>(i)];
    portrait.identity = identity(i);
    for (int night = 0; night < kNights; ++night) {
      const PortraitRun run = a_night(i, night);
      core::add_run(portrait, run);
      core::observe(portrait, run.usage);
    }
  }
  return portraits;
}

const std::vector<Portrait>& known() {
  static const std::vector<Portrait> portraits = families();
  return portraits;
}

// Removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "slackline-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path path;
};

double resident_mib() {
  long pages = 0;
  std::ifstream statm("/proc/self/statm");
  statm >> pages >> pages;
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / kMi;
}

void query(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<PortraitView> views;
    for (const Portrait& portrait : known())
      views.push_back(view_of("key", portrait, 86400.0 * (1000 + kNights)));
    benchmark::DoNotOptimize(wire::encode_list(views, ""));
  }
}
BENCHMARK(query)->Unit(benchmark::kMillisecond);

void advice(benchmark::State& state) {
  core::AdviceQuestion question;
  question.asked = {1, 4};
  question.requests = {8000, 16000, 64'000'000'000};
  question.gpu_type = GpuType("A100");
  question.now_s = 86400.0 * (1000 + kNights);
  question.shapes = {{.shape = {1, 4}, .run_s = {}}};
  for (const Placement& smaller : core::smaller_shapes({1, 4}))
    question.shapes.push_back({.shape = smaller, .run_s = {}});
  for (auto _ : state)
    for (const Portrait& portrait : known())
      benchmark::DoNotOptimize(core::advise(portrait, question));
}
BENCHMARK(advice)->Unit(benchmark::kMillisecond);

// Every family ends a run and has a window; all of it is published and on disk, twice.
void nightly_pass(benchmark::State& state) {
  const Folder folder;
  obs::MetricsRegistry metrics;
  const double before_mib = resident_mib();
  auto keeper = PortraitKeeper::open({.path = (folder.path / "portraits.db").string()}, metrics,
                                     system_clock());
  if (!keeper) return state.SkipWithError(keeper.error().message.c_str());
  (*keeper)->put(known());
  (*keeper)->publish();
  if (!(*keeper)->write()) return state.SkipWithError("the portraits cannot be written");
  const double held_mib = resident_mib() - before_mib;
  int night = kNights;
  for (auto _ : state) {
    std::vector<ObservedWindow> windows;
    for (int i = 0; i < kFamilies; ++i) {
      const PortraitRun run = a_night(i, night);
      windows.push_back({identity(i), run.usage});
      (*keeper)->add_run(identity(i), run);
    }
    (*keeper)->observe(windows);
    (*keeper)->publish();
    if (!(*keeper)->write()) return state.SkipWithError("the portraits cannot be written");
    ++night;
  }
  double disk = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder.path))
    if (file.path().extension() != ".lock") disk += static_cast<double>(file.file_size());
  state.counters["memory_MiB"] = held_mib;
  state.counters["disk_MB"] = disk / 1e6;
}
BENCHMARK(nightly_pass)->Unit(benchmark::kMillisecond)->Iterations(5);

}  // namespace
}  // namespace slackline::control
