#include "telemetry/labels.h"

#include "slackline/base/text.h"

namespace slackline::telemetry {
namespace {

std::string_view first_of(const wire::Series& series, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (const std::string_view value = series.label(name); !value.empty()) return value;
  return {};
}

}  // namespace

Owner owner_of(const wire::Series& series, const LabelNames& names) {
  for (const OwnerLabels& group : names.owners) {
    const std::string_view pod = series.label(group.pod);
    if (pod.empty()) continue;
    return {{std::string(series.label(group.ns)), std::string(pod)},
            std::string(series.label(group.container))};
  }
  return {};
}

std::string device_of(const wire::Series& series, const LabelNames& names) {
  std::string device(first_of(series, names.device));
  if (device.empty()) {
    const std::string_view index = first_of(series, names.index);
    if (index.empty()) return {};
    device = format("{}#{}", first_of(series, names.node), index);
  }
  const std::string_view instance = first_of(series, names.instance);
  return instance.empty() ? device : format("{}/{}", device, instance);
}

bool says_shared(const wire::Series& series, const LabelNames& names) {
  return !first_of(series, names.shared).empty();
}

std::vector<std::string> owner_names(const LabelNames& names) {
  std::vector<std::string> all;
  for (const OwnerLabels& group : names.owners)
    for (const std::string* name : {&group.ns, &group.pod, &group.container})
      all.push_back(*name);
  return all;
}

std::vector<std::string> device_names(const LabelNames& names) {
  std::vector<std::string> all;
  for (const auto* group :
       {&names.device, &names.node, &names.index, &names.instance, &names.shared})
    all.insert(all.end(), group->begin(), group->end());
  return all;
}

}  // namespace slackline::telemetry
