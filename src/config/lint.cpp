#include "config/lint.h"

#include <algorithm>
#include <map>
#include <utility>

#include "config/lint_extender.h"
#include "config/section.h"
#include "slackline/base/text.h"

namespace slackline::config {
namespace {

using wire::Document;

constexpr std::string_view kSchedulerGroup = "kubescheduler.config.k8s.io";

bool lint_header(const Lint& root) {
  const std::string version = root.text("apiVersion");
  if (root.text("kind") != "KubeSchedulerConfiguration" || !version.starts_with(kSchedulerGroup)) {
    root.error("kind", "is not KubeSchedulerConfiguration",
               "pass the file that kube-scheduler gets as --config");
    return false;
  }
  if (version != format("{}/v1", kSchedulerGroup)) {
    root.error("apiVersion",
               format("is {}: releases from 1.29 on refuse it", printable(version, 64)),
               format("write {}/v1", kSchedulerGroup));
    return false;
  }
  return true;
}

// A profile without a percentage takes the global one; without that kube-scheduler samples the
// nodes.
void lint_sample(const Lint& root, const Lint& profile, bool has_profile) {
  const bool own = has_profile && profile.has("percentageOfNodesToScore");
  const Lint& where = own || has_profile ? profile : root;
  const std::string percentage =
      own ? profile.text("percentageOfNodesToScore") : root.text("percentageOfNodesToScore");
  if (percentage == "100") return;
  const Lint& at = !own && root.has("percentageOfNodesToScore") ? root : where;
  at.warning("percentageOfNodesToScore",
             percentage.empty() || percentage == "0"
                 ? "is the default: large clusters show the extender a sample only (500 of 5,000 "
                   "nodes), and "
                   "a pod may be declared unschedulable although a node would fit"
                 : format("is {}: the extender sees a sample of the nodes only",
                          printable(percentage, 16)),
             "set percentageOfNodesToScore: 100");
}

void lint_profile(const Lint& root, const Lint& profile, bool has_profile) {
  const std::string name = profile.text("schedulerName");
  if (name.empty() || name == "default-scheduler")
    (has_profile ? profile : root)
        .warning(has_profile ? "schedulerName" : "profiles",
                 "is the default scheduler: any extender switches off opportunistic batching (1.35 "
                 "on) for "
                 "all its pods, and GPU nodes stay open to every pod",
                 "run a second kube-scheduler with schedulerName: gpu-scheduler, and let GPU pods "
                 "use only "
                 "that one");
  lint_sample(root, profile, has_profile);
}

// NAMESPACE/NAME; empty: each replica schedules.
std::string lease_of(const Lint& root) {
  const Lint election = root.inside("leaderElection");
  if (election.text("leaderElect") == "false") return "";
  const std::string name = election.text("resourceName");
  const std::string ns = election.text("resourceNamespace");
  return (ns.empty() ? "kube-system" : ns) + "/" + (name.empty() ? "kube-scheduler" : name);
}

// The extenders' resources that kube-scheduler itself does not count.
std::vector<std::string> uncounted(const Lint& root) {
  std::vector<std::string> names;
  const Document* extenders = root.find("extenders");
  if (extenders == nullptr) return names;
  for (const Document& extender : extenders->items)
    for (ManagedResource& resource : managed_resources(Lint(extender, "", root.findings())))
      if (resource.ignored_by_scheduler && !resource.name.empty())
        names.push_back(std::move(resource.name));
  return names;
}

// Shares are given only next to the holder of the Lease that Slackline watches.
void lint_share_lease(const Lint& root, const std::string& watched) {
  const std::string lease = lease_of(root);
  if (watched.empty() || lease == watched || uncounted(root).empty()) return;
  (root.has("leaderElection") ? root.inside("leaderElection") : root)
      .error(
          root.has("leaderElection") ? "resourceName" : "leaderElection",
          format("the Lease is {}, and Slackline's extender.schedulerLease is {}: no share would "
                 "ever be given",
                 lease.empty() ? "none" : printable(lease, 128), watched),
          "name one Lease in both, with leaderElect: true");
}

// Two kube-schedulers that share a Lease take turns: one of them never schedules.
void lint_lease(const Lint& root, bool second_scheduler) {
  if (!second_scheduler) return;
  const Lint election = root.inside("leaderElection");
  if (election.text("leaderElect") == "false") return;
  const std::string lease = election.text("resourceName");
  if (lease.empty() || lease == "kube-scheduler")
    (root.has("leaderElection") ? election : root)
        .error(root.has("leaderElection") ? "resourceName" : "leaderElection",
               "a second scheduler takes the Lease of the default one, and one of the two is idle",
               "set leaderElection.resourceName to a name of its own, e.g. gpu-scheduler");
}

void lint_profiles(const Lint& root) {
  const Document* profiles = root.find("profiles");
  if (profiles == nullptr || profiles->items.empty()) {
    static const Document nothing;
    lint_profile(root, Lint(nothing, "", root.findings()), false);
    return;
  }
  bool second_scheduler = true;
  for (std::size_t i = 0; i < profiles->items.size(); ++i) {
    const Lint profile(profiles->items[i], format("profiles[{}]", i), root.findings());
    lint_profile(root, profile, true);
    const std::string name = profile.text("schedulerName");
    if (name.empty() || name == "default-scheduler") second_scheduler = false;
  }
  lint_lease(root, second_scheduler);
}

// bind refuses the pods of schedulers that are not configured: they would never run.
void lint_scheduler_names(const Lint& root, const std::vector<std::string>& ours) {
  const Document* profiles = root.find("profiles");
  if (profiles == nullptr || ours.empty()) return;
  for (std::size_t i = 0; i < profiles->items.size(); ++i) {
    const Lint profile(profiles->items[i], format("profiles[{}]", i), root.findings());
    std::string name = profile.text("schedulerName");
    if (name.empty()) name = "default-scheduler";
    if (std::find(ours.begin(), ours.end(), name) == ours.end())
      profile.error("schedulerName",
                    format("{} is not in Slackline's extender.schedulerNames: its GPU pods are "
                           "never bound",
                           printable(name, 64)),
                    "add it there, or leave bindVerb out");
  }
}

// The checks of kube-scheduler over all extenders before it starts.
void lint_together(const std::vector<Lint>& extenders) {
  std::string binder;
  std::map<std::string, std::string> managed_by;
  for (const Lint& extender : extenders) {
    if (!extender.text("bindVerb").empty()) {
      if (!binder.empty())
        extender.error("bindVerb",
                       format("{} binds already: kube-scheduler will not start", binder),
                       "leave bindVerb to one extender");
      binder = extender.path();
    }
    const Document* resources = extender.find("managedResources");
    if (resources == nullptr) continue;
    for (const Document& resource : resources->items) {
      const Document* name = resource.find("name");
      if (name == nullptr) continue;
      if (!managed_by.emplace(name->scalar, extender.path()).second)
        extender.findings().push_back(
            {Severity::kError, resource.line, extender.path() + ".managedResources",
             format("{} is managed by {} already: kube-scheduler will not start",
                    printable(name->scalar, 64), managed_by[name->scalar]),
             "name a resource once"});
    }
  }
}

void lint_extenders(const Lint& root, const Configuration& configuration) {
  const Document* list = root.find("extenders");
  if (list == nullptr || list->items.empty()) {
    root.error("extenders", "is missing: kube-scheduler never calls Slackline",
               "add the stanza that `slackline check --stanza` prints");
    return;
  }
  std::vector<Lint> extenders;
  for (std::size_t i = 0; i < list->items.size(); ++i)
    extenders.emplace_back(list->items[i], format("extenders[{}]", i), root.findings());
  bool found = false;
  for (const Lint& extender : extenders) {
    const bool ours = extenders.size() == 1 || extender.text("urlPrefix").ends_with(kExtenderPath);
    found = found || ours;
    lint_extender(extender, ours, configuration);
    if (ours && !extender.text("bindVerb").empty())
      lint_scheduler_names(root, configuration.extender.scheduler_names);
  }
  if (!found)
    root.error(
        "extenders",
        format("none has a urlPrefix that ends in {}: Slackline is not among them", kExtenderPath),
        "add the stanza that `slackline check --stanza` prints");
  lint_together(extenders);
}

}  // namespace

Findings lint_scheduler_configuration(std::string_view text, const Configuration& configuration) {
  Findings findings;
  const auto document = wire::read_document(text);
  if (!document) return {unreadable(document.error())};
  const Lint root(*document, "", findings);
  if (!lint_header(root)) return findings;
  lint_profiles(root);
  lint_extenders(root, configuration);
  lint_share_lease(root, configuration.extender.scheduler_lease);
  sort_by_line(findings);
  return findings;
}

Findings lint_beside(std::string_view text, const std::string& other_file,
                     std::string_view other_text) {
  Findings findings;
  const auto document = wire::read_document(text);
  const auto other = wire::read_document(other_text);
  if (!document || !other) return findings;  // lint_scheduler_configuration says so
  const Lint root(*document, "", findings);
  Findings ignored;
  const Lint there(*other, "", ignored);
  if (const std::string lease = lease_of(root); !lease.empty() && lease == lease_of(there))
    return findings;  // they take turns
  const std::vector<std::string> theirs = uncounted(there);
  for (const std::string& name : uncounted(root))
    if (std::find(theirs.begin(), theirs.end(), name) != theirs.end())
      root.error("extenders",
                 format("{} is managed in {} too, by a scheduler with another Lease: both would be "
                        "given the same share",
                        printable(name, 64), other_file),
                 "let one kube-scheduler ask for it");
  return findings;
}

}  // namespace slackline::config
