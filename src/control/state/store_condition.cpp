#include "control/state/store_condition.h"

#include <utility>
#include <vector>

#include "obs/log.h"
#include "slackline/base/text.h"

namespace slackline::control {
namespace {

constexpr std::string_view kStoreRemedy =
    "free its disk or make it writable, or end the program that locks it";

std::string damage_metric(const std::string& name) {
  return format("slackline_{}_store_damaged", name);
}

}  // namespace

bool passes_by_itself(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kResourceExhausted ||
         error.code == ErrorCode::kForbidden;
}

StoreCondition::StoreCondition(std::string name, std::string path, obs::MetricsRegistry& metrics)
    : name_(std::move(name)),
      path_(std::move(path)),
      failed_writes_(metrics.counter(format("slackline_{}_store_failures_total", name_))),
      degraded_(metrics.gauge(format("slackline_{}_store_degraded", name_))),
      restored_(metrics.gauge(damage_metric(name_), {{"outcome", "restored"}})),
      lost_(metrics.gauge(damage_metric(name_), {{"outcome", "lost"}})) {}

void StoreCondition::opened(const std::string& closed, const store::StoreDamage& damage) {
  refusal_ = closed;
  if (!closed.empty())
    obs::log_error(name_ + "_store_degraded",
                   {{"path", path_}, {"error", closed}, {"remedy", kStoreRemedy}});
  tell(damage);
}

void StoreCondition::recovered(const store::StoreDamage& damage) {
  obs::log_info(name_ + "_store_recovered", {{"path", path_}});
  refusal_.clear();
  tell(damage);
}

Status StoreCondition::written(const Status& status, std::string_view what,
                               const store::StoreDamage& damage) {
  if (!status) count_failed_write();
  const bool refused = !status && passes_by_itself(status.error());
  if (refused && refusal_.empty())
    obs::log_error(name_ + "_store_degraded", {{"path", path_}, {"error", status.error().message}});
  if (!refused && !refusal_.empty()) obs::log_info(name_ + "_store_recovered", {{"path", path_}});
  refusal_ = refused ? status.error().message : "";
  tell(damage);
  if (!refused) return status;
  return fail(ErrorCode::kUnavailable,
              format("{} not stored: the {} database {} cannot be written: {}; {}, and send the "
                     "same again",
                     what, name_, path_, status.error().message, kStoreRemedy));
}

void StoreCondition::cannot_read(std::string_view rows, const Error& error) {
  obs::log_error(name_ + "_store_unreadable",
                 {{"path", path_}, {"rows", rows}, {"error", error.message}});
  unreadable_ =
      format("{} of the {} database {} cannot be read: {}", rows, name_, path_, error.message);
}

void StoreCondition::tell(const store::StoreDamage& damage) {
  restored_.set(damage.restored);
  lost_.set(damage.lost);
  degraded_.set(refusal_.empty() ? 0 : 1);
  std::vector<std::string> problems;
  if (!refusal_.empty())
    problems.push_back(format("the {} database {} cannot be written: {}; {}", name_, path_,
                              refusal_, kStoreRemedy));
  if (!unreadable_.empty()) problems.push_back(unreadable_);
  if (damage.lost > 0)
    problems.push_back(
        format("the {} database {} was damaged and its mirror held nothing to restore it from; "
               "the data learned before is in {}",
               name_, path_, damage.moved_to));
  problem_.set(join(problems, "; "));
}

}  // namespace slackline::control
