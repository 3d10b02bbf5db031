// The `admitted` annotation: {"submitter","class","queue","nonce","mac"}, compact. Pure.
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/admitted.h"

namespace slackline::wire {

std::string encode_admitted(const AdmittedNote& note);

// Decoding checks the form only; is_authentic() checks whether Slackline wrote it.
Result<AdmittedNote> read_admitted(std::string_view text);

}  // namespace slackline::wire
