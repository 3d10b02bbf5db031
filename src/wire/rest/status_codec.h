// Errors of REST as Kubernetes writes them: a v1.Status (kube_decode.h reads them).
#pragma once

#include <string>
#include <string_view>

namespace slackline::wire {

// `reason` is a stable code ("NotFound", "BadRequest").
std::string encode_status_error(int code, std::string_view reason, std::string_view message);
std::string encode_status_success(std::string_view message);

}  // namespace slackline::wire
