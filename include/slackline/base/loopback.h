// Tells names of this machine from names of others.
#pragma once

#include <string_view>

namespace slackline {

// "localhost:8180", "127.0.0.1", "[::1]:80": with a port or without.
bool is_loopback_host(std::string_view host);

// Whether the host in "http://localhost:8180/path" is one, with or without the scheme.
bool is_loopback_url(std::string_view url);

}  // namespace slackline
