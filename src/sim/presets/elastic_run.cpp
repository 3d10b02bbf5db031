#include "sim/presets/elastic_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "slackline/base/random.h"
#include "slackline/core/elastic/accounts.h"
#include "slackline/core/elastic/diminishing_returns.h"

namespace slackline::sim {
namespace {

constexpr double kSeenAbove = 0.15;  // the loss of the task over that of the curve
constexpr double kSeenNoise = 0.01;
constexpr double kWatched_s = 14 * 60;
constexpr int kMostUnits = 32;  // of one task
constexpr std::uint64_t kWeightStream = 0x776569676874;

LossSteps exponential_losses(Random& random) {
  const int iterations = static_cast<int>(std::lround(random.uniform(30, 150)));
  LossSteps losses;
  for (int k = 0; k <= iterations; ++k)
    losses.push_back((std::pow(0.01, static_cast<double>(k) / iterations) - 0.01) / 0.99);
  return losses;
}

LossSteps power_losses(Random& random) {
  const double exponent = random.uniform(0.6, 1.5);
  const int iterations = static_cast<int>(std::lround(random.uniform(50, 300)));
  const double last = std::pow(iterations + 1, -exponent);
  LossSteps losses;
  for (int k = 0; k <= iterations; ++k)
    losses.push_back((std::pow(k + 1, -exponent) - last) / (1 - last));
  return losses;
}

// The iteration, with a fraction, at which the loss is this low for the first time.
double first_at(const LossSteps& losses, double loss) {
  for (std::size_t k = 1; k < losses.size(); ++k)
    if (losses[k] <= loss)
      return static_cast<double>(k) - (loss - losses[k]) / (losses[k - 1] - losses[k]);
  return static_cast<double>(losses.size() - 1);
}

double loss_at(const LossSteps& losses, double iteration) {
  const auto before = static_cast<std::size_t>(iteration);
  if (before + 1 >= losses.size()) return losses.back();
  const double part = iteration - static_cast<double>(before);
  return losses[before] + part * (losses[before + 1] - losses[before]);
}

struct RunningJob {
  RunningJob(const ElasticJob& of, int units, double now_s)
      : job(&of),
        marks{first_at(*of.losses, 0.1), first_at(*of.losses, 0.05), iterations()},
        loss_watched(now_s > of.submit_s + kWatched_s ? of.losses->front() : 0),
        noise(of.noise_seed) {
    task.most = std::min(kMostUnits, units);
    task.weight = of.weight;
    task.iterations_left = iterations();
    task.iterations_per_s = [per_unit = iterations() / of.work_s](int size) {
      return per_unit * size;
    };
  }

  double iterations() const { return static_cast<double>(job->losses->size() - 1); }
  bool done() const { return next_mark == marks.size(); }
  void look(double now_s, core::CurveShape fitted);
  void stop(double now_s);
  void resize(int units, double now_s, double restart_s);
  void advance(double from_s, double until_s);
  void see(double until_iteration);

  const ElasticJob* job;
  core::ElasticTask task;
  core::LossHistory history;
  std::vector<double> marks;  // iterations
  std::vector<double> reached_s;
  std::size_t next_mark = 0;
  double iteration = 0;
  double idle_until_s = 0;
  double resized_s = -1e18;
  double loss_watched;  // all of it if the job starts later, 0 if it ends before
  core::DiminishingReturns returns;
  std::optional<double> stopped_s;
  std::size_t unseen = 0;
  Random noise;
};

// What the allocator is told of the task now.
void RunningJob::look(double now_s, core::CurveShape fitted) {
  task.curve = history.fit(fitted);
  task.loss_range = history.range();
  if (task.curve && task.loss_range > 0 && iteration > task.iteration)
    returns.observe(task.curve->drop(task.iteration, iteration) / task.loss_range);
  task.iteration = iteration;
  task.iterations_left = iterations() - iteration;
  task.since_resize_s = now_s - resized_s;
}

void RunningJob::stop(double now_s) {
  stopped_s = now_s;
  if (now_s < job->submit_s + kWatched_s) loss_watched = loss_at(*job->losses, iteration);
}

void RunningJob::resize(int units, double now_s, double restart_s) {
  if (units == task.units) return;
  if (task.units > 0 || iteration > 0) {
    idle_until_s = now_s + restart_s;
    resized_s = now_s;
  }
  task.units = units;
}

void RunningJob::advance(double from_s, double until_s) {
  const double watched_s = job->submit_s + kWatched_s;
  const double per_s = task.units > 0 ? task.iterations_per_s(task.units) : 0;
  const double begin_s = std::clamp(idle_until_s, from_s, until_s);
  if (watched_s >= from_s && watched_s < until_s)
    loss_watched = loss_at(*job->losses, iteration + per_s * std::max(0.0, watched_s - begin_s));
  if (!(per_s > 0)) return;
  const double end = std::min(iterations(), iteration + per_s * (until_s - begin_s));
  while (!done() && marks[next_mark] <= end + 1e-9) {
    reached_s.push_back(begin_s + (marks[next_mark] - iteration) / per_s);
    ++next_mark;
  }
  iteration = end;
  see(end);
}

// One report an iteration.
void RunningJob::see(double until_iteration) {
  for (; static_cast<double>(unseen) <= until_iteration; ++unseen)
    history.observe(static_cast<double>(unseen),
                    (*job->losses)[unseen] + kSeenAbove + kSeenNoise * noise.normal());
}

// Means over the jobs that ended.
class ElasticMeans {
 public:
  void add(const RunningJob& job) {
    ++jobs_;
    const auto mark = [&](std::size_t at, double& sum, double& count) {
      if (job.reached_s.size() <= at) return;
      sum += job.reached_s[at] - job.job->submit_s;
      ++count;
    };
    mark(0, sums_.to90_s, to90_);
    mark(1, sums_.to95_s, to95_);
    if (job.job->weight > 1) mark(0, sums_.heavy_to90_s, heavy_);
    const double ended_s = job.stopped_s ? *job.stopped_s : job.reached_s.back();
    sums_.completion_s += ended_s - job.job->submit_s;
    sums_.loss_14min += job.loss_watched;
    sums_.owed_unit_min += std::max(0.0, job.task.owed_unit_s) / 60;
    sums_.stopped += job.stopped_s ? 1 : 0;
    sums_.lost += job.reached_s.empty() ? 1 : 0;
  }

