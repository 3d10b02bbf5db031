#include "wire/sealed_text.h"

#include "slackline/base/text.h"
#include "wire/json_view.h"
#include "wire/json_writer.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kBegin = R"(,"mac":")";
constexpr std::string_view kEnd = R"("})";
constexpr std::size_t kCodeSize = 44;  // base64 of 32 bytes

std::optional<QosClass> class_of(std::string_view text) {
  for (const QosClass qos : {QosClass::kNormal, QosClass::kPrior, QosClass::kUrgent})
    if (text == to_string(qos)) return qos;
  return std::nullopt;
}

}  // namespace

SealedText split_seal(std::string_view annotation) {
  constexpr std::size_t kSealSize = kBegin.size() + kCodeSize + kEnd.size();
  if (annotation.size() <= kSealSize || !annotation.ends_with(kEnd))
    return {std::string(annotation), ""};
  const std::size_t at = annotation.size() - kSealSize;
  if (annotation.substr(at, kBegin.size()) != kBegin) return {std::string(annotation), ""};
  return {std::string(annotation.substr(0, at)) + "}",
          std::string(annotation.substr(at + kBegin.size(), kCodeSize))};
}

std::string with_seal(std::string_view text, std::string_view code) {
  if (code.empty() || !text.ends_with('}')) return std::string(text);
  return format("{}{}{}{}", text.substr(0, text.size() - 1), kBegin, code, kEnd);
}

std::string seal_plan(const MessageAuthenticator& mac, const PlanCarrier& carrier,
                      std::string_view text) {
  return with_seal(text, mac.sign({"plan", carrier.key.ns, carrier.key.name, carrier.uid.str(),
                                   text}));
}

bool is_ours(const MessageAuthenticator& mac, const PlanCarrier& carrier, const PlanNote& plan) {
  return mac.verify({"plan", carrier.key.ns, carrier.key.name, carrier.uid.str(), plan.text},
                    plan.code);
}

std::string seal_admitted(const MessageAuthenticator& mac, const std::string& ns,
                          const AdmittedNote& note) {
  JsonWriter out;
  out.begin_object().field("submitter", note.submitter);
  out.field("class", to_string(note.qos_class)).field("queue", note.queue);
  out.field("nonce", note.nonce).end_object();
  const std::string text = out.take();
  return with_seal(text, mac.sign({"admitted", ns, text}));
}

Result<AdmittedNote> read_admitted(std::string_view annotation) {
  constexpr std::size_t kMostBytes = 16 << 10;
  if (annotation.size() > kMostBytes)
    return fail(ErrorCode::kInvalidArgument, "longer than 16 KiB; only Slackline writes it");
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(annotation));
  AdmittedNote note;
  note.submitter = std::string(root["submitter"].text());
  note.queue = std::string(root["queue"].text());
  note.nonce = std::string(root["nonce"].text());
  const auto qos = class_of(root["class"].text());
  if (!qos || note.nonce.empty())
    return fail(ErrorCode::kInvalidArgument, "class or nonce is missing; only Slackline writes it");
  note.qos_class = *qos;
  SealedText sealed = split_seal(annotation);
  note.text = std::move(sealed.text);
  note.code = std::move(sealed.code);
  return note;
}

bool is_ours(const MessageAuthenticator& mac, const std::string& ns, const AdmittedNote& note) {
  return mac.verify({"admitted", ns, note.text}, note.code);
}

}  // namespace slackline::wire
