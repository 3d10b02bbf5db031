// Whose annotations count for a gang: those of its templates may differ, or stand on one of them.
#pragma once

#include <initializer_list>
#include <vector>

#include "slackline/model/snapshot.h"

namespace slackline::core {

// The first by name of the pods that have any, else of all; null: there are no pods.
inline const Pod* who_speaks(std::initializer_list<const std::vector<PodPtr>*> lists) {
  const Pod* speaks = nullptr;
  for (const std::vector<PodPtr>* pods : lists)
    for (const PodPtr& pod : *pods) {
      const bool says_more =
          speaks != nullptr && (pod->intent == nullptr) != (speaks->intent == nullptr);
      if (speaks == nullptr || (says_more ? pod->intent != nullptr : pod->key < speaks->key))
        speaks = pod.get();
    }
  return speaks;
}

}  // namespace slackline::core
