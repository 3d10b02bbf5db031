// Files that a command writes, and parts of files that it reads. (config::read_text_file reads
// whole ones.)
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "wire/kube/manifest.h"

namespace slackline::cli {

// The whole text, or an error that names the file. What is not a regular file is written to as it
// is, and /dev/stdout goes on where standard output is.
Status write_text_file(const std::string& path, std::string_view text);

struct PartOfFile {
  std::string path;
  std::string part;  // what follows the last ':'; "" without one
  std::string text;  // of the whole file
};

// "PATH" or "PATH:PART": with the ':' if there is such a file.
Result<PartOfFile> read_part_of_file(const std::string& argument);

// "-": standard input. At most 2 GiB.
Result<std::string> read_dump_file(const std::string& path);

// A manifest, from a file, a FIFO, or standard input where `path` is "-". What is left out of it,
// and keys that nobody reads where they are, are told on stderr.
Result<wire::Manifest> read_manifest_file(const std::string& path);

// An error where nothing can be said of it, by what its manifest says.
Status can_be_asked(const wire::ManifestObject& object);

// Prints "slackline: MESSAGE" to stderr, with the name that the program was called by; the exit
// code.
int report_failure(const Error& error);

// As report_failure(). kInvalidArgument means that the command was called wrongly.
int report_refusal(const Error& error);

// As report_failure(). kNotFound means that the data from which to answer is missing; what
// cannot be read is no lack of data.
int report_unanswered(const Error& error);

// As report_refusal() and report_unanswered(): of a command that says what a file holds by another
// code than kInvalidArgument.
int report_refused_or_unanswered(const Error& error);

}  // namespace slackline::cli
