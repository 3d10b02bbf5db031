#include "sim/presets/elastic_run.h"

#include <algorithm>
#include <cmath>

#include "slackline/base/random.h"

namespace slackline::sim {
namespace {

constexpr double kSeenAbove = 0.15;  // the loss of the task over that of the curve
constexpr double kSeenNoise = 0.01;
constexpr double kWatched_s = 14 * 60;
constexpr int kMostUnits = 32;  // of one task

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
  RunningJob(const ElasticJob& of, int units)
      : job(&of),
        marks{first_at(*of.losses, 0.1), first_at(*of.losses, 0.05), iterations()},
        noise(of.noise_seed) {
    task.most = std::min(kMostUnits, units);
    task.iterations_left = iterations();
    task.iterations_per_s = [per_unit = iterations() / of.work_s](int size) {
      return per_unit * size;
    };
  }

  double iterations() const { return static_cast<double>(job->losses->size() - 1); }
  bool done() const { return next_mark == marks.size(); }
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
  double loss_watched = 0;  // stays 0 if the job ends before
  std::size_t unseen = 0;
  Random noise;
};

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

ElasticOutcome run_elastic(const ElasticLoad& load, const std::vector<ElasticJob>& jobs,
                           const ElasticPolicy& policy) {
  const core::ElasticRound round{load.units, 120, load.restart_s};
  std::vector<RunningJob> running;
  ElasticOutcome sum;
  const auto count = static_cast<double>(jobs.size());
  std::size_t arrived = 0;
  for (double now_s = 0; arrived < jobs.size() || !running.empty(); now_s += round.period_s) {
    for (; arrived < jobs.size() && jobs[arrived].submit_s <= now_s; ++arrived)
      running.emplace_back(jobs[arrived], load.units);
    std::vector<core::ElasticTask> tasks;
    for (RunningJob& job : running) {
      job.task.curve = job.history.fit(load.fitted);
      job.task.loss_range = job.history.range();
      job.task.iteration = job.iteration;
      job.task.iterations_left = job.iterations() - job.iteration;
      job.task.since_resize_s = now_s - job.resized_s;
      tasks.push_back(job.task);
    }
    const std::vector<int> units = policy(tasks, round);
    for (std::size_t i = 0; i < running.size(); ++i) {
      running[i].resize(units[i], now_s, round.restart_s);
      running[i].advance(now_s, now_s + round.period_s);
    }
    std::erase_if(running, [&](const RunningJob& job) {
      if (!job.done()) return false;
      sum.to90_s += (job.reached_s[0] - job.job->submit_s) / count;
      sum.to95_s += (job.reached_s[1] - job.job->submit_s) / count;
      sum.loss_14min += job.loss_watched / count;
      sum.completion_s += (job.reached_s[2] - job.job->submit_s) / count;
      return true;
    });
  }
  return sum;
}

}  // namespace slackline::sim
