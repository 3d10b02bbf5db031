// AdmittedNote: the `admitted` annotation, what the webhook allowed of a Job or a bare pod. Without
// one that proves itself a task has no rights: class normal, the default queue.
#pragma once

#include <optional>
#include <string>

#include "slackline/model/task_intent.h"

namespace slackline {

struct AdmittedNote {
  std::string submitter;  // the user who created it
  QosClass qos_class = QosClass::kNormal;
  std::string queue;
  std::string nonce;  // MessageAuthenticator::nonce(): it counts for the first object that shows it

  // As it was read: what the code is over, and the code. Empty: it was not read, or has none.
  std::string text{};
  std::string code{};
};

}  // namespace slackline
