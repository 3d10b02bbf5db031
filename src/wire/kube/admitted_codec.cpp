#include "wire/kube/admitted_codec.h"

#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
std::string encode_admitted(const AdmittedNote& note) {
  JsonWriter out(256);
  out.begin_object().field("submitter", note.submitter).field("class", to_string(note.qos_class));
  out.field("queue", note.queue).field("nonce", note.nonce).field("mac", note.mac).end_object();
  return out.take();
}

Result<AdmittedNote> read_admitted(std::string_view text) {
  constexpr std::size_t kMaxBytes = std::size_t{8} << 10;
  constexpr std::size_t kMaxNonce = 64;
  if (text.size() > kMaxBytes)
    return fail(ErrorCode::kInvalidArgument, "longer than 8 KiB; only Slackline writes it");
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(text));
  const auto qos = qos_class_of(root["class"].text());
  if (!qos)
    return fail(ErrorCode::kInvalidArgument,
                "class is not a known class; only Slackline writes it");
  AdmittedNote note;
  note.submitter = std::string(root["submitter"].text());
  note.qos_class = *qos;
  note.queue = std::string(root["queue"].text());
  note.nonce = std::string(root["nonce"].text());
  note.mac = std::string(root["mac"].text());
  if (note.nonce.empty() || note.nonce.size() > kMaxNonce || note.mac.empty())
    return fail(ErrorCode::kInvalidArgument, "nonce or mac is missing; only Slackline writes it");
  return note;
}

}  // namespace slackline::wire
