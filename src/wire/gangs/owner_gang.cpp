#include "wire/gangs/owner_gang.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "slackline/base/text.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kRestart = "jobset.sigs.k8s.io/restart-attempt";
constexpr std::string_view kReplicatedJob = "jobset.sigs.k8s.io/replicatedjob-name";
constexpr std::string_view kWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";
constexpr std::string_view kNumberInJob = "batch.kubernetes.io/job-completion-index";
constexpr std::int64_t kMostPods = 65536;

struct GangKind {
  // Of the controller that owns the object. Groups tell kinds of one name apart: Volcano has a Job.
  std::string_view group;
  std::string_view owner;

  std::string_view kind;           // that makes the gang
  std::string_view api_version{};  // of that, where the pods do not say it
  std::string_view name_label{};   // it names that; empty: the owner is it
  std::string_view uid_label{};
  std::string_view number_label{};   // one gang of each number, which is part of its name
  std::string_view attempt_label{};  // pods of another attempt are not members
  std::string_view size_annotation{};
  bool of_jobs = false;  // made of Jobs, which say how many pods
  std::string_view role_label{};
};

constexpr std::array kGangKinds = {
    GangKind{"kubeflow.org", "PyTorchJob", "PyTorchJob"},
    GangKind{"kubeflow.org", "TFJob", "TFJob"},
    GangKind{"kubeflow.org", "XGBoostJob", "XGBoostJob"},
    GangKind{"kubeflow.org", "PaddleJob", "PaddleJob"},
    GangKind{"kubeflow.org", "JAXJob", "JAXJob"},
    GangKind{"kubeflow.org", "MPIJob", "MPIJob"},  // also owns the Job of its launcher
    GangKind{"ray.io", "RayCluster", "RayCluster"},
    GangKind{.group = "jobset.x-k8s.io",
             .owner = "JobSet",
             .kind = "JobSet",
             .attempt_label = kRestart,
             .of_jobs = true,
             .role_label = kReplicatedJob},
    GangKind{.group = "batch",
             .owner = "Job",
             .kind = "JobSet",
             .api_version = "jobset.x-k8s.io/v1alpha2",
             .name_label = "jobset.sigs.k8s.io/jobset-name",
             .uid_label = "jobset.sigs.k8s.io/jobset-uid",
             .attempt_label = kRestart,
             .of_jobs = true,
             .role_label = kReplicatedJob},
    GangKind{.group = "apps",
             .owner = "StatefulSet",
             .kind = "LeaderWorkerSet",
             .api_version = "leaderworkerset.x-k8s.io/v1",
             .name_label = "leaderworkerset.sigs.k8s.io/name",
             .number_label = "leaderworkerset.sigs.k8s.io/group-index",
             .size_annotation = "leaderworkerset.sigs.k8s.io/size",
             .role_label = kWorkerIndex},
};

JsonView controller_of(JsonView metadata) {
  for (const JsonView owner : metadata["ownerReferences"].items())
    if (owner["controller"].is_true()) return owner;
  return {};
}

std::string_view value_of(JsonView map, std::string_view key) {
  return key.empty() ? std::string_view() : map[key].text();
}

std::optional<std::int64_t> size_of(JsonView annotations, const GangKind& row) {
  if (row.size_annotation.empty()) return std::nullopt;
  const auto size = parse_int(annotations[row.size_annotation].text());
  if (!size || *size < 1 || *size > kMostPods) return std::nullopt;
  return *size;
}

// Each Job of it is a gang then, by the name of the Job: first the pod that is number 0.
void be_of_one_job(JsonView metadata, OwnerGang& gang) {
  const JsonView owner = controller_of(metadata);
  const bool is_pod = owner["kind"].text() == "Job";  // else it is the Job
  gang.object = std::exchange(gang.name,
                              std::string(is_pod ? owner["name"].text() : metadata["name"].text()));
  gang.uid = Uid();
  const std::string_view number = metadata["labels"][kNumberInJob].text();
  gang.role = role_in_job(gang.role, number == "0");
}

}  // namespace

std::string role_in_job(std::string_view role, bool is_first) {
  return format("{}/{}", role, is_first ? "first" : "others");
}

std::string_view api_group(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == api_version.npos ? std::string_view() : api_version.substr(0, slash);
}

std::shared_ptr<const OwnerGang> read_owner_gang(JsonView metadata) {
  const JsonView owner = controller_of(metadata);
  const std::string_view group = api_group(owner["apiVersion"].text());
  const JsonView labels = metadata["labels"];
  const auto row = std::find_if(kGangKinds.begin(), kGangKinds.end(), [&](const GangKind& one) {
    return one.group == group && one.owner == owner["kind"].text() &&
           (one.name_label.empty() || labels[one.name_label].present());
  });
  if (row == kGangKinds.end()) return nullptr;
  const std::string_view number = value_of(labels, row->number_label);
  if (number.empty() && !row->number_label.empty()) return nullptr;  // not set yet
  const bool owner_makes_it = row->name_label.empty();
  OwnerGang gang;
  gang.kind = std::string(row->kind);
  gang.name = std::string(owner_makes_it ? owner["name"].text() : labels[row->name_label].text());
  if (!number.empty()) {
    gang.object = gang.name;
    gang.name += format("-{}", number);
  }
  gang.uid = Uid(owner_makes_it ? owner["uid"].text() : value_of(labels, row->uid_label));
  gang.part = std::string(value_of(labels, row->attempt_label));
  gang.api_version =
      owner_makes_it ? std::string(owner["apiVersion"].text()) : std::string(row->api_version);
  const JsonView annotations = metadata["annotations"];
  gang.size = size_of(annotations, *row);
  gang.role = std::string(value_of(labels, row->role_label));
  if (row->of_jobs && annotations[kLeadersFirst].present() && !annotations[kByNodeLabels].present())
    be_of_one_job(metadata, gang);
  else
    gang.of_jobs = row->of_jobs;
  return std::make_shared<const OwnerGang>(std::move(gang));
}

}  // namespace slackline::wire
