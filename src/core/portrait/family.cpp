#include "slackline/core/portrait/family.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "slackline/core/throughput/predictor.h"

namespace slackline::core {
namespace {

constexpr std::string_view kNameAlphabet = "bcdfghjklmnpqrstvwxz2456789";  // of generateName
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::size_t kNameSuffix = 5;
constexpr std::size_t kLongSuffix = 8;
constexpr std::size_t kUuid = 36;

bool only(std::string_view text, std::string_view alphabet) {
  return text.find_first_not_of(alphabet) == std::string_view::npos;
}

bool is_uuid(std::string_view text) {
  if (text.size() != kUuid) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash != (text[i] == '-') || (!dash && kHexDigits.find(text[i]) == kHexDigits.npos))
      return false;
  }
  return true;
}

bool generated(std::string_view part) {
  if (part.size() == kNameSuffix && only(part, kNameAlphabet)) return true;
  if (part.size() < kLongSuffix) return false;
  return only(part, kDigits) ||
         (only(part, kHexDigits) && part.find_first_of(kDigits) != part.npos &&
          part.find_first_not_of(kDigits) != part.npos);
}

bool same_letters(std::string_view a, std::string_view b) {
  return !a.empty() && !b.empty() && family_of(a) == family_of(b);
}

double between_parameters(const PortraitIdentity& a, const PortraitIdentity& b) {
  constexpr double kMost = 2;
  if (!a.model.empty() && a.model == b.model) return 0;
  if (!a.parameters || !b.parameters || !(*a.parameters > 0) || !(*b.parameters > 0)) return 1;
  return std::min(kMost, std::abs(std::log(*a.parameters / *b.parameters)));
}

// nullopt: the two have nothing in common that tells of their usage.
std::optional<double> distance(const PortraitIdentity& a, const PortraitIdentity& b) {
  constexpr double kOtherModel = 3;
  if (a.mode != b.mode || a.department != b.department) return std::nullopt;
  const bool same_model = !a.model.empty() && a.model == b.model;
  const bool alike = same_model || same_letters(a.model, b.model);
  const bool same_image =
      !a.image.empty() && image_repository(a.image) == image_repository(b.image);
  if (!alike && !same_image) return std::nullopt;
  double far = same_image ? 0 : 1;
  if (!same_model) far += alike ? 1 : kOtherModel;
  return far + between_parameters(a, b);
}

}  // namespace

std::string owner_stem(std::string_view name, std::string_view generate_name) {
  if (!generate_name.empty() && name.size() > generate_name.size() &&
      name.starts_with(generate_name)) {
    while (generate_name.ends_with('-') || generate_name.ends_with('.'))
      generate_name.remove_suffix(1);
    if (!generate_name.empty()) return std::string(generate_name);
  }
  if (name.size() > kUuid + 1 && name[name.size() - kUuid - 1] == '-' &&
      is_uuid(name.substr(name.size() - kUuid)))
    return std::string(name.substr(0, name.size() - kUuid - 1));
  std::string stem(name.substr(0, name.find('-')));
  if (stem.empty()) return std::string(name);
  for (std::size_t dash = stem.size(); dash < name.size();) {
    const std::size_t next = std::min(name.find('-', dash + 1), name.size());
    if (!generated(name.substr(dash + 1, next - dash - 1))) stem += name.substr(dash, next - dash);
    dash = next;
  }
  return stem;
}

std::string portrait_key(const PortraitIdentity& identity) {
  const std::string mode = identity.mode == WorkloadMode::kInference ? ",mode=inference" : "";
  if (!identity.family.empty()) return identity.department + "/family=" + identity.family + mode;
  return identity.department + "/owner=" + identity.owner + ",image=" + identity.image +
         ",model=" + identity.model + mode;
}

std::string family_title(std::string_view key) {
  constexpr std::string_view kFamily = "family=";
  constexpr std::string_view kOwner = "owner=";
  constexpr std::string_view kImage = ",image=";
  constexpr std::string_view kModel = ",model=";
  const std::size_t slash = key.find('/');
  if (slash == key.npos) return std::string(key);
  const std::string ns(key.substr(0, slash + 1));
  const std::string_view rest = key.substr(slash + 1);
  if (rest.starts_with(kFamily)) return ns + std::string(rest.substr(kFamily.size()));
  const std::size_t image = rest.find(kImage);
  const std::size_t model = rest.rfind(kModel);
  if (!rest.starts_with(kOwner) || image == rest.npos || model == rest.npos || model < image)
    return std::string(key);
  std::string of(rest.substr(image + kImage.size(), model - image - kImage.size()));
  const std::string_view named = rest.substr(model + kModel.size());
  if (!of.empty() && !named.empty()) of += ", ";
  of += named;
  const std::string owner(rest.substr(kOwner.size(), image - kOwner.size()));
  return ns + owner + (of.empty() ? "" : " (" + of + ")");
}

std::string_view image_repository(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const std::size_t tag = image.rfind(':');
  const std::size_t slash = image.rfind('/');
  const bool is_port = tag != image.npos && slash != image.npos && tag < slash;
  return tag == image.npos || is_port ? image : image.substr(0, tag);
}

std::string_view to_string(PortraitMatch match) {
  return match == PortraitMatch::kExact ? "exact" : "similar";
}

std::optional<NearestPortrait> nearest_portrait(std::span<const Portrait* const> known,
                                                const PortraitIdentity& identity) {
  const std::string key = portrait_key(identity);
  std::optional<NearestPortrait> best;
  std::string best_key;
  for (const Portrait* portrait : known) {
    if (portrait->runs() == 0) continue;
    std::string other = portrait_key(portrait->identity);
    if (other == key) return NearestPortrait{portrait, PortraitMatch::kExact, 0};
    const auto far = distance(identity, portrait->identity);
    if (!far) continue;
    if (best && std::tuple(best->distance, -best->portrait->last_s, best_key) <=
                    std::tuple(*far, -portrait->last_s, other))
      continue;
    best = {portrait, PortraitMatch::kSimilar, *far};
    best_key = std::move(other);
  }
  return best;
}

}  // namespace slackline::core
