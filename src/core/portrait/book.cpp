#include "slackline/core/portrait/book.h"

#include "slackline/core/portrait/family.h"

namespace slackline::core {

PortraitPtr PortraitBook::find(const PortraitIdentity& identity) const {
  const auto found = portraits.find(portrait_key(identity));
  return found == portraits.end() ? nullptr : found->second;
}

PortraitPtr PortraitBook::find_past(const PortraitIdentity& identity, Placement asked) const {
  PortraitPtr own = find(identity);
  if (own && own->runs_s.runs > 0) return own;
  const auto like = recurring.find(recurrence_key(identity, asked));
  return like == recurring.end() ? own : like->second;
}

void PortraitBook::renew_recurring() {
  recurring.clear();
  for (const auto& [key, portrait] : portraits) {
    if (portrait->runs_s.runs == 0) continue;
    std::string recurrence = recurrence_key(portrait->identity, portrait->asked);
    if (recurrence.empty()) continue;
    PortraitPtr& last = recurring[std::move(recurrence)];
    if (!last || last->last_s < portrait->last_s) last = portrait;
  }
}

std::string recurrence_key(const PortraitIdentity& identity, Placement asked) {
  if (identity.image.empty()) return {};
  std::string key = identity.department;
  for (const std::string& part : {identity.submitter, identity.image, asked.str()}) {
    key += '\n';
    key += part;
  }
  if (identity.mode == WorkloadMode::kInference) key += "\ninference";
  return key;
}

}  // namespace slackline::core
