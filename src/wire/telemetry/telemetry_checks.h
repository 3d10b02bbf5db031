// What of the settings of telemetry can be used at all. Pure.
#pragma once

#include <string>
#include <string_view>

#include "message/telemetry_settings.h"
#include "slackline/base/result.h"

namespace slackline::wire {

// kInvalidArgument: nobody could be asked at this URL, or the header could not be sent.
Status check_url(const std::string& url);
Status check_tenant(const PrometheusSettings& settings);

// Whether a label may have this name: letters, digits and _, not a digit first.
bool is_label_name(std::string_view name);

}  // namespace slackline::wire
