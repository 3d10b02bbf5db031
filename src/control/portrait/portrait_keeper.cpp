#include "control/portrait/portrait_keeper.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "control/state/resize_meter.h"
#include "slackline/base/text.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/portrait/learn.h"
#include "slackline/core/portrait/packed.h"

namespace slackline::control {
namespace {

constexpr std::size_t kRowsAtOnce = 500;  // a transaction of a megabyte

}  // namespace

PortraitKeeper::PortraitKeeper(const PortraitOptions& options, store::PortraitStore store,
                               obs::MetricsRegistry& metrics, const Clock& clock)
    : options_(options),
      store_(std::move(store)),
      condition_("portrait", options.path, metrics),
      clock_(clock),
      metrics_(metrics),
      count_(metrics.gauge("slackline_portraits")) {}

Result<std::unique_ptr<PortraitKeeper>> PortraitKeeper::open(const PortraitOptions& options,
                                                             obs::MetricsRegistry& metrics,
                                                             const Clock& clock) {
  auto store = store::PortraitStore::open(options.path, options.busy_timeout_s);
  if (!store) return fail(store.error().with_context("the portrait database " + options.path));
  std::unique_ptr<PortraitKeeper> keeper(
      new PortraitKeeper(options, std::move(*store), metrics, clock));
  keeper->condition_.opened(keeper->store_.closed(), keeper->store_.damage());
  keeper->load();
  keeper->publish();
  return keeper;
}

void PortraitKeeper::open_again() {
  if (!store_.reopen()) return;
  condition_.recovered(store_.damage());
  book_.portraits.clear();
  changed_.clear();
  forgotten_.clear();
  load();
  again_ = true;
  for (const auto& change : std::exchange(told_, {}))
    change();
  again_ = false;
  publish();
}

void PortraitKeeper::load() {
  const auto rows = store_.all();
  if (!rows) condition_.cannot_read("portraits", rows.error());
  for (const store::StoredPortrait& row : rows.value_or(std::vector<store::StoredPortrait>())) {
    auto portrait = core::unpacked_portrait(row.bytes);
    if (!portrait) {
      condition_.cannot_read("the portrait of " + printable(row.key, 128), portrait.error());
      continue;
    }
    book_.portraits.try_emplace(row.key, std::make_shared<const Portrait>(*std::move(portrait)));
  }
  condition_.tell(store_.damage());
  published_ = false;
}

Portrait& PortraitKeeper::portrait_of(const PortraitIdentity& identity) {
  std::string key = core::portrait_key(identity);
  auto copy = std::make_shared<Portrait>();
  core::PortraitPtr& known = book_.portraits[key];
  if (known) *copy = *known;
  // The family is the same; what else is said of it may have changed.
  const std::optional<double> parameters = copy->identity.parameters;
  copy->identity = identity;
  if (!identity.parameters) copy->identity.parameters = parameters;
  known = copy;
  forgotten_.erase(key);
  changed_.insert(std::move(key));
  published_ = false;
  return *copy;
}

void PortraitKeeper::observe(const std::vector<ObservedWindow>& windows) {
  // Runs are worth more: half of the room is theirs.
  for (const ObservedWindow& window : windows)
    learn([this, window] { core::observe(portrait_of(window.identity), window.usage); },
          kMostTold / 2);
}

void PortraitKeeper::add_run(const PortraitIdentity& identity, const PortraitRun& run) {
  learn([this, identity, run] { take_run(identity, run); });
}

void PortraitKeeper::take_run(const PortraitIdentity& identity, const PortraitRun& run) {
  Portrait& portrait = portrait_of(identity);
  const ResizeRecord before = portrait.resizing;
  core::add_run(portrait, run, options_.least_run_s);
  count_resizes(before, portrait.resizing);
  urgent_ = true;
}

void PortraitKeeper::add_rollback(const PortraitIdentity& identity,
                                  const ResizeRollback& rollback) {
  learn([this, identity, rollback] {
    Portrait& portrait = portrait_of(identity);
    const ResizeRecord before = portrait.resizing;
    core::add_rollback(portrait, rollback);
    count_resizes(before, portrait.resizing);
    urgent_ = true;
  });
}

void PortraitKeeper::count_resizes(const ResizeRecord& before, const ResizeRecord& now) const {
  if (again_) return;
  if (now.kept_s != before.kept_s) count_resize(metrics_, kResizeKept);
  if (now.rolled_back.run != before.rolled_back.run)
    count_resize(metrics_, to_string(now.rolled_back.failure));
}

void PortraitKeeper::add_unmeasured(const EndedRun& ended) {
  learn([this, ended] {
    const core::PortraitPtr known = book_.find(ended.identity);
    if (known && core::remembers(*known, ended.run.usage.run)) return;
    take_run(ended.identity, ended.run);
  });
}

void PortraitKeeper::put(const std::vector<Portrait>& portraits) {
  learn([this, portraits] {
    for (const Portrait& portrait : portraits)
      portrait_of(portrait.identity) = portrait;
    urgent_ = true;
  });
}

void PortraitKeeper::forget(const std::string& key) {
  learn([this, key] { drop(key); });
}

void PortraitKeeper::drop(const std::string& key) {
  if (book_.portraits.erase(key) == 0) return;
  changed_.erase(key);
  forgotten_.insert(key);
  urgent_ = true;
  published_ = false;
}

void PortraitKeeper::forget_old() {
  const double before_s = clock_.wall_s() - options_.keep_s;
  if (book_.portraits.size() <= options_.most &&
      std::none_of(book_.portraits.begin(), book_.portraits.end(), [before_s](const auto& entry) {
        return core::last_seen_s(*entry.second) < before_s;
      }))
    return;
  std::vector<std::pair<double, std::string>> by_age;
  for (const auto& [key, portrait] : book_.portraits)
    by_age.emplace_back(core::last_seen_s(*portrait), key);
  std::sort(by_age.begin(), by_age.end());
  std::size_t left = by_age.size();
  for (const auto& [seen_s, key] : by_age) {
    if (left <= options_.most && seen_s >= before_s) break;
    drop(key);
    --left;
  }
}

void PortraitKeeper::publish() {
  if (published_) return;
  forget_old();
  ++book_.version;
  book_.renew_indexes();
  known_.set(book_);
  published_ = true;
  count_.set(static_cast<double>(book_.portraits.size()));
}

Status PortraitKeeper::write() {
  if (closed()) open_again();
  while (has_changes())
    SLACKLINE_TRY(write_some());
  urgent_ = false;
  return {};
}

Status PortraitKeeper::write_some() {
  std::vector<store::StoredPortrait> rows;
  auto end = changed_.begin();
  for (; end != changed_.end() && rows.size() < kRowsAtOnce; ++end) {
    const Portrait& portrait = *book_.portraits.at(*end);
    rows.push_back({*end, core::last_seen_s(portrait), core::packed(portrait)});
  }
  const std::vector<std::string> gone(forgotten_.begin(), forgotten_.end());
  SLACKLINE_TRY(condition_.written(store_.write(rows, gone), "portraits were", store_.damage()));
  changed_.erase(changed_.begin(), end);
  forgotten_.clear();
  return {};
}

}  // namespace slackline::control
