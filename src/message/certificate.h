// Slackline's certificates and the authorities that sign them, as PEM.
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

// An authority whose key is kept, so that it can sign again.
struct Authority {
  std::string certificates;  // the newest first, then its predecessor while that is trusted
  std::string key;           // of the newest
  std::string cross;         // the newest, signed by its predecessor; empty: there was none
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
