// Chooses the connection to close when a listener has no room. Pure.
//
// Any connection outside of a handler may be closed: half a handshake, head or body, an answer that
// nobody reads, an idle keep-alive. The peer that holds most loses one first, peers with a
// certificate last, and never one that holds no more than the peer that needs the room: the long
// idle connection of kube-scheduler does not give way to a flood.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "http/server/peers.h"

namespace slackline::http {

// The stage of a connection, in the order in which connections of one peer are closed.
enum class Stage {
  kUnproven,   // has had no answer yet: a handshake, half a request, or silence
  kPartial,    // half a request after others, an answer that is not read
  kIdle,       // between two requests
  kUntouched,  // inside a handler, or about to be: never closed
};

struct Candidate {
  const Peer* peer = nullptr;
  Stage stage = Stage::kUntouched;
  std::size_t bytes = 0;
  std::chrono::steady_clock::time_point since;  // when its stage began
};

// The index of the connection to close for one more of `newcomer`, whose own place is not counted
// yet. Among its own it may only replace an unproven one; an idle one of others it replaces only
// where that peer holds more than twice as many.
std::optional<std::size_t> evict_for_connection(const std::vector<Candidate>& candidates,
                                                const Peer* newcomer);

// The index of the connection to close so that `asking` may keep `bytes` more.
std::optional<std::size_t> evict_for_bytes(const std::vector<Candidate>& candidates,
                                           const Peer& asking, std::size_t bytes);

}  // namespace slackline::http
