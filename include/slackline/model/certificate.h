// A server certificate and what vouches for it, as PEM.
#pragma once

#include <string>

namespace slackline {

struct CertificateSet {
  std::string authorities;  // the newest first
  std::string certificate;
  std::string key;
};

// Seconds since the epoch.
struct Validity {
  double from_s = 0;
  double until_s = 0;
};

}  // namespace slackline
