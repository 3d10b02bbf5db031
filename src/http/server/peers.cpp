#include "http/server/peers.h"

namespace slackline::http {

Peers::Seat::Seat(Peers& peers, const std::string& address) : peers_(peers) {
  sit(peers_.peers_.try_emplace(address).first);
}

Peers::Seat::~Seat() {
  stand_up();
}

void Peers::Seat::sit(Place at) {
  at_ = at;
  ++at_->second.seats;
  at_->second.bytes += bytes_;
  peers_.bytes_ += bytes_;
  if (!connected_) return;
  ++at_->second.connections;
  ++peers_.connections_;
}

void Peers::Seat::stand_up() {
  Peer& peer = at_->second;
  peer.bytes -= bytes_;
  peers_.bytes_ -= bytes_;
  if (connected_) {
    --peer.connections;
    --peers_.connections_;
  }
  if (--peer.seats == 0) peers_.peers_.erase(at_);
}

// A subject cannot be mistaken for an address, which has no '='.
void Peers::Seat::identify(const std::string& subject) {
  const Place there = peers_.peers_.try_emplace("CN=" + subject, Peer{.known = true}).first;
  stand_up();
  sit(there);
}

bool Peers::Seat::keep(std::size_t bytes) {
  if (bytes > bytes_ && !peers_.may_keep(*this, bytes - bytes_)) return false;
  Peer& peer = at_->second;
  peer.bytes += bytes - bytes_;  // unsigned arithmetic also takes away
  peers_.bytes_ += bytes - bytes_;
  bytes_ = bytes;
  return true;
}

void Peers::Seat::leave() {
  if (!connected_) return;
  connected_ = false;
  --at_->second.connections;
  --peers_.connections_;
}

bool Peers::may_connect(const std::string& address) const {
  const Peer* peer = find(address);
  return may_take(max_connections_, connections_, peer == nullptr ? 0 : peer->connections, 1);
}

bool Peers::may_keep(const Seat& seat, std::size_t more) const {
  return may_take(max_bytes_, bytes_, seat.peer().bytes, more);
}

const Peer* Peers::find(const std::string& address) const {
  const auto found = peers_.find(address);
  return found == peers_.end() ? nullptr : &found->second;
}

}  // namespace slackline::http
