// The formats in which `slackline fit --from FORMAT` reads throughput samples: Slackline's own CSV
// and the public data sets as their authors publish them.
//
// A format is one function from the text of one file to samples and one line in the table; its
// declaration in wire/samples/import_formats.h says what it assumes about the data.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/sample.h"

namespace slackline::wire {

struct SampleFile {
  std::string path;  // names the model or the GPU type in some formats
  std::string_view text;
  std::string_view beside{};  // the text of a file that belongs to it, where the format has one
};

// The model and GPU type of the samples. If a file names models or GPU types itself, only the
// samples of these are taken; else they get these names, or, if these are empty, those of path or
// format.
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
  Result<SampleImport> (*read)(const SampleFile& file, const SampleNames& names);
};

// By name; "csv" is Slackline's.
std::span<const SampleFormat> sample_formats();

// The error, beginning with the file's name: what the format cannot read, by line and field, or no
// sample of these names (with the names of the file). An unknown format is an error, too.
Result<SampleImport> import_samples(std::string_view format, const SampleFile& file,
                                    const SampleNames& names = {});

}  // namespace slackline::wire
