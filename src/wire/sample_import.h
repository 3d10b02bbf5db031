// The formats in which `slackline fit --from FORMAT` reads throughput samples: our own CSV and the
// public data sets as their authors publish them.
//
// A format is one function from the text of one file to samples and one line in the table; what it
// assumes about the data stands at its declaration in wire/import_formats.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/sample.h"

namespace slackline::wire {

struct SampleFile {
  std::string path;  // tells the model or the GPU type where a format keeps them there
  std::string_view text;
};

// What the user says about a file that does not say it itself; empty: from the path, or as the
// format's authors measured.
struct SampleNames {
  std::string model;
  std::string gpu_type;
};

struct SampleImport {
  std::vector<ThroughputSample> samples;  // in the order of the file, at least one
  std::vector<std::string> left_out;      // "12 rows: did not run (0 steps/s)"
};

struct SampleFormat {
  std::string_view name;
  std::string_view about;  // one line for --help
  bool names_model;        // the file says it: SampleNames::model must be empty
  bool names_gpu_type;
  Result<SampleImport> (*read)(const SampleFile& file, const SampleNames& names);
};

// By name; "csv" is ours.
std::span<const SampleFormat> sample_formats();

// The error, beginning with the file's name: an unknown format (with those there are), a name given
// that the file has itself, and what the format cannot read, by line and field.
Result<SampleImport> import_samples(std::string_view format, const SampleFile& file,
                                    const SampleNames& names = {});

}  // namespace slackline::wire
