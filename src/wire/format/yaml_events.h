// YAML as a stream of events, with yaml-cpp kept behind one translation unit.
//
// JSON is YAML, so JSON files come through here as well. Refused as YAML: texts beyond a limit,
// nesting beyond a limit, maps or lists as keys, an alias before its anchor. Sinks may refuse more
// by throwing YamlProblem; nothing else is thrown out of read_yaml().
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slackline::wire {

struct YamlLimits {
  std::size_t max_bytes = std::size_t{256} << 20;
  int max_depth = 64;
};

// What is wrong, and in which line (from 1).
struct YamlProblem {
  int line = 0;
  std::string message;
};

// Anchors are numbered; 0 = none. Between begin_map and end the values alternate: key, value, key
// ...; keys are always scalars.
class YamlSink {
 public:
  virtual ~YamlSink() = default;
  virtual void begin_document() = 0;
  virtual void end_document() = 0;
  virtual void null(int line, std::size_t anchor) = 0;
  // `plain`: written without quotes and without the tag !!str, so that it may mean a number or
  // boolean.
  virtual void scalar(int line, std::size_t anchor, const std::string& text, bool plain) = 0;
  virtual void key(int line, const std::string& text) = 0;
  virtual void begin_map(int line, std::size_t anchor) = 0;
  virtual void end_map() = 0;
  virtual void begin_list(int line, std::size_t anchor) = 0;
  virtual void end_list() = 0;
  virtual void alias(int line, std::size_t anchor) = 0;
};

// All documents of the text, in order; the problem that ended it, if any.
std::optional<YamlProblem> read_yaml(std::string_view text, const YamlLimits& limits,
                                     YamlSink& sink);

}  // namespace slackline::wire
