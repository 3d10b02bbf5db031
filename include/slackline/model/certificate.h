// Certificates of our own and what vouches for them, as PEM.
#pragma once

#include <string>

namespace slackline {

// A server certificate whose authority signs nothing else.
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

// An authority whose key is kept: it signs as often as is needed.
struct Authority {
  std::string certificates;  // the newest first, then the one before it while that is trusted
  std::string key;           // of the newest
  std::string cross;         // the newest as the one before vouches for it; empty: none was before
};

struct CertifiedKey {
  std::string chain;  // the certificate first, then `cross` of its authority
  std::string key;
};

// Both ends of mutual TLS under one authority.
struct MutualCertificates {
  Authority authority;
  CertifiedKey server;
  CertifiedKey client;
};

}  // namespace slackline
