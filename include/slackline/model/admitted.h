// AdmittedNote: the `admitted` annotation: what the webhook allowed, and the only proof of it
// (design: "Whom we believe").
//
// The code is over ("admitted", namespace, submitter, class, queue, nonce). Whom a copy on another
// object would serve, the code does not say: whoever reads it believes a nonce of one object only.
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

// True where we wrote it, for an object of that namespace.
bool is_authentic(const AdmittedNote& note, const std::string& ns,
                  const MessageAuthenticator& authenticator);

}  // namespace slackline
