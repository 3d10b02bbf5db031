#include "slackline/core/portrait/book.h"

#include <algorithm>
#include <utility>

#include "slackline/base/text.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/throughput/predictor.h"

namespace slackline::core {
namespace {

constexpr std::size_t kMostAlike = 8;

// What two families must share one of (nearest_portrait()).
std::vector<std::string> keys_of_alike(const PortraitIdentity& identity) {
  std::vector<std::string> keys;
  if (!identity.image.empty())
    keys.push_back(format("{}\nimage {}", identity.department, image_repository(identity.image)));
  if (!identity.model.empty())
    keys.push_back(format("{}\nmodel {}", identity.department, family_of(identity.model)));
  return keys;
}

}  // namespace

PortraitPtr PortraitBook::find(const PortraitIdentity& identity) const {
  const auto found = portraits.find(portrait_key(identity));
  return found == portraits.end() ? nullptr : found->second;
}

PortraitPtr PortraitBook::find_same(const PortraitIdentity& identity, Placement asked) const {
  PortraitPtr own = find(identity);
  if (own && own->runs_s.runs > 0) return own;
  const auto like = recurring.find(recurrence_key(identity, asked));
  return like == recurring.end() ? own : like->second;
}

KnownPast PortraitBook::find_past(const PortraitIdentity& identity, Placement asked) const {
  PortraitPtr same = find_same(identity, asked);
  if (alike.empty() || (same && same->runs_s.runs > 0)) return {std::move(same)};
  std::map<const Portrait*, PortraitPtr> near;
  for (const std::string& key : keys_of_alike(identity))
    if (const auto found = alike.find(key); found != alike.end())
      for (const PortraitPtr& portrait : found->second)
        near.emplace(portrait.get(), portrait);
  std::vector<const Portrait*> known;
  for (const auto& [portrait, owner] : near)
    known.push_back(portrait);
  const auto nearest = nearest_portrait(known, identity);
  if (!nearest) return {std::move(same)};
  return {near.at(nearest->portrait), true};
}

void PortraitBook::renew_indexes() {
  recurring.clear();
  alike.clear();
  std::vector<PortraitPtr> latest;
  for (const auto& [key, portrait] : portraits)
    if (portrait->runs_s.runs > 0) latest.push_back(portrait);
  std::stable_sort(latest.begin(), latest.end(), [](const PortraitPtr& a, const PortraitPtr& b) {
    return a->last_s > b->last_s;
  });
  for (const PortraitPtr& portrait : latest) {
    if (std::string key = recurrence_key(portrait->identity, portrait->asked); !key.empty())
      recurring.try_emplace(std::move(key), portrait);
    for (std::string& key : keys_of_alike(portrait->identity))
      if (auto& few = alike[std::move(key)]; few.size() < kMostAlike) few.push_back(portrait);
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
