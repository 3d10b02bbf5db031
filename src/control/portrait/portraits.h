// Portraits: what the daemon knows of what families of tasks use, and the one thread that adds to
// it.
//
// Whoever asks reads known(): a pointer to something immutable, never a wait. Whoever tells never
// waits either, but for put() and forget(), which return when it is on disk. What was told is known
// a moment later. Ends of runs are written at once; windows alone every ten minutes and at the
// stop, so that a crash loses at most as much of the histograms. At most 10,000 pieces of news
// wait; further ones are dropped and counted.
//
// Thread-safe. Errors: kUnavailable with the remedy.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "control/portrait/portrait_keeper.h"
#include "slackline/base/mutex.h"

namespace slackline::control {

class Portraits {
 public:
  // Opens or makes the file and starts the thread. A disk that refuses is not an error. `metrics`
  // and `clock` outlive it.
  static Result<std::unique_ptr<Portraits>> open(const PortraitOptions& options,
                                                 obs::MetricsRegistry& metrics, const Clock& clock);
  ~Portraits();  // stop() and join()
  Portraits(const Portraits&) = delete;
  Portraits& operator=(const Portraits&) = delete;

  const Published<core::PortraitBook>& known() const { return keeper_->known(); }
  // What is wrong with keeping them, for people; empty = nothing.
  const Published<std::string>& problem() const { return keeper_->problem(); }

  // One pass: every window is told once.
  void observe(std::vector<ObservedWindow> windows);
  // Repeatable: the same run told again (`run.usage.run`) replaces what it said before.
  void add_run(PortraitIdentity identity, PortraitRun run);
  // Its end, as long as nobody knows more: nothing changes if the run is known.
  void add_unmeasured(EndedRun ended);

  // Repeatable; nothing is written where it is known.
  void add_rollback(PortraitIdentity identity, ResizeRollback rollback);

  // In place of what is known of their families. Returns when they are on disk.
  Status put(std::vector<Portrait> portraits);
  // The families of these keys. Returns when it is on disk.
  Status forget(std::vector<std::string> keys);

  // Everything that was told before is known, and on disk as far as it can be written.
  Status settle();

  // What was told before is still kept; later news is dropped.
  void stop();
  void join();

 private:
  using News = std::function<void(PortraitKeeper&)>;

  Portraits(std::unique_ptr<PortraitKeeper> keeper, obs::MetricsRegistry& metrics,
            const Clock& clock);
  void tell(News news);
  Status ask(std::function<Status(PortraitKeeper&)> change);
  void run();
  // What waits, once there is something to do; false: nothing comes any more.
  bool wait_for_news(std::vector<News>& news);

  std::unique_ptr<PortraitKeeper> keeper_;  // of the thread
  const Clock& clock_;
  obs::Counter dropped_;
  double written_s_ = 0;  // steady; of the thread

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ SLACKLINE_GUARDED_BY(mutex_) = false;
  std::vector<News> news_ SLACKLINE_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace slackline::control
