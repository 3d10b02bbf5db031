// Shelf: the objects of one kind by key, and the sorted list of them that snapshots take.
//
// Thread-safety: none; the cache's lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/watch/fingerprint.h"
#include "slackline/model/ids.h"

namespace slackline::cluster {

template <class T>
struct Shelf {
  struct Entry {
    std::shared_ptr<const T> object;
    std::uint64_t generation = 0;  // of the list that named it last
  };
  std::map<ObjectKey, Entry> entries;
  std::vector<std::shared_ptr<const T>> list;
  bool list_outdated = false;

  const std::vector<std::shared_ptr<const T>>& sorted();
  void put(T object, std::uint64_t generation) {
    put(std::make_shared<const T>(std::move(object)), generation);
  }
  void put(std::shared_ptr<const T> object, std::uint64_t generation);
  void forget(const ObjectKey& key) { list_outdated |= entries.erase(key) > 0; }
  // Any uid if `uid` is empty.
  bool holds(const ObjectKey& key, const Uid& uid) const;
  std::vector<ObjectKey> older_than(std::uint64_t generation) const;
  Fingerprints fingerprints() const;
};

template <class T>
const std::vector<std::shared_ptr<const T>>& Shelf<T>::sorted() {
  if (list_outdated) {
    list.clear();
    list.reserve(entries.size());
    for (const auto& [key, entry] : entries)
      list.push_back(entry.object);
    list_outdated = false;
  }
  return list;
}

template <class T>
void Shelf<T>::put(std::shared_ptr<const T> object, std::uint64_t generation) {
  const ObjectKey key = object->key;
  entries[key] = {std::move(object), generation};
  list_outdated = true;
}

template <class T>
bool Shelf<T>::holds(const ObjectKey& key, const Uid& uid) const {
  const auto at = entries.find(key);
  return at != entries.end() && (uid.empty() || at->second.object->uid == uid);
}

template <class T>
std::vector<ObjectKey> Shelf<T>::older_than(std::uint64_t generation) const {
  std::vector<ObjectKey> keys;
  for (const auto& [key, entry] : entries)
    if (entry.generation != generation) keys.push_back(key);
  return keys;
}

template <class T>
Fingerprints Shelf<T>::fingerprints() const {
  Fingerprints result;
  for (const auto& [key, entry] : entries)
    result[key.str()] = fingerprint_of(*entry.object);
  return result;
}

}  // namespace slackline::cluster
