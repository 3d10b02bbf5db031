// The names of tasks in the files of Gavel (OSDI'20): "ResNet-50 (batch size 64)", "A3C".
#pragma once

#include <optional>
#include <string_view>

namespace slackline::wire {

struct GavelName {
  std::string_view family;
  std::optional<double> batch;  // of one worker; some names have none
};

// nullopt: the batch size is no whole number above 0.
std::optional<GavelName> read_gavel_name(std::string_view name);

}  // namespace slackline::wire
