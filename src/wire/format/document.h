// Document: a YAML (hence JSON) file as a tree that remembers its lines, for configurations and
// profiles, whose mistakes are reported with file, line and path.
//
// Limits: 1 MB, 32 levels, 100,000 values, those that aliases repeat included. One document per
// file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "wire/format/yaml_events.h"

namespace slackline::wire {

struct DocumentField;

struct Document {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  int line = 0;         // from 1; of the key, where there is one
  std::string path;     // "entries[2].coefficients.kind"; empty = the whole document
  std::string scalar;   // without its quotes
  bool quoted = false;  // a string, whatever it looks like
  std::vector<Document> items;
  std::vector<DocumentField> fields;  // in file order; duplicate keys are kept

  // The first value of that key, or nullptr.
  const Document* find(std::string_view key) const;
};

struct DocumentField {
  std::string key;
  Document value;
};

// An empty text is a kNull document. The error has line and problem: not YAML, several documents, a
// limit.
tl::expected<Document, YamlProblem> read_document(std::string_view text);

}  // namespace slackline::wire
