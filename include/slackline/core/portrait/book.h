// PortraitBook: every portrait that is known at one moment. Immutable once it is published; books
// share the portraits that did not change.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "slackline/model/portrait.h"

namespace slackline::core {

using PortraitPtr = std::shared_ptr<const Portrait>;  // never null in a book

struct PortraitBook {
  std::map<std::string, PortraitPtr, std::less<>> portraits;  // by portrait_key()
  std::uint64_t version = 0;                                  // grows with every change
  // Of those with a run that succeeded, the one that ran last, by recurrence_key().
  std::map<std::string, PortraitPtr, std::less<>> recurring{};

  // Of this very family; null where it is not known.
  PortraitPtr find(const PortraitIdentity& identity) const;
  // Whose run times tell how long a task of this identity takes: its own family where a run of it
  // has succeeded, else what the same person ran with the same image and request; without a
  // webhook, which proves who submits, anybody. Null: nobody's.
  PortraitPtr find_past(const PortraitIdentity& identity, Placement asked) const;
  // Makes `recurring` anew from `portraits`.
  void renew_recurring();
};

// Namespace, submitter, image and request; empty where the image is not known.
std::string recurrence_key(const PortraitIdentity& identity, Placement asked);

}  // namespace slackline::core
