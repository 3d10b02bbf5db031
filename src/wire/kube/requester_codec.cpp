#include "wire/kube/requester_codec.h"

#include <algorithm>

namespace slackline::wire {
namespace {

constexpr std::size_t kMaxGroups = 1024;

std::vector<std::string> read_list(JsonView list) {
  std::vector<std::string> out;
  for (const JsonView item : list.items())
    if (item.is_string() && out.size() < kMaxGroups) out.emplace_back(item.text());
  return out;
}

}  // namespace

Requester read_requester(JsonView user_info) {
  Requester user;
  user.name = std::string(user_info["username"].text());
  user.uid = std::string(user_info["uid"].text());
  user.groups = read_list(user_info["groups"]);
  for (const auto& [key, values] : user_info["extra"].fields())
    if (user.extra.size() < kMaxGroups) user.extra.emplace_back(key, read_list(values));
  std::sort(user.extra.begin(), user.extra.end());
  return user;
}

}  // namespace slackline::wire
