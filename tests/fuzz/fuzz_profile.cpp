// Profiles: what is read can be written and read again, unchanged.
#include "fuzz/fuzz.h"
#include "wire/samples/profile_codec.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto entries = wire::read_profile(text_of(data, size), "profile_k80.json");
  if (!entries) return 0;
  const std::string written = wire::write_profile(*entries);
  require_json(written, "a profile is JSON");
  return 0;
}
