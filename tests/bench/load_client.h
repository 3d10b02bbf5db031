// Measures one endpoint over one keep-alive connection, as kube-scheduler would call it.
//
// A raw socket client: what it costs itself is small and the same for every endpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// PEM files: the authority of the server's certificate, and the client's own.
struct Identity {
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
};

struct Target {
  std::uint16_t port = 0;            // on 127.0.0.1
  std::optional<Identity> tls = {};  // nothing: plain HTTP
};

// POSTs `body` `calls` times after a short warm-up, in which the handshake is. An answer other than
// 200 is an error, as is a lost connection.
Result<Measurement> measure(const Target& target, std::string_view path, std::string_view body,
                            int calls);

}  // namespace slackline::bench
