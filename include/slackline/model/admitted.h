// AdmittedNote: the `admitted` annotation: what the webhook allowed, and the only proof of it
// (docs/decisions/0017-proof-of-admission.md).
//
// The code is over ("admitted", namespace, submitter, class, queue, nonce). It does
// not name the object, so a reader believes a nonce of one object only: a copy proves nothing.
#pragma once

#include <string>

#include "slackline/model/mac.h"
#include "slackline/model/task_intent.h"

namespace slackline {

struct AdmittedNote {
  std::string submitter;  // as the API server names the user
  QosClass qos_class = QosClass::kNormal;
  std::string queue;
  std::string nonce;
  std::string mac;

  friend bool operator==(const AdmittedNote&, const AdmittedNote&) = default;
};

// With its code; `nonce` is authenticator.nonce(). The authenticator must be ready.
AdmittedNote sign_admission(const MessageAuthenticator& authenticator, const std::string& ns,
                            std::string submitter, QosClass qos_class, std::string queue,
                            std::string nonce);

// True if Slackline wrote it, for an object of that namespace.
bool is_authentic(const AdmittedNote& note, const std::string& ns,
                  const MessageAuthenticator& authenticator);

}  // namespace slackline
