// File descriptors: one limit (RLIMIT_NOFILE) for the whole process. Every listener gets a part of
// its own, so that a flood of one leaves the others theirs.
#pragma once

#include <cstddef>
#include <vector>

#include "http/server/server.h"

namespace slackline::http {

// Raises the soft limit to the hard one, which many shells and systemd set far higher; the limit
// from now on.
std::size_t raise_descriptor_limit();

// What the listeners may hold together, and the rest of the daemon: watches, databases, questions.
std::size_t wanted_descriptors(const std::vector<Listener>& listeners);

// Where `limit` is lower, no listener may hold more than its equal part of it. Pure.
void fit_descriptors(std::vector<Listener>& listeners, std::size_t limit);

}  // namespace slackline::http
