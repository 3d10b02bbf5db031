#include "control/plan/stop_ledger.h"

#include <algorithm>

#include "obs/log.h"

namespace slackline::control {
namespace {

constexpr int kTries = 3;
constexpr double kLongestLook_s = 600;  // then an asker is judged by nobody
constexpr double kOneOccasion_s = 60;   // stops for one asker

}  // namespace

StopLedger::StopLedger(cluster::StopStore& store, obs::MetricsRegistry& metrics, const Clock& clock)
    : store_(store), metrics_(metrics), clock_(clock) {}

void StopLedger::forget() {
  MutexLock writing(writing_);
  loaded_ = false;
}

bool StopLedger::load() {
  MutexLock writing(writing_);
  if (loaded_) return true;
  const Status merged = merge();
  const bool forbidden = !merged && merged.error().code == ErrorCode::kForbidden;
  if (failures_.is_news(merged))
    obs::log_warning(
        "stop_book_unreadable",
        {{"error", merged.error().message},
         {"remedy", forbidden ? "grant get, create and update on this ConfigMap; until then what "
                                "stops have cost is forgotten with each leader"
                              : "it is tried again, and nothing is planned before"}});
  loaded_ = merged || forbidden;
  return loaded_;
}

// What is stored goes under what this process knows.
Status StopLedger::merge() {
  SLACKLINE_ASSIGN(const auto stored, store_.read());
  resource_version_ = stored ? stored->resource_version : "";
  if (!stored) return {};
  if (stored->unreadable > 0)
    obs::log_warning("stop_book_damaged",
                     {{"left_out", static_cast<std::int64_t>(stored->unreadable)}});
  MutexLock lock(mutex_);
  for (const BookedStop& stop : stored->stops) {
    const bool known = std::any_of(stops_.begin(), stops_.end(),
                                   [&](const BookedStop& mine) { return mine.is_same(stop); });
    if (!known) put(stop);
  }
  return {};
}

void StopLedger::put(const BookedStop& stop) {
  const double since_s = clock_.wall_s() - core::kAccountedFor_s;
  std::erase_if(stops_,
                [&](const BookedStop& past) { return past.is_same(stop) || past.at_s < since_s; });
  if (stops_.size() >= kMostBooked)
    stops_.erase(std::min_element(
        stops_.begin(), stops_.end(),
        [](const BookedStop& a, const BookedStop& b) { return a.gpu_s < b.gpu_s; }));
  const auto later = [&](const BookedStop& other) { return other.at_s > stop.at_s; };
  stops_.insert(std::find_if(stops_.begin(), stops_.end(), later), stop);
}

// Several runs are stopped for one start: that is one occasion, of the time of the first.
void StopLedger::watch(BookedStop& stop) {
  const auto open = std::find_if(askers_.begin(), askers_.end(), [&](const auto& each) {
    const auto& [asker, asked_s] = each.first;
    return asker == stop.asker && asked_s > stop.at_s - kOneOccasion_s;
  });
  if (open != askers_.end())
    stop.at_s = open->first.second;
  else
    askers_.emplace(Occasion(stop.asker, stop.at_s), core::Asker{stop.asker, stop.at_s});
}

Status StopLedger::book(const OwnWrite& write) {
  auto stop = core::booked_stop(write, clock_.wall_s());
  if (!stop) return {};
  std::uint64_t mine = 0;
  {
    MutexLock lock(mutex_);
    if (!stop->asker.name.empty()) watch(*stop);
    put(*stop);
    mine = ++changes_;
  }
  MutexLock writing(writing_);
  {
    MutexLock lock(mutex_);
    if (kept_ >= mine) return {};  // with another one
  }
  const Status kept = keep();
  const bool news = failures_.is_news(kept);
  if (kept) return {};
  const bool forbidden = kept.error().code == ErrorCode::kForbidden;
  if (news) obs::log_warning("stop_not_booked", {{"error", kept.error().message}});
  if (forbidden) return {};
  MutexLock lock(mutex_);
  drop(*stop);  // what of it may be stored is not made, and not charged
  return fail(ErrorCode::kInternal, "the stop was not booked: " + kept.error().message);
}

Status StopLedger::keep() {
  for (int tries = 0;; ++tries) {
    cluster::StoredStops all{{}, resource_version_};
    std::uint64_t upto = 0;
    {
      MutexLock lock(mutex_);
      all.stops = stops_;
      upto = changes_;
    }
    auto version = store_.write(all);
    if (version) {
      resource_version_ = *std::move(version);
      MutexLock lock(mutex_);
      kept_ = std::max(kept_, upto);
      return {};
    }
    const ErrorCode code = version.error().code;
    const bool is_another = code == ErrorCode::kConflict || code == ErrorCode::kNotFound;
    if (!is_another || tries == kTries) return fail(version.error());
    SLACKLINE_TRY(merge());
  }
}

void StopLedger::take_back(const OwnWrite& write) {
  const auto stop = core::booked_stop(write, clock_.wall_s());
  if (!stop) return;
  MutexLock lock(mutex_);
  drop(*stop);
}

// Nobody asked in vain for what was not done.
void StopLedger::drop(const BookedStop& stop) {
  std::erase_if(stops_, [&](const BookedStop& each) { return each.is_same(stop); });
  const bool any = std::any_of(stops_.begin(), stops_.end(), [&](const BookedStop& each) {
    return each.asker == stop.asker && each.at_s > stop.at_s - kOneOccasion_s;
  });
  if (!any)
    std::erase_if(askers_, [&](const auto& each) { return each.first.first == stop.asker; });
}

void StopLedger::on_job(const Job& job) {
  if (!job.finished) return;
  MutexLock lock(mutex_);
  std::erase_if(askers_, [&](const auto& each) { return each.first.first == job.key; });
}

void StopLedger::judge(const ClusterSnapshot& snapshot, double protect_s) {
  const double now_s = clock_.wall_s();
  for (auto at = askers_.begin(); at != askers_.end();) {
    const auto& [asker, asked_s] = at->first;
    const core::AskerFate fate = core::look_at(at->second, snapshot, protect_s, now_s);
    if (fate == core::AskerFate::kInVain) {
      for (BookedStop& stop : stops_)
        if (stop.asker == asker && stop.at_s == asked_s) stop.in_vain_s = now_s;
      metrics_.counter("slackline_stops_in_vain_total").add();
      obs::log_info("stopped_in_vain", {{"task", asker.str()}});
    }
    const bool over = fate != core::AskerFate::kOpen || now_s > asked_s + kLongestLook_s;
    at = over ? askers_.erase(at) : std::next(at);
  }
}

core::StopBook StopLedger::read(const ClusterSnapshot& shown, const ClusterSnapshot& planned,
                                std::unordered_set<Uid> refused, double protect_s) {
  core::StopBook book;
  book.refused = std::move(refused);
  MutexLock lock(mutex_);
  judge(shown, protect_s);
  book.stops = core::made_stops(stops_, planned);
  book.barred_until_s = core::bars(book.stops, protect_s, clock_.wall_s());
  return book;
}

}  // namespace slackline::control
