// The rules for one entry of `extenders` in a KubeSchedulerConfiguration. Private to this layer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.h"
#include "config/finding.h"
#include "wire/format/document.h"

namespace slackline::config {

inline constexpr std::string_view kExtenderPath = "/v1/extender";

// Reads keys of one mapping and notes findings at them; an absent key is noted at the mapping.
class Lint {
 public:
  Lint(const wire::Document& map, std::string path, Findings& findings)
      : map_(map), path_(std::move(path)), findings_(findings) {}

  bool has(std::string_view key) const;
  // Empty where absent.
  std::string text(std::string_view key) const;
  // kube-scheduler's default of the flag.
  bool flag(std::string_view key) const { return text(key) == "true"; }
  const wire::Document* find(std::string_view key) const { return map_.find(key); }
  Lint inside(std::string_view key) const;

  void error(std::string_view key, std::string problem, std::string remedy) const;
  void warning(std::string_view key, std::string problem, std::string remedy) const;

  const wire::Document& map() const { return map_; }
  const std::string& path() const { return path_; }
  Findings& findings() const { return findings_; }

 private:
  std::string path_of(std::string_view key) const;
  void add(Severity severity, std::string_view key, std::string problem, std::string remedy) const;

  const wire::Document& map_;
  const std::string path_;
  Findings& findings_;
};

struct ManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;
  std::string path;
  int line = 0;
};

// Of an extender; none where the key is absent.
std::vector<ManagedResource> managed_resources(const Lint& extender);

// Rules for every extender, and for `ours` those that depend on Slackline's configuration.
void lint_extender(const Lint& extender, bool ours, const Configuration& configuration);

}  // namespace slackline::config
