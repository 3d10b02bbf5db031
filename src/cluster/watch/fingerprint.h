// The parts of an object that the drift audit compares: its identity and the fields that decisions
// use.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "wire/kube/kube_decode.h"

namespace slackline::cluster {

// By "namespace/name" ("/name" for nodes). Terminal pods are left out: the cache does not keep
// them.
using Fingerprints = std::unordered_map<std::string, std::uint64_t>;

std::uint64_t fingerprint_of(const Node& node);
std::uint64_t fingerprint_of(const Pod& pod);
std::uint64_t fingerprint_of(const Job& job);
std::uint64_t fingerprint_of(const DisruptionBudget& budget);
std::uint64_t fingerprint_of(const ResourceQuota& quota);
std::uint64_t fingerprint_of(const Namespace& ns);
std::uint64_t fingerprint_of(const PriorityClass& priority_class);
std::uint64_t fingerprint_of(const RuntimeClass& runtime);
std::uint64_t fingerprint_of(const LimitRange& range);
std::uint64_t fingerprint_of(const DeviceClass& device_class);
std::uint64_t fingerprint_of(const VolumeClaim& claim);
std::uint64_t fingerprint_of(const Volume& volume);

void add_fingerprint(Fingerprints& into, const wire::KubeObject& object);

}  // namespace slackline::cluster
