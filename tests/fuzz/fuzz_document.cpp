// Documents: every value knows its line, and can be found again by key.
#include "fuzz/fuzz.h"
#include "wire/format/document.h"

using namespace slackline;
using namespace slackline::fuzz;

namespace {

void check(const wire::Document& node) {
  require(node.line >= 0, "lines count from one");
  for (const wire::Document& item : node.items)
    check(item);
  for (const auto& [key, value] : node.fields) {
    require(node.find(key) != nullptr, "a key is found");
    check(value);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto root = wire::read_document(text_of(data, size));
  if (root)
    check(*root);
  else
    require(root.error().line >= 1, "an error tells its line");
  return 0;
}
