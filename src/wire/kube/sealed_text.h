// Annotations that prove that Slackline wrote them: a JSON object whose last member, `mac`, is a
// code (model/mac.h) over the object without it and over the object it belongs to.
//
// The code is over the exact text, so even another space makes it invalid. Pure. The proof of an
// admission is wire/kube/admitted_codec.h.
#pragma once

#include <string>
#include <string_view>

#include "slackline/model/ids.h"
#include "slackline/model/mac.h"
#include "slackline/model/pod.h"
#include "slackline/model/task_intent.h"

namespace slackline::wire {

struct SealedText {
  std::string text;  // the object without its code
  std::string code;  // empty: there is none
};
SealedText split_seal(std::string_view annotation);
// `text` is a JSON object with at least one member. Without a code it stays as it is.
std::string with_seal(std::string_view text, std::string_view code);

// A plan counts only on the object that it was written to.
struct PlanCarrier {
  const ObjectKey& key;
  const Uid& uid;
};
std::string seal_plan(const MessageAuthenticator& mac, const PlanCarrier& carrier,
                      std::string_view text);
bool is_ours(const MessageAuthenticator& mac, const PlanCarrier& carrier, const PlanNote& plan);
// So does the note of a Job's preemptions.
std::string seal_preemptions(const MessageAuthenticator& mac, const PlanCarrier& carrier,
                             std::string_view text);
bool is_ours(const MessageAuthenticator& mac, const PlanCarrier& carrier,
             const PreemptionNote& note);
// And what a pod was told of the stop of its run.
std::string seal_notice(const MessageAuthenticator& mac, const PlanCarrier& carrier,
                        std::string_view text);
bool is_ours(const MessageAuthenticator& mac, const PlanCarrier& carrier, const StopNotice& notice);

}  // namespace slackline::wire
