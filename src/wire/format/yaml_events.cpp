#include "wire/format/yaml_events.h"

#include <istream>
#include <streambuf>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "slackline/base/text.h"

namespace slackline::wire {
namespace {

// Reads a text in place: a dump is too long to be copied into a string stream first.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // NOLINT: the get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

// Turns yaml-cpp's events into YamlSink's: distinguishes keys from values and limits the depth.
class Adapter : public YAML::EventHandler {
 public:
  Adapter(YamlSink& sink, int max_depth) : sink_(sink), max_depth_(max_depth) {}

  // On a stray "," yaml-cpp reports empty documents forever without moving on.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (mark.pos <= last_start_)
      throw YamlProblem{line(mark), "not YAML: a document cannot begin here"};
    last_start_ = mark.pos;
    sink_.begin_document();
  }
  void OnDocumentEnd() override { sink_.end_document(); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (takes_key()) return sink_.key(line(mark), "null");
    sink_.null(line(mark), anchor);
    value_done();
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (takes_key()) return sink_.key(line(mark), value);
    // yaml-cpp: "?" is plain, "!" is quoted, anything else an explicit tag.
    const bool text = tag == "!" || tag == "tag:yaml.org,2002:str";
    sink_.scalar(line(mark), anchor, value, !text);
    value_done();
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_as_key(mark);
    sink_.alias(line(mark), anchor);
    value_done();
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_as_key(mark);
    open(mark, Level::kList);
    sink_.begin_list(line(mark), anchor);
  }

  void OnSequenceEnd() override {
    levels_.pop_back();
    sink_.end_list();
    value_done();
  }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_as_key(mark);
    open(mark, Level::kKey);
    sink_.begin_map(line(mark), anchor);
  }

  void OnMapEnd() override {
    levels_.pop_back();
    sink_.end_map();
    value_done();
  }

 private:
  enum class Level { kList, kKey, kValue };

  static int line(const YAML::Mark& mark) { return mark.line + 1; }

  // True when the map around is waiting for a key; then the value comes next.
  bool takes_key() {
    if (levels_.empty() || levels_.back() != Level::kKey) return false;
    levels_.back() = Level::kValue;
    return true;
  }

  void value_done() {
    if (!levels_.empty() && levels_.back() == Level::kValue) levels_.back() = Level::kKey;
  }

  void refuse_as_key(const YAML::Mark& mark) {
    if (!levels_.empty() && levels_.back() == Level::kKey)
      throw YamlProblem{line(mark), "a key must be a plain name"};
  }

  void open(const YAML::Mark& mark, Level level) {
    if (static_cast<int>(levels_.size()) >= max_depth_)
      throw YamlProblem{line(mark), format("nested deeper than {} levels", max_depth_)};
    levels_.push_back(level);
  }

  YamlSink& sink_;
  const int max_depth_;
  int last_start_ = -1;
  std::vector<Level> levels_;
};

// Whether the line (from 0) is indented with a tab.
bool is_indented_with_tab(std::string_view text, int line) {
  for (; line > 0; --line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  const std::size_t first = text.find_first_not_of(' ');
  return first != std::string_view::npos && text[first] == '\t';
}

YamlProblem problem_of(const YAML::Exception& error, std::string_view text) {
  if (error.mark.is_null()) return {1, format("not YAML: {}", error.msg)};
  const bool tab = is_indented_with_tab(text, error.mark.line);
  return {error.mark.line + 1,
          tab ? format("not YAML: a tab where YAML wants spaces ({})", error.msg)
              : format("not YAML: {}", error.msg)};
}

}  // namespace

std::optional<YamlProblem> read_yaml(std::string_view text, const YamlLimits& limits,
                                     YamlSink& sink) {
  if (text.size() > limits.max_bytes)
    return YamlProblem{1,
                       format("{} bytes long; at most {} are read", text.size(), limits.max_bytes)};
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    Adapter adapter(sink, limits.max_depth);
    while (parser.HandleNextDocument(adapter)) {
    }
  } catch (const YamlProblem& problem) {
    return problem;
  } catch (const YAML::Exception& error) {
    return problem_of(error, text);
  } catch (const std::exception& error) {
    return YamlProblem{1, format("not YAML: {}", error.what())};
  }
  return std::nullopt;
}

}  // namespace slackline::wire
