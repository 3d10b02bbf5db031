// PodBinding: the API server's present state of a pod.
#pragma once

#include "slackline/model/ids.h"
#include "slackline/model/node_state.h"

namespace slackline {

struct PodBinding {
  Uid uid;
  NodeName node;          // empty while unbound
  bool deleting = false;  // deletionTimestamp is set
  PodPtr pod = nullptr;   // with its constraints, even without GPUs; null if it cannot be read
};

}  // namespace slackline
