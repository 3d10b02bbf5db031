// OwnWrites: Slackline's writes that the watch does not show yet, laid over a snapshot
// (docs/RELIABILITY.md, rule 1). Planning without them would hand out the same GPUs twice.
//
//   sent --- written(resourceVersion) ---> written --- the watch shows it, or a later one ---> gone
//     |------ failed ---------------------------------------------------------------------> gone
//     +------ doubtful(until) ---> doubtful --- the object changed, or the time is over ---> gone
//
// A write leaves too when its object does. An object has at most one write that is not answered.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "slackline/model/own_write.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// `snapshot` as it will be once the writes are seen; `holds` derived again. A write whose object
// is not there, or is another one of that name, changes nothing. O(snapshot) copies of pointers.
ClusterSnapshot with_writes(const ClusterSnapshot& snapshot, const std::vector<OwnWrite>& writes);

// True where `seen` is `written` or newer: decimal numbers of any length, as API servers count.
bool shows_version(std::string_view seen, std::string_view written);

class OwnWrites {
 public:
  // A write is on its way. Returns its number.
  std::uint64_t sent(OwnWrite write);
  void written(std::uint64_t number, std::string resource_version);
  void failed(std::uint64_t number);
  // It may have happened or not (a timeout).
  void doubtful(std::uint64_t number, double until_steady_s);

  // Lets go of what the snapshot shows. True where a doubtful write was given up that nothing has
  // shown: whoever planned on it plans again.
  bool settle(const ClusterSnapshot& snapshot, double now_steady_s);

  // True while a write of this object is not answered.
  bool waiting_for(const Uid& uid) const;
  // All such objects: what is laid over a snapshot of them may still fail.
  std::unordered_set<Uid> unanswered() const;
  // Forgets all. Numbers go on: answers to what was sent before are nobody's.
  void clear() { entries_.clear(); }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  std::vector<OwnWrite> writes() const;  // in the order in which they were sent

 private:
  struct Entry {
    std::uint64_t number = 0;
    OwnWrite write;
    std::string base_version;  // of the object when the write was sent; empty = not known yet
    bool answered = false;
    std::string written_version;  // empty = not answered, or the answer had none
    std::optional<double> doubtful_until_s;
  };
  Entry* find(std::uint64_t number);

  std::vector<Entry> entries_;
  std::uint64_t next_number_ = 1;
};

}  // namespace slackline::core
