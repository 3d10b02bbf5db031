// ApiDemand: what somebody wants to do, as a right of the group slackline.dev.
#pragma once

#include <string>

namespace slackline {

struct ApiDemand {
  std::string verb;      // get, create, update, delete; use
  std::string resource;  // tasks, queue, nodes ...; qosclasses, queues
  std::string ns;        // empty: in all namespaces
  std::string name{};    // of one object; empty: any
  // Every ServiceAccount of `ns` may, and nobody else: it is not a right that is granted.
  bool of_namespace = false;
};

}  // namespace slackline
