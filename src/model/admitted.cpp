#include "slackline/model/admitted.h"

#include <string_view>
#include <utility>

namespace slackline {
namespace {

constexpr std::string_view kPurpose = "admitted";

}  // namespace

AdmittedNote sign_admission(const MessageAuthenticator& authenticator, const std::string& ns,
                            std::string submitter, QosClass qos_class, std::string queue,
                            std::string nonce) {
  AdmittedNote note{std::move(submitter), qos_class, std::move(queue), std::move(nonce), {}};
  note.mac = authenticator.sign(
      {kPurpose, ns, note.submitter, to_string(note.qos_class), note.queue, note.nonce});
  return note;
}

bool is_authentic(const AdmittedNote& note, const std::string& ns,
                  const MessageAuthenticator& authenticator) {
  return authenticator.verify(
      {kPurpose, ns, note.submitter, to_string(note.qos_class), note.queue, note.nonce}, note.mac);
}

}  // namespace slackline
