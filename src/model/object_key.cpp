#include "slackline/model/object_key.h"

#include "slackline/base/text.h"

namespace slackline {

Result<ObjectKey> parse_object_key(std::string_view text) {
  const auto parts = split(text, '/');
  if (parts.size() != 2 || parts.front().empty() || parts.back().empty())
    return fail(ErrorCode::kInvalidArgument,
                format("\"{}\": expected NAMESPACE/NAME", printable(text, 64)));
  return ObjectKey{std::string(parts.front()), std::string(parts.back())};
}

}  // namespace slackline
