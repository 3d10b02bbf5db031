#include "control/learn/models.h"

#include <future>
#include <iterator>
#include <utility>

#include "control/learn/model_writer.h"

namespace slackline::control {
namespace {

constexpr std::size_t kMaxWaitingRuns = 1000;
constexpr double kStoreRetry_s = 1;  // what could not be stored, and a database that is not open

}  // namespace

Models::Models(const ModelsOptions& options, std::unique_ptr<ModelWriter> writer,
               obs::MetricsRegistry& metrics)
    : queue_limit_(options.queue_limit),
      writer_(std::move(writer)),
      dropped_runs_(metrics.counter("slackline_model_runs_dropped_total")),
      thread_(&Models::run, this) {}

Result<std::unique_ptr<Models>> Models::open(const ModelsOptions& options, WorkloadProfiles base,
                                             obs::MetricsRegistry& metrics, const Clock& clock) {
  SLACKLINE_ASSIGN(auto writer, ModelWriter::open(options.path, std::move(base), metrics, clock,
                                                  options.busy_timeout_s));
  return std::unique_ptr<Models>(new Models(options, std::move(writer), metrics));
}

Models::~Models() {
  stop();
  join();
}

const Published<Known>& Models::known() const {
  return writer_->known();
}

const Published<std::string>& Models::problem() const {
  return writer_->problem();
}

void Models::stop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
}

void Models::join() {
  if (thread_.joinable()) thread_.join();
}

template <class T>
Result<T> Models::ask(std::function<Result<T>()> work) {
  auto answered = std::make_shared<std::promise<Result<T>>>();
  std::future<Result<T>> answer = answered->get_future();
  {
    MutexLock lock(mutex_);
    if (stopping_) return fail(ErrorCode::kUnavailable, "the daemon is stopping");
    if (tasks_.size() >= queue_limit_)
      return fail(ErrorCode::kUnavailable,
                  "too many requests wait for the model database; try again in a moment");
    tasks_.emplace_back([answered, work = std::move(work)] { answered->set_value(work()); });
    wake_.notify_one();
  }
  return answer.get();
}

Result<SamplesAccepted> Models::add_samples(std::vector<ThroughputSample> samples) {
  return ask<SamplesAccepted>(
      [this, samples = std::move(samples)] { return writer_->add_samples(samples); });
}

Result<std::vector<ThroughputSample>> Models::samples(std::string model) {
  return ask<std::vector<ThroughputSample>>(
      [this, model = std::move(model)] { return writer_->samples(model); });
}

Result<ModelView> Models::describe(ModelDescriptor descriptor) {
  return ask<ModelView>(
      [this, descriptor = std::move(descriptor)] { return writer_->describe(descriptor); });
}

Status Models::forget(std::string model) {
  struct Forgotten {};
  const auto done = ask<Forgotten>([this, model = std::move(model)]() -> Result<Forgotten> {
    SLACKLINE_TRY(writer_->forget(model));
    return Forgotten{};
  });
  return done ? Status() : Status(fail(done.error()));
}

void Models::record_run(ThroughputSample run) {
  MutexLock lock(mutex_);
  if (stopping_ || runs_.size() >= kMaxWaitingRuns) {
    dropped_runs_.add();
    return;
  }
  runs_.push_back(std::move(run));
  wake_.notify_one();
}

void Models::run() {
  writer_->catch_up([this] {
    MutexLock lock(mutex_);
    return stopping_;
  });
  std::vector<ThroughputSample> waiting;
  for (;;) {
    std::deque<Task> tasks;
    bool stopping = false;
    const bool closed = writer_->closed();
    {
      MutexLock lock(mutex_);
      while (tasks_.empty() && runs_.empty() && !stopping_) {
        if (waiting.empty() && !closed) {
          wake_.wait(mutex_);
        } else {
          wake_.wait_for_s(mutex_, kStoreRetry_s);
          break;
        }
      }
      tasks.swap(tasks_);
      std::move(runs_.begin(), runs_.end(), std::back_inserter(waiting));
      runs_.clear();
      stopping = stopping_;
    }
    for (const Task& task : tasks)
      task();
    write_runs(waiting);
    if (writer_->closed() && !stopping) writer_->open_again();
    if (stopping) return dropped_runs_.add(static_cast<double>(waiting.size()));
  }
}

void Models::write_runs(std::vector<ThroughputSample>& waiting) {
  if (waiting.size() > kMaxWaitingRuns) {
    const std::size_t too_many = waiting.size() - kMaxWaitingRuns;
    dropped_runs_.add(static_cast<double>(too_many));
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(too_many));
  }
  // What could not be stored stays; the writer has logged it.
  if (!waiting.empty()) static_cast<void>(writer_->add_runs(waiting));
}

}  // namespace slackline::control
