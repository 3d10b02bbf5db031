// Why a task is not in the queue, for people: somebody asks for it by name.
#pragma once

#include <optional>
#include <string>

#include "slackline/model/snapshot.h"

namespace slackline::core {

// A sentence without a full stop that names the Job or pod, says what is the matter, and what to
// do or ask instead. For a key that the queue does not have; nullopt: there is no Job or pod of
// that name. O(pods).
std::optional<std::string> why_not_in_queue(const ClusterSnapshot& snapshot, const ObjectKey& key);

// Why Slackline leaves a new Job or pod to others, whatever it asks for: what follows "it"; empty:
// it does not.
std::string why_left_to_others(const Job& job);
std::string why_left_to_others(const Pod& pod);

// The same of all tasks of a namespace, as a clause: it is not there, or has no label. Empty also
// where nobody knows: no namespaces are listed, or the snapshot is taken on trust.
std::string why_not_managed(const ClusterSnapshot& snapshot, const std::string& ns);

// Of pods that ask for a resource that no node lists, a sentence that says so; empty: of none.
std::string asks_for_unlisted(const ClusterSnapshot& snapshot, const Resources& requests);

}  // namespace slackline::core
