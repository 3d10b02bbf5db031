// How much of a listener each peer holds: connections, and bytes of requests and answers.
//
// A peer is a client's address, or the subject of the certificate that it has shown and that was
// verified. Bytes are charged as they arrive, never as they are announced. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace slackline::http {

// Of a scarce resource. No peer is limited while there is room: the API server, kube-scheduler and
// everybody behind one NAT are one peer each. The last quarter of the capacity is for peers that
// would hold no more than a quarter with it, so that one peer cannot take everything.
constexpr bool may_take(std::size_t capacity, std::size_t taken_by_all, std::size_t held_by_peer,
                        std::size_t wanted) {
  const std::size_t after = taken_by_all + wanted;
  const std::size_t share = std::max<std::size_t>(1, capacity / 4);
  return after <= capacity && (after <= capacity - capacity / 4 || held_by_peer + wanted <= share);
}

struct Peer {
  bool known = false;  // by a certificate
  std::size_t connections = 0;
  std::size_t bytes = 0;
  std::size_t seats = 0;  // connections, and those that are closed but not given up yet
};

class Peers {
 public:
  Peers(std::size_t max_connections, std::size_t max_bytes)
      : max_connections_(max_connections), max_bytes_(max_bytes) {}
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // The share of one connection, charged to its peer while it lives. The Peers outlive it.
  class Seat {
   public:
    Seat(Peers& peers, const std::string& address);
    ~Seat();
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;

    // The peer has identified itself.
    void identify(const std::string& subject);
    // The connection keeps this many bytes from now on. False, and nothing changes, if that is more
    // than the listener has left for this peer.
    bool keep(std::size_t bytes);
    // The connection is closed, but may keep its bytes for a handler that still reads them.
    void leave();

    const std::string& name() const { return at_->first; }
    const Peer& peer() const { return at_->second; }
    std::size_t bytes() const { return bytes_; }

   private:
    using Place = std::map<std::string, Peer>::iterator;
    void sit(Place at);
    void stand_up();

    Peers& peers_;
    Place at_;
    std::size_t bytes_ = 0;
    bool connected_ = true;
  };

  // Whether this address may have one more connection.
  bool may_connect(const std::string& address) const;
  // Whether `seat` may keep this many bytes more.
  bool may_keep(const Seat& seat, std::size_t more) const;
  // Null where it holds nothing.
  const Peer* find(const std::string& address) const;

  std::size_t connections() const { return connections_; }
  std::size_t bytes() const { return bytes_; }

 private:
  const std::size_t max_connections_;
  const std::size_t max_bytes_;
  std::map<std::string, Peer> peers_;  // only those that have a seat
  std::size_t connections_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace slackline::http
