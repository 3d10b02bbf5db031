// Measures one endpoint over one keep-alive connection, as kube-scheduler would call it.
//
// A raw socket client: what it costs itself is small and the same for every endpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "slackline/base/result.h"

namespace slackline::bench {

struct Measurement {
  double p50_us = 0;
  double p99_us = 0;
  double calls_per_s = 0;
  std::size_t answer_bytes = 0;  // of one body
};

// POSTs `body` to 127.0.0.1:port `calls` times after a short warm-up. An answer other than 200 is
// an error, as is a lost connection.
Result<Measurement> measure(std::uint16_t port, std::string_view path, std::string_view body,
                            int calls);

}  // namespace slackline::bench
