#include "wire/kube/sealed_text.h"

#include "slackline/base/text.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kBegin = R"(,"mac":")";
constexpr std::string_view kEnd = R"("})";
constexpr std::size_t kCodeSize = 44;  // base64 of 32 bytes

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
  return with_seal(text,
                   mac.sign({"plan", carrier.key.ns, carrier.key.name, carrier.uid.str(), text}));
}

std::string seal_preemptions(const MessageAuthenticator& mac, const PlanCarrier& carrier,
                             std::string_view text) {
  return with_seal(
      text, mac.sign({"preemptions", carrier.key.ns, carrier.key.name, carrier.uid.str(), text}));
}

bool is_ours(const MessageAuthenticator& mac, const PlanCarrier& carrier,
             const PreemptionNote& note) {
  return mac.verify({"preemptions", carrier.key.ns, carrier.key.name, carrier.uid.str(), note.text},
                    note.code);
}

bool is_ours(const MessageAuthenticator& mac, const PlanCarrier& carrier, const PlanNote& plan) {
  return mac.verify({"plan", carrier.key.ns, carrier.key.name, carrier.uid.str(), plan.text},
                    plan.code);
}

}  // namespace slackline::wire
