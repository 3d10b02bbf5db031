// PortraitBook: every portrait that is known at one moment. Immutable once it is published; books
// share the portraits that did not change.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slackline/model/portrait.h"

namespace slackline::core {

using PortraitPtr = std::shared_ptr<const Portrait>;  // never null in a book

// Whose run times tell how long a task takes.
struct KnownPast {
  PortraitPtr portrait;  // null: nobody's
  bool similar = false;  // it is another family, the nearest: what it took is a guess
};

struct PortraitBook {
  std::map<std::string, PortraitPtr, std::less<>> portraits;  // by portrait_key()
  std::uint64_t version = 0;                                  // grows with every change
  // Of those with a run that succeeded, the one that ran last, by recurrence_key().
  std::map<std::string, PortraitPtr, std::less<>> recurring{};
  // Likewise, the eight that ran last of each namespace and image repository, and of each namespace
  // and the letters of a model: those of which one may be the nearest to an unknown family.
  std::map<std::string, std::vector<PortraitPtr>, std::less<>> alike{};

  // Of this very family; null where it is not known.
  PortraitPtr find(const PortraitIdentity& identity) const;
  // Its own family where a run of it has succeeded, else what the same person ran with the same
  // image and request; without a webhook, which proves who submits, anybody. Null: nobody's.
  PortraitPtr find_same(const PortraitIdentity& identity, Placement asked) const;
  // The same; where no run of it has succeeded, the nearest one (core/portrait/family.h).
  KnownPast find_past(const PortraitIdentity& identity, Placement asked) const;
  // Makes `recurring` and `alike` anew from `portraits`.
  void renew_indexes();
};

// Namespace, submitter, image and request; empty where the image is not known.
std::string recurrence_key(const PortraitIdentity& identity, Placement asked);

}  // namespace slackline::core
