// Under which name the program was called: `slackline`, or as a plug-in of kubectl.
#pragma once

#include <string>
#include <string_view>

namespace slackline::client {

enum class CalledAs {
  kSlackline,
  kPlugin,      // kubectl-slackline: `kubectl slackline`
  kCompletion,  // kubectl_complete-slackline: kubectl asks for the choices of a word
};

// By the last part of argv[0], which a link may have named.
CalledAs called_as(std::string_view argv0);

// What people type to get here.
std::string_view program_name(CalledAs as);

// Examples and hints in which each command `slackline ...` is written as people have to type it: at
// the beginning of a line, after a backquote or in a shell's <( ).
std::string in_the_words_of(CalledAs as, std::string_view text);

}  // namespace slackline::client
