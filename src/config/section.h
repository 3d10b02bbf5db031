// Section: one mapping of a YAML document, read key by key; a key that was not read is an unknown
// key.
//
// Private to this layer. Each reader leaves its target as it is when the key is absent, and notes a
// finding when the value is wrong. Path and line of the mapping name it in findings.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/finding.h"
#include "wire/format/document.h"

namespace slackline::config {

// The finding for a text that is not a YAML document.
Finding unreadable(const wire::YamlProblem& problem);

class Section {
 public:
  // A tree that is not a mapping is itself a finding; then every key is absent.
  Section(const wire::Document& tree, std::string path, Findings& findings);
  // Reports the keys that were not read.
  ~Section();
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  // All keys of the mapping, in the order of the file.
  std::vector<std::string> keys() const;
  // The raw value; nullptr where absent or null.
  const wire::Document* find(std::string_view key);

  void text(std::string_view key, std::string& target);
  void flag(std::string_view key, bool& target);
  void number(std::string_view key, double& target, double least, bool least_is_allowed);
  void integer(std::string_view key, std::int64_t& target, std::int64_t least,
               std::int64_t most = std::numeric_limits<std::int64_t>::max());
  // Bytes, as a Kubernetes quantity ("16Mi").
  void size(std::string_view key, std::int64_t& target, std::int64_t least, std::int64_t most);
  void duration(std::string_view key, double& target_s, bool may_be_zero = false);
  void texts(std::string_view key, std::vector<std::string>& target);
  void section(std::string_view key, const std::function<void(Section&)>& read);
  // Calls `read` for each item, which must be mappings; false if there is no list.
  bool sections(std::string_view key, const std::function<void(Section&)>& read);

  template <class Enum>
  void choice(std::string_view key, Enum& target,
              const std::vector<std::pair<std::string_view, Enum>>& allowed) {
    const std::size_t none = allowed.size();
    std::vector<std::string> names;
    for (const auto& [name, value] : allowed)
      names.emplace_back(name);
    if (const std::size_t at = choose(key, names); at != none) target = allowed[at].second;
  }

  // An error or a warning at `key`, or at the mapping itself where the key is absent or empty.
  void problem(std::string_view key, std::string problem, std::string remedy);
  void warning(std::string_view key, std::string problem, std::string remedy);

 private:
  std::string path_of(std::string_view key) const;
  const std::string* scalar(std::string_view key, std::string_view wanted);
  void note(Severity severity, std::string_view key, std::string problem, std::string remedy);
  std::size_t choose(std::string_view key, const std::vector<std::string>& names);

  const wire::Document& tree_;
  const std::string path_;
  Findings& findings_;
  std::vector<std::string> known_;
};

}  // namespace slackline::config
