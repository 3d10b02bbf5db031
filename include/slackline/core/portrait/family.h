// Which tasks are one family, and which known family is nearest to an unknown one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "slackline/model/portrait.h"

namespace slackline::core {

// The name of a controller without what was generated: "train-x7k2p" and "train-28471230" are
// "train". `generate_name`: metadata.generateName, the exact answer where the object has one. Else
// parts of these forms are left out: five characters of the alphabet of Kubernetes' names (no
// vowels, no 0, 1, 3), eight digits or more (CronJobs, dates), eight or more hexadecimal digits
// with both kinds, a last UUID. "exp-17" stays. In the middle they are of the owner's owner: a step
// of a workflow that recurs is "nightly-1712345678-train".
std::string owner_stem(std::string_view name, std::string_view generate_name = {});

// "NAMESPACE/family=FAMILY", else "NAMESPACE/owner=...,image=...,model=...". Runs of one key share
// a portrait. Training and serving never do.
std::string portrait_key(const PortraitIdentity& identity);

// The key for people: "lab/nightly" of a declared family, else "lab/train (net:v1, resnet50)".
std::string family_title(std::string_view key);

// The reference without tag and digest: "registry:5000/team/net:v2" -> "registry:5000/team/net".
std::string_view image_repository(std::string_view image);

enum class PortraitMatch : std::uint8_t {
  kExact,    // the same key
  kSimilar,  // borrowed from the nearest family
};
std::string_view to_string(PortraitMatch match);  // "exact", "similar"

struct NearestPortrait {
  const Portrait* portrait = nullptr;  // never null
  PortraitMatch match = PortraitMatch::kExact;
  double distance = 0;
};

// The portrait of the identity's key, else the one at the least distance, of equal ones the one
// that ran last, then the least key:
//   model       0 the same, 1 names that begin with the same letters, else 3
//   parameters  |ln| of the ratio, at most 2; 1 where one is not known and the models differ
//   image       0 the same repository, else 1
// Only portraits with a run, of the same mode, that share the model, its letters or the image;
// nullopt: there is none.
std::optional<NearestPortrait> nearest_portrait(std::span<const Portrait* const> known,
                                                const PortraitIdentity& identity);

}  // namespace slackline::core
