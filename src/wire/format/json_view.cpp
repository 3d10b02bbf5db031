#include "wire/format/json_view.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <type_traits>

#include <simdjson.h>

#include "slackline/base/text.h"

namespace slackline::wire {
namespace {

namespace dom = simdjson::dom;
using Ref = JsonView::Ref;

// simdjson's handles are a document pointer and a tape index; JsonView's are the same two words.
template <class Handle>
Handle as(Ref ref) {
  static_assert(sizeof(Handle) == sizeof(Ref) && std::is_trivially_copyable_v<Handle>);
  return std::bit_cast<Handle>(ref);
}

template <class Handle>
Ref to_ref(const Handle& handle) {
  static_assert(sizeof(Handle) == sizeof(Ref) && std::is_trivially_copyable_v<Handle>);
  return std::bit_cast<Ref>(handle);
}

JsonView view(const simdjson::simdjson_result<dom::element>& found) {
  dom::element element;
  return found.get(element) == simdjson::SUCCESS ? JsonView(to_ref(element)) : JsonView();
}

constexpr std::size_t kKeptCapacity = std::size_t{1} << 20;

std::string_view describe(simdjson::error_code code) {
  switch (code) {
    case simdjson::EMPTY:
      return "it is empty";
    case simdjson::DEPTH_ERROR:
      return "it is nested deeper than 1024 levels";
    case simdjson::UTF8_ERROR:
      return "it is not valid UTF-8";
    case simdjson::UNCLOSED_STRING:
      return "a string is not closed";
    case simdjson::STRING_ERROR:
      return "a string is malformed";
    case simdjson::UNESCAPED_CHARS:
      return "a string contains a control character";
    case simdjson::NUMBER_ERROR:
      return "a number is malformed or out of range";
    case simdjson::CAPACITY:
      return "it is too large";
    default:
      return "it is malformed or cut short";
  }
}

tl::unexpected<Error> no_memory(std::size_t bytes) {
  return fail(ErrorCode::kResourceExhausted,
              format("there is not enough memory to read {} bytes of JSON", bytes));
}

}  // namespace

bool JsonView::present() const {
  return ref_.document != nullptr && !as<dom::element>(ref_).is_null();
}

bool JsonView::is_object() const {
  return ref_.document != nullptr && as<dom::element>(ref_).is_object();
}

bool JsonView::is_array() const {
  return ref_.document != nullptr && as<dom::element>(ref_).is_array();
}

bool JsonView::is_string() const {
  return ref_.document != nullptr && as<dom::element>(ref_).is_string();
}

bool JsonView::is_number() const {
  return ref_.document != nullptr && as<dom::element>(ref_).is_number();
}

std::string_view JsonView::text() const {
  std::string_view value;
  if (ref_.document == nullptr || as<dom::element>(ref_).get_string().get(value)) return {};
  return value;
}

bool JsonView::is_true() const {
  bool value = false;
  return ref_.document != nullptr && !as<dom::element>(ref_).get_bool().get(value) && value;
}

std::optional<std::int64_t> JsonView::integer() const {
  std::int64_t value = 0;
  if (ref_.document == nullptr || as<dom::element>(ref_).get_int64().get(value)) return {};
  return value;
}

std::optional<double> JsonView::number() const {
  double value = 0;
  if (ref_.document == nullptr || as<dom::element>(ref_).get_double().get(value)) return {};
  return value;
}

JsonView JsonView::operator[](std::string_view key) const {
  if (!is_object()) return {};
  return view(as<dom::element>(ref_).at_key(key));
}

JsonView JsonView::find_any_case(std::string_view key) const {
  if (!is_object()) return {};
  return view(as<dom::element>(ref_).at_key_case_insensitive(key));
}

bool JsonView::read_texts(std::vector<std::string_view>& out) const {
  dom::array array;
  if (ref_.document == nullptr || as<dom::element>(ref_).get_array().get(array)) return false;
  out.reserve(out.size() + array.size());
  for (const dom::element item : array) {
    std::string_view text;
    if (item.get_string().get(text)) return false;
    out.push_back(text);
  }
  return true;
}

JsonItems JsonView::items() const {
  dom::array array;
  if (ref_.document == nullptr || as<dom::element>(ref_).get_array().get(array)) return {};
  return {to_ref(array.begin()), to_ref(array.end())};
}

JsonFields JsonView::fields() const {
  dom::object object;
  if (ref_.document == nullptr || as<dom::element>(ref_).get_object().get(object)) return {};
  return {to_ref(object.begin()), to_ref(object.end())};
}

std::size_t JsonItems::count() const {
  std::size_t n = 0;
  for (Iterator at = begin(); at != end(); ++at)
    ++n;
  return n;
}

JsonItems::Iterator& JsonItems::Iterator::operator++() {
  auto at = as<dom::array::iterator>(at_);
  at_ = to_ref(++at);
  return *this;
}

JsonField JsonFields::Iterator::operator*() const {
  const auto at = as<dom::object::iterator>(at_);
  return {at.key(), JsonView(to_ref(at.value()))};
}

JsonFields::Iterator& JsonFields::Iterator::operator++() {
  auto at = as<dom::object::iterator>(at_);
  at_ = to_ref(++at);
  return *this;
}

struct JsonDocument::Impl {
  dom::parser parser;
  std::unique_ptr<char[]> buffer;  // with simdjson's padding behind the text
  std::size_t capacity = 0;
  std::size_t size = 0;
};

JsonDocument::JsonDocument() : impl_(std::make_unique<Impl>()) {}
JsonDocument::~JsonDocument() = default;
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;

Result<JsonView> JsonDocument::parse(std::string_view json) {
  if (impl_->capacity > kKeptCapacity && json.size() <= kKeptCapacity)
    impl_ = std::make_unique<Impl>();
  Impl& impl = *impl_;
  if (impl.buffer == nullptr || impl.capacity < json.size()) {
    impl.capacity = std::max(json.size() + json.size() / 4, std::size_t{4096});
    impl.buffer.reset(new (std::nothrow) char[impl.capacity + simdjson::SIMDJSON_PADDING]);
    if (impl.buffer == nullptr) {
      impl.capacity = 0;
      return no_memory(json.size());
    }
  }
  if (!json.empty()) std::memcpy(impl.buffer.get(), json.data(), json.size());
  std::memset(impl.buffer.get() + json.size(), 0, simdjson::SIMDJSON_PADDING);
  impl.size = json.size();
  dom::element root;
  const simdjson::error_code code =
      impl.parser.parse(impl.buffer.get(), json.size(), false).get(root);
  if (code == simdjson::SUCCESS) return JsonView(to_ref(root));
  if (code == simdjson::MEMALLOC) return no_memory(json.size());
  std::string where;
  if (code != simdjson::EMPTY && code != simdjson::DEPTH_ERROR)
    if (const auto offset = json_error_offset(json)) where = format(" (byte {})", *offset);
  return fail(ErrorCode::kInvalidArgument, format("not JSON: {}{}", describe(code), where));
}

std::string_view JsonDocument::source() const {
  return {impl_->buffer.get(), impl_->buffer == nullptr ? 0 : impl_->size};
}

}  // namespace slackline::wire
