// `slackline release --final`: nothing waits for Slackline any more, nothing names it, and what it
// made is gone. Every step can be done again.
#pragma once

#include <string>

#include "cluster/api/api_client.h"
#include "cluster/watch/source.h"
#include "config/configuration.h"
#include "obs/metrics.h"
#include "slackline/base/result.h"

namespace slackline::cli {

struct FinalOptions {
  std::string scheduler;  // the kube-scheduler that goes, too; empty: it stays
  bool force = false;
  bool dry_run = false;
  double timeout_s = 120;  // of each step that waits
};

struct FinalParts {
  cluster::ApiClient& api;
  const cluster::ClusterSource& source;  // started
  cluster::ClusterWriter& writer;
  obs::MetricsRegistry& metrics;
};

// The exit code: kAnswerIsNo where Jobs name that scheduler for good, and nothing was done.
Result<int> release_for_good(const FinalOptions& options,
                             const config::Configuration& configuration, const FinalParts& parts);

}  // namespace slackline::cli
