#include "cli/release/final.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "cli/exit_codes.h"
#include "cli/object_name.h"
#include "cluster/api/front_proxy.h"
#include "cluster/api/removal.h"
#include "control/plan/return_all.h"
#include "slackline/base/text.h"
#include "slackline/core/handover/return_to_scheduler.h"

namespace slackline::cli {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(500);
// After that a daemon has ended, or its node does not answer: the pods have 30 s for it. An old
// leader gives up long before, 10 s after its last renewal.
constexpr double kPodsEnd_s = 40;
constexpr std::size_t kMostJobsTold = 20;
// Where kube-schedulers keep their Leases, under their own name.
constexpr const char* kSchedulerLeases = "kube-system";

const char* text_of(core::StaysWhy why) {
  switch (why) {
    case core::StaysWhy::kTemplate:
      return "what makes it names that scheduler, too";
    case core::StaysWhy::kPartlyRuns:
      return "others of its pods run: delete the pending ones when it can do without";
    case core::StaysWhy::kBare:
      return "nobody makes it anew: create it again";
  }
  return "";
}

// At once: whoever waits for an uninstallation reads along.
void say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void refuse(const std::vector<ObjectKey>& jobs, const std::string& scheduler) {
  std::fprintf(stderr,
               "slackline: %zu unfinished Jobs name %s in their template, where nothing can change "
               "it: their pods would wait for ever.\n",
               jobs.size(), printable(scheduler).c_str());
  for (std::size_t i = 0; i < jobs.size() && i < kMostJobsTold; ++i)
    std::fprintf(stderr, "  %s\n", printable(jobs[i].str()).c_str());
  if (jobs.size() > kMostJobsTold)
    std::fprintf(stderr, "  and %zu more\n", jobs.size() - kMostJobsTold);
  std::fprintf(stderr,
               "Nothing was changed. Wait until they have ended, or delete them; --force goes on "
               "without them.\n");
}

void tell_who_stays(const std::vector<core::StaysBehind>& stay, const std::string& scheduler) {
  for (const core::StaysBehind& each : stay)
    say(format("still waits for {}: {} {} ({})", printable(scheduler), each.is_job ? "Job" : "pod",
               printable(each.key.str()), text_of(each.why)));
}

// By the API server's clock, as their times are.
double after_the_newest(const ClusterSnapshot& snapshot) {
  double newest_s = 0;
  for (const PodPtr& pod : snapshot.unbound)
    newest_s = std::max(newest_s, pod->created_s);
  return newest_s + 1;
}

// Names of what the daemon fills or makes itself, unless it was given another one. It makes them in
// its own namespace.
struct Made {
  std::vector<ObjectKey> secrets;
  ObjectKey stop_book;
};

Made made_by(const config::Configuration& configuration) {
  Made made{.secrets = {key_of(configuration.trust.key_secret)},
            .stop_book = stop_book_key(configuration.planner.lease)};
  const auto own = [&](const config::ListenerSettings& listener, const std::string& secret) {
    if (listener.tls && !listener.tls->cert_file.empty()) return;
    if (key_of(secret).ns == made.stop_book.ns) made.secrets.push_back(key_of(secret));
  };
  own(configuration.listeners.webhook, configuration.webhook.certificate.secret);
  own(configuration.listeners.remote_api, configuration.remote_api.certificate.secret);
  own(configuration.listeners.extender, configuration.extender.certificate.secret);
  return made;
}

class LastRelease {
 public:
  LastRelease(const FinalOptions& options, const config::Configuration& configuration,
              const FinalParts& parts)
      : options_(options),
        configuration_(configuration),
        parts_(parts),
        lease_(key_of(configuration.planner.lease)),
        removal_(parts.api) {}

  // From then on nobody plans, and no Job is queued.
  Status end_daemons() {
    SLACKLINE_TRY(removal_.remove_webhooks(configuration_.webhook.configuration));
    say(format("deleted the webhook configurations {}: new Jobs go to the stock scheduler",
               configuration_.webhook.configuration));
    SLACKLINE_TRY(removal_.remove_api_service());
    say(format("there is no APIService {} any more: nobody asks Slackline for it",
               cluster::kVisibilityService));
    SLACKLINE_TRY(removal_.take_lease(lease_, clock_));
    SLACKLINE_TRY(removal_.scale_to_zero(lease_));
    say(format(
        "no replica plans: the Lease {} is held, and the StatefulSet of that name ends its pods",
        lease_.str()));
    return await_their_end();
  }

