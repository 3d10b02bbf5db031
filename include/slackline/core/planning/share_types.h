// ShareTypes: the GPU types that queues have shares of, by their names in the configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "slackline/core/planning/gpu_types.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/queue_rules.h"

namespace slackline::core {

// A name accepts what gpu-types would; two spellings of a type are one.
class ShareTypes {
 public:
  ShareTypes(const QueueRulebook& rulebook, const GpuCatalog& catalog);

  const std::vector<std::string>& types() const { return types_; }
  // Into types(): of a name as the rulebook has it.
  std::uint32_t of(const std::string& name) const { return named_.at(name).type; }
  // Into types(): of GPUs of that type; its own name goes before one that only accepts it.
  // Shares::kNoType: nobody has a share of it.
  std::uint32_t of_gpus(const GpuType& type) const;

 private:
  struct Named {
    AcceptedTypes accepts;
    std::uint32_t type = 0;
  };

  std::map<std::string, Named, std::less<>> named_;
  std::vector<std::string> types_;
};

}  // namespace slackline::core
