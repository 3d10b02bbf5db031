// ApiDemand: what a caller of REST wants to do, as a right of the group slackline.dev.
#pragma once

#include <string>

namespace slackline {

struct ApiDemand {
  std::string verb;      // get, create, update, delete
  std::string resource;  // tasks, queue, nodes ...
  std::string ns;        // empty: in all namespaces
};

}  // namespace slackline
