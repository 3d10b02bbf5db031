#include "control/portrait/portraits.h"

#include <future>
#include <utility>

namespace slackline::control {
namespace {

constexpr std::size_t kMostNews = 10'000;
constexpr double kWindowsWait_s = 600;  // before they are written
constexpr double kWriteAgain_s = 1;     // what could not be written

}  // namespace

Portraits::Portraits(std::unique_ptr<PortraitKeeper> keeper, obs::MetricsRegistry& metrics,
                     const Clock& clock)
    : keeper_(std::move(keeper)),
      clock_(clock),
      dropped_(metrics.counter("slackline_portrait_news_dropped_total")),
      written_s_(clock.steady_s()),
      thread_(&Portraits::run, this) {}

Result<std::unique_ptr<Portraits>> Portraits::open(const PortraitOptions& options,
                                                   obs::MetricsRegistry& metrics,
                                                   const Clock& clock) {
  SLACKLINE_ASSIGN(auto keeper, PortraitKeeper::open(options, metrics, clock));
  return std::unique_ptr<Portraits>(new Portraits(std::move(keeper), metrics, clock));
}

Portraits::~Portraits() {
  stop();
  join();
}

void Portraits::stop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
}

void Portraits::join() {
  if (thread_.joinable()) thread_.join();
}

void Portraits::tell(News news) {
  MutexLock lock(mutex_);
  if (stopping_ || news_.size() >= kMostNews) return dropped_.add();
  news_.push_back(std::move(news));
  wake_.notify_one();
}

void Portraits::observe(std::vector<ObservedWindow> windows) {
  if (windows.empty()) return;
  tell([windows = std::move(windows)](PortraitKeeper& keeper) { keeper.observe(windows); });
}

void Portraits::add_run(PortraitIdentity identity, PortraitRun run) {
  tell([identity = std::move(identity), run = std::move(run)](PortraitKeeper& keeper) {
    keeper.add_run(identity, run);
  });
}

void Portraits::add_unmeasured(EndedRun ended) {
  tell([ended = std::move(ended)](PortraitKeeper& keeper) { keeper.add_unmeasured(ended); });
}

Status Portraits::ask(std::function<Status(PortraitKeeper&)> change) {
  auto answered = std::make_shared<std::promise<Status>>();
  std::future<Status> answer = answered->get_future();
  {
    MutexLock lock(mutex_);
    if (stopping_) return fail(ErrorCode::kUnavailable, "the daemon is stopping");
    if (news_.size() >= kMostNews)
      return fail(ErrorCode::kUnavailable,
                  "too much waits for the portrait database; try again in a moment");
    news_.emplace_back([answered, change = std::move(change)](PortraitKeeper& keeper) {
      Status done = change(keeper);
      keeper.publish();
      answered->set_value(done ? keeper.write() : std::move(done));
    });
    wake_.notify_one();
  }
  return answer.get();
}

void Portraits::add_rollback(PortraitIdentity identity, ResizeRollback rollback) {
  const core::PortraitPtr known_one = known().get()->find(identity);
  if (known_one && known_one->resizing.rolled_back.run == rollback.run) return;
  tell([identity = std::move(identity), rollback = std::move(rollback)](PortraitKeeper& keeper) {
    keeper.add_rollback(identity, rollback);
  });
}

Status Portraits::put(std::vector<Portrait> portraits) {
  return ask([portraits = std::move(portraits)](PortraitKeeper& keeper) -> Status {
    keeper.put(portraits);
    return {};
  });
}

Status Portraits::forget(std::vector<std::string> keys) {
  return ask([keys = std::move(keys)](PortraitKeeper& keeper) -> Status {
    for (const std::string& key : keys)
      keeper.forget(key);
    return {};
  });
}

Status Portraits::settle() {
  return ask([](PortraitKeeper&) -> Status { return {}; });
}

bool Portraits::wait_for_news(std::vector<News>& news) {
  const bool unwritten = keeper_->wants_write() || keeper_->closed();
  MutexLock lock(mutex_);
  while (news_.empty() && !stopping_) {
    if (!unwritten && !keeper_->has_changes()) {
      wake_.wait(mutex_);
      continue;
    }
    wake_.wait_for_s(mutex_, unwritten ? kWriteAgain_s : kWindowsWait_s);
    break;
  }
  news.swap(news_);
  return !stopping_;
}

void Portraits::run() {
  for (bool goes_on = true; goes_on;) {
    std::vector<News> news;
    goes_on = wait_for_news(news);
    for (const News& one : news)
      one(*keeper_);
    keeper_->publish();
    const bool late = clock_.steady_s() - written_s_ >= kWindowsWait_s;
    if (keeper_->closed() && goes_on) keeper_->open_again();
    if (!keeper_->wants_write() && !late && goes_on) continue;
    // What could not be written stays; the keeper has told it.
    if (keeper_->write()) written_s_ = clock_.steady_s();
  }
}

}  // namespace slackline::control
