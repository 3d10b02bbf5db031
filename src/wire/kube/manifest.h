// Manifests of objects that are not in the cluster yet: `slackline try` sends them, POST /v1/scores
// reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/pod.h"

namespace slackline::wire {

struct ManifestObject {
  std::string ns;         // empty: it names none
  std::string json;       // a Pod or a Job; empty: see why_not
  std::string of;         // what makes it, "Deployment web"; empty: the file has it itself
  std::string why_not{};  // why nothing can be said of it; empty: something can
};
struct Manifest {
  std::vector<ManifestObject> objects;  // at least one
  std::vector<std::string> left_out;    // "Service web": it has no pods
  // Keys of Slackline where nobody copies them from, in the words of deploy/policy.
  std::vector<std::string> misplaced{};
  // "JobSet train: 2 pods ...": what the answers say nothing of; a sentence each.
  std::vector<std::string> not_counted{};
};
// The Pods and Jobs of a file, the Job of each CronJob, one Job for each gang that a controller
// makes (docs/GANGS.md), with as many pods as it has with GPUs, and one pod of each other object
// that has a pod template (Deployment, StatefulSet, ...). kInvalidArgument if it has none.
Result<Manifest> split_manifest(std::string_view text);

// One object that somebody posts. The pod that it asks for: a Pod, or a Job, whose template becomes
// the pod and whose Slackline annotations are inherited. Of a Job also the Job itself, as it would
// be created; null: it is a Pod. A namespace of its own must be `ns`.
struct PostedObject {
  Pod pod;
  std::shared_ptr<const Job> job{};
  std::string written{};  // as JSON, with all its annotations, as the webhook would be shown it
};
Result<PostedObject> read_posted(std::string_view text, const std::string& ns,
                                 const GpuCatalog& catalog);
// Its pod.
Result<Pod> read_manifest(std::string_view text, const std::string& ns, const GpuCatalog& catalog);

// The answer of POST /v1/scores, for a person who has only a manifest.
struct TriedNode {
  std::string name;
  std::string gpu_type;
  std::string message;  // why not; empty where it passes
  bool passes = false;
  int score = 0;
  std::string meets_deadline;  // "yes", "no", or "" where it is unknown
};
struct TriedManifest {
  std::string pod;  // NAMESPACE/NAME
  std::string note;
  std::vector<std::string> problems;
  std::vector<TriedNode> nodes;  // best first
  std::int64_t more_nodes = 0;   // that the answer leaves out
  bool has_deadline = false;
};
Result<TriedManifest> decode_tried(std::string_view json);

}  // namespace slackline::wire
