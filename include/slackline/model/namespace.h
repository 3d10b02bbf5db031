// Namespace and PriorityClass: what decides whose annotations count, and for how much.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slackline/model/gpu_catalog.h"
#include "slackline/model/ids.h"
#include "slackline/model/pod_admission.h"
#include "slackline/model/resize.h"

namespace slackline {

struct Namespace {
  Uid uid;
  ObjectKey key;                       // the name alone
  bool managed = false;                // label slackline.dev/managed=true
  bool deleting = false;               // deletionTimestamp is set: nothing is made in it any more
  double managed_since_s = 0;          // as seen here, epoch seconds; 0: since before that
  std::optional<ResizeMode> resize{};  // annotation slackline.dev/resize
  NamespaceAdmission pods{};           // as its annotations and labels say
};

// scheduling.k8s.io/v1 PriorityClass.
struct PriorityClass {
  Uid uid;
  ObjectKey key;  // the name alone
  std::int32_t value = 0;
  bool global_default = false;  // of pods that name no class
  bool never_preempts = false;  // preemptionPolicy: Never
};

}  // namespace slackline