  ElasticOutcome means() const {
    const auto mean = [](double sum, double count) {
      return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
    };
    ElasticOutcome of;
    of.to90_s = mean(sums_.to90_s, to90_);
    of.to95_s = mean(sums_.to95_s, to95_);
    of.completion_s = mean(sums_.completion_s, jobs_);
    of.loss_14min = mean(sums_.loss_14min, jobs_);
    of.heavy_to90_s = mean(sums_.heavy_to90_s, heavy_);
    of.owed_unit_min = mean(sums_.owed_unit_min, jobs_);
    of.stopped = mean(sums_.stopped, jobs_);
    of.lost = mean(sums_.lost, jobs_);
    return of;
  }

 private:
  ElasticOutcome sums_;
  double jobs_ = 0;
  double to90_ = 0;
  double to95_ = 0;
  double heavy_ = 0;
};

}  // namespace

std::vector<ElasticJob> draw_elastic_jobs(
    int jobs, std::span<const std::shared_ptr<const LossSteps>> measured, std::uint64_t seed) {
  constexpr double kBetween_s = 15;
  constexpr double kWork_s = 120 * 60;
  constexpr double kSigma = 0.8;
  Random random(seed);
  std::vector<ElasticJob> drawn(static_cast<std::size_t>(jobs));
  double now_s = 0;
  for (ElasticJob& job : drawn) {
    job.submit_s = now_s += random.exponential(kBetween_s);
    job.work_s = kWork_s * std::exp(kSigma * random.normal() - kSigma * kSigma / 2);
    job.noise_seed = random.next();
    if (!measured.empty())
      job.losses = measured[random.index(measured.size())];
    else
      job.losses = std::make_shared<const LossSteps>(
          random.index(2) == 0 ? exponential_losses(random) : power_losses(random));
  }
  return drawn;
}

void draw_weights(std::vector<ElasticJob>& jobs, double share, std::uint64_t seed) {
  Random random(seed ^ kWeightStream);
  for (ElasticJob& job : jobs)
    if (random.uniform() < share) job.weight = kHeavyWeight;
}

ElasticOutcome run_elastic(const ElasticLoad& load, const std::vector<ElasticJob>& jobs,
                           const ElasticPolicy& policy) {
  const core::ElasticRound round{load.units, load.period_s, load.restart_s};
  std::vector<RunningJob> running;
  ElasticMeans ended;
  std::size_t arrived = 0;
  for (double now_s = 0; arrived < jobs.size() || !running.empty(); now_s += round.period_s) {
    for (; arrived < jobs.size() && jobs[arrived].submit_s <= now_s; ++arrived)
      running.emplace_back(jobs[arrived], load.units, now_s);
    for (RunningJob& job : running) {
      job.look(now_s, load.fitted);
      if (load.early_stop && job.returns.reached()) job.stop(now_s);
    }
    const auto leave = [&](const RunningJob& job) {
      if (!job.done() && !job.stopped_s) return false;
      ended.add(job);
      return true;
    };
    std::erase_if(running, leave);
    std::vector<core::ElasticTask> tasks;
    for (const RunningJob& job : running)
      tasks.push_back(job.task);
    const std::vector<int> units = policy(tasks, round);
    const std::vector<double> booked = core::booked_in_round(tasks, units, round);
    for (std::size_t i = 0; i < running.size(); ++i) {
      running[i].task.owed_unit_s += booked[i];
      running[i].resize(units[i], now_s, round.restart_s);
      running[i].advance(now_s, now_s + round.period_s);
    }
    std::erase_if(running, leave);
  }
  return ended.means();
}

}  // namespace slackline::sim