  Status return_tasks() {
    SLACKLINE_ASSIGN(const control::Released done,
                     control::return_all(
                         parts_.source, parts_.writer, parts_.metrics, clock_, options_.timeout_s,
                         [this](const ClusterSnapshot& snapshot) { return decide(snapshot); }));
    say(format("released {} Jobs and {} pods; the controllers of {} more pods make them anew",
               done.jobs, done.pods, removed_.size()));
    tell_who_stays(stay_, options_.scheduler);
    return {};
  }

  Status remove_made() {
    const Made made = made_by(configuration_);
    for (const ObjectKey& secret : made.secrets)
      SLACKLINE_TRY(removal_.remove_secret(secret));
    SLACKLINE_TRY(removal_.remove_config_map(made.stop_book));
    if (ending_ == 0) SLACKLINE_TRY(removal_.remove_lease(lease_));
    if (!options_.scheduler.empty())
      SLACKLINE_TRY(removal_.remove_lease({kSchedulerLeases, options_.scheduler}));
    say(format("deleted what Slackline has made: its Secrets, its record of stops{}",
               ending_ == 0 ? ", its Lease" : ""));
    if (ending_ > 0)
      say(
          format("the Lease {} stays, so that they plan nothing if their nodes come back; delete "
                 "it once they are gone: kubectl -n {} delete lease {}",
                 lease_.str(), lease_.ns, lease_.name));
    return {};
  }

 private:
  // A pod on a node that does not answer is listed until somebody deletes the node.
  Status await_their_end() {
    const double began_s = clock_.steady_s();
    while (true) {
      SLACKLINE_ASSIGN(const cluster::DaemonsLeft left, removal_.daemons_left(lease_.ns));
      const double waited_s = clock_.steady_s() - began_s;
      if (left.running == 0 && (left.ending == 0 || waited_s >= kPodsEnd_s)) {
        ending_ = left.ending;
        break;
      }
      if (waited_s > options_.timeout_s)
        return fail(
            ErrorCode::kTimeout,
            format("after {:.0f} s {} pods of StatefulSet {} have not ended; see why "
                   "(kubectl -n {} get pods), and run this again",
                   options_.timeout_s, left.running + left.ending, lease_.str(), lease_.ns));
      std::this_thread::sleep_for(kLookEvery);
    }
    if (ending_ > 0)
      say(format("{} still ending, on nodes that do not answer; they plan nothing any more",
                 counted(static_cast<std::int64_t>(ending_), "pod is", "pods are")));
    return {};
  }

  control::ReturnRound decide(const ClusterSnapshot& snapshot) {
    if (options_.scheduler.empty()) return control::return_as_stock(snapshot);
    if (since_s_ == 0) since_s_ = after_the_newest(snapshot);
    core::SchedulerLeave leave = core::leave_scheduler(snapshot, options_.scheduler, since_s_);
    control::ReturnRound round{std::move(leave.writes), leave.emptying + leave.removals.size()};
    stay_ = std::move(leave.stay);
    for (const PodPtr& pod : leave.removals)
      if (!removed_.contains(pod->uid) && removal_.remove_pod(*pod)) removed_.insert(pod->uid);
    return round;
  }

  const FinalOptions& options_;
  const config::Configuration& configuration_;
  const FinalParts& parts_;
  const ObjectKey lease_;  // and the StatefulSet of this name
  const Clock& clock_ = system_clock();
  cluster::Removal removal_;
  std::size_t ending_ = 0;  // pods that were not waited for
  double since_s_ = 0;
  std::set<Uid> removed_;
  std::vector<core::StaysBehind> stay_;
};

}  // namespace

Result<int> release_for_good(const FinalOptions& options,
                             const config::Configuration& configuration, const FinalParts& parts) {
  SLACKLINE_ASSIGN(const std::vector<OwnWrite> waiting,
                   control::find_held_back(parts.source, system_clock(), options.timeout_s));
  if (!options.scheduler.empty()) {
    const auto naming = core::jobs_naming(*parts.source.snapshot(), options.scheduler);
    if (!naming.empty() && !options.force) {
      refuse(naming, options.scheduler);
      return kAnswerIsNo;
    }
  }
  if (options.dry_run) {
    std::printf(
        "would release %zu objects that wait for Slackline, end its daemons, and delete "
        "what they have made\n",
        waiting.size());
    return 0;
  }
  LastRelease last(options, configuration, parts);
  SLACKLINE_TRY(last.end_daemons());
  SLACKLINE_TRY(last.return_tasks());
  SLACKLINE_TRY(last.remove_made());
  return 0;
}

}  // namespace slackline::cli
