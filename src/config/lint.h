// lint_scheduler_configuration: what is wrong with a KubeSchedulerConfiguration that calls
// Slackline.
//
// It knows what kube-scheduler 1.25 to 1.37 accept and what their releases do with it: errors are
// what the scheduler refuses to start with or what binds pods wrongly or without protection;
// warnings cost placement quality or availability. Slackline's extender is the only one, or, among
// several, those whose urlPrefix ends in /v1/extender.
//
// scheduler_stanza: the `extenders:` block that fits Slackline's configuration; it has no findings.
#pragma once

#include <string>
#include <string_view>

#include "config/configuration.h"
#include "config/finding.h"

namespace slackline::config {

// Shortest and longest httpTimeout that pass without a warning, in seconds: a bind waits for the
// API server, and a scheduling cycle waits for a dead extender.
inline constexpr double kShortestHttpTimeout_s = 1;
inline constexpr double kLongestHttpTimeout_s = 5;
// In-tree scores add up to about this many weights; a smaller one cannot outvote them.
inline constexpr std::int64_t kLeastExtenderWeight = 12;

Findings lint_scheduler_configuration(std::string_view text, const Configuration& configuration);

// What is wrong with it beside the one of another file: two schedulers with Leases of their own
// that both call for a share that only Slackline counts, and would each be given it.
Findings lint_beside(std::string_view text, const std::string& other_file,
                     std::string_view other_text);

std::string scheduler_stanza(const Configuration& configuration);

}  // namespace slackline::config
