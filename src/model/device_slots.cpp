#include "slackline/model/device_slots.h"

#include <algorithm>

#include "slackline/base/text.h"
#include "slackline/model/placement.h"

namespace slackline {
namespace {

tl::unexpected<Error> no_device_ids(std::string_view text) {
  return fail(ErrorCode::kInvalidArgument,
              format("\"{}\" names no slots; only Slackline writes them (example: "
                     "example.com/share=0,1)",
                     printable(text, 64)));
}

}  // namespace

std::string device_ids_text(const std::vector<DeviceSlots>& of_pod) {
  std::string text;
  for (const DeviceSlots& one : of_pod)
    text += format("{}{}={}", text.empty() ? "" : ";", one.resource, fmt::join(one.slots, ","));
  return text;
}

Result<std::vector<DeviceSlots>> parse_device_ids(std::string_view text) {
  std::vector<DeviceSlots> of_pod;
  for (const std::string_view piece : split(text, ';')) {
    const std::size_t equals = piece.find('=');
    if (equals == 0 || equals == std::string_view::npos) return no_device_ids(text);
    DeviceSlots one{std::string(piece.substr(0, equals)), {}};
    if (std::any_of(of_pod.begin(), of_pod.end(),
                    [&](const DeviceSlots& other) { return other.resource == one.resource; }))
      return no_device_ids(text);
    for (const std::string_view number : split(piece.substr(equals + 1), ',')) {
      const auto slot = parse_int(number);
      const int last = one.slots.empty() ? -1 : one.slots.back();
      if (!slot || *slot <= last || *slot >= kMaxGpusPerNode) return no_device_ids(text);
      one.slots.push_back(static_cast<int>(*slot));
    }
    of_pod.push_back(std::move(one));
  }
  return of_pod;
}

}  // namespace slackline
