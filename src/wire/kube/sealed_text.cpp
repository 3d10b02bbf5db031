#include "wire/kube/sealed_text.h"

#include "slackline/base/text.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kBegin = R"(,"mac":")";
constexpr std::string_view kEnd = R"("})";
constexpr std::size_t kCodeSize = 44;  // base64 of 32 bytes

// What a code is over besides the text: one kind of note is never taken for another.
constexpr std::string_view kPlan = "plan";
constexpr std::string_view kPreemptions = "preemptions";
constexpr std::string_view kNotice = "preempt-for";

std::string seal(const MessageAuthenticator& mac, std::string_view kind, const PlanCarrier& carrier,
                 std::string_view text) {
  return with_seal(text,
                   mac.sign({kind, carrier.key.ns, carrier.key.name, carrier.uid.str(), text}));
}

template <class Note>
bool is_sealed(const MessageAuthenticator& mac, std::string_view kind, const PlanCarrier& carrier,
               const Note& note) {
  return mac.verify({kind, carrier.key.ns, carrier.key.name, carrier.uid.str(), note.text},
                    note.code);
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
  return seal(mac, kPlan, carrier, text);
}

bool is_ours(const MessageAuthenticator& mac, const PlanCarrier& carrier, const PlanNote& plan) {
  return is_sealed(mac, kPlan, carrier, plan);
}

std::string seal_preemptions(const MessageAuthenticator& mac, const PlanCarrier& carrier,
                             std::string_view text) {
  return seal(mac, kPreemptions, carrier, text);
}

bool is_ours(const MessageAuthenticator& mac, const PlanCarrier& carrier,
             const PreemptionNote& note) {
  return is_sealed(mac, kPreemptions, carrier, note);
}

std::string seal_notice(const MessageAuthenticator& mac, const PlanCarrier& carrier,
                        std::string_view text) {
  return seal(mac, kNotice, carrier, text);
}

bool is_ours(const MessageAuthenticator& mac, const PlanCarrier& carrier,
             const StopNotice& notice) {
  return is_sealed(mac, kNotice, carrier, notice);
}

}  // namespace slackline::wire
