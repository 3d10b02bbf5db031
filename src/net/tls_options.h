// TlsOptions: whom a connection trusts, and its own certificate. Data wins over files; all PEM.
#pragma once

#include <string>

namespace slackline::net {

// Files are read again for every new connection, so that a rotated CA or certificate takes effect.
struct TlsOptions {
  std::string ca_file;  // empty with empty ca_data: the system's authorities
  std::string ca_data;
  std::string certificate_file;  // of the client; empty = none
  std::string key_file;
  std::string certificate_data;
  std::string key_data;
  bool insecure_skip_verify = false;
};

}  // namespace slackline::net
