// The ConfigMap of the stops that somebody pays for, as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/booked_stop.h"

namespace slackline::wire {

// `data.stops` is a line for each stop, a JSON object.
struct StopBookDto {
  std::string resource_version;   // empty: to be created
  std::vector<BookedStop> stops;  // in order of time
  std::size_t unreadable = 0;     // lines, which are left out
};

std::string encode_stop_book(const ObjectKey& name, const StopBookDto& book);

// A ConfigMap without such lines has none; an error where it is no ConfigMap.
Result<StopBookDto> decode_stop_book(std::string_view json);

}  // namespace slackline::wire
