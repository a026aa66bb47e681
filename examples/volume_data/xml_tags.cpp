#include "xml_tags.hpp"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "characters.hpp"
#include "skel/error.hpp"

namespace volume_data {

namespace {

constexpr std::uint64_t longest_tag = std::uint64_t{4} << 20;
constexpr std::size_t longest_name = 256;  // each tag has a copy of its parent's
constexpr std::size_t deepest = 64;

// Expat 2.9 deprecates the functions whose results are as long as a long and an int.
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
std::int64_t byte_index(XML_Parser p) { return XML_GetCurrentByteIndex64(p); }
std::uint64_t byte_count(XML_Parser p) { return XML_GetCurrentByteCount64(p); }
#else
std::int64_t byte_index(XML_Parser p) { return XML_GetCurrentByteIndex(p); }
std::uint64_t byte_count(XML_Parser p) { return static_cast<std::uint64_t>(XML_GetCurrentByteCount(p)); }
#endif

}  // namespace

struct xml_tags::handlers {
  /// Calls f; an exception ends parsing and is thrown again by parse().
  template <class F>
  static void safely(void* user, F const& f) {
    auto& self = *static_cast<xml_tags*>(user);
    if (self.error_) return;
    try {
      f(self);
    } catch (...) {
      self.error_ = std::current_exception();
      XML_StopParser(self.parser_.get(), XML_FALSE);
    }
  }

  static xml_tag& add(xml_tags& self, XML_Char const* name, bool opens) {
    auto& tag = self.tags_.emplace_back();
    tag.name = name;
    tag.opens = opens;
    tag.depth = self.open_.size();
    if (!self.open_.empty()) tag.parent = self.open_.back();
    tag.begin = self.place();
    tag.end = tag.begin + byte_count(self.parser_.get());
    tag.after_text = std::exchange(self.text_, false);
    return tag;
  }

  static void open(void* user, XML_Char const* name, XML_Char const** attributes) {
    safely(user, [&](xml_tags& self) {
      if (self.open_.size() == deepest)
        self.fail_at(self.place(), fmt::format("expected at most {} elements in each other", deepest));
      if (std::strlen(name) > longest_name)
        self.fail_at(self.place(),
                     fmt::format("expected the name of an element to have at most {} bytes", longest_name));
      auto& tag = add(self, name, true);
      for (; *attributes != nullptr; attributes += 2)
        tag.attributes.emplace_back(attributes[0], attributes[1]);
      self.open_.emplace_back(name);
      if (self.last_ != name) return;
      self.ended_ = true;
      XML_StopParser(self.parser_.get(), XML_FALSE);
    });
  }

  static void close(void* user, XML_Char const* name) {
    safely(user, [&](xml_tags& self) {
      if (self.ended_) return;  // <last/>: expat reports the end of an element after it has been stopped
      self.open_.pop_back();
      add(self, name, false);
    });
  }

  static void text(void* user, XML_Char const* text, int length) {
    auto& self = *static_cast<xml_tags*>(user);
    if (self.text_) return;
    auto const all = std::span(text, static_cast<std::size_t>(length));
    self.text_ = !std::ranges::all_of(all, [](char c) { return is_space(c); });
  }

  static void document_type(void* user, XML_Char const* /*name*/, XML_Char const* /*system*/,
                            XML_Char const* /*public_id*/, int /*internal*/) {
    safely(user, [](xml_tags& self) { self.fail_at(self.place(), "expected no document type"); });
  }
};

std::string_view xml_tag::attribute(std::string_view key, std::string_view otherwise) const {
  for (auto const& [own, value] : attributes)
    if (own == key) return value;
  return otherwise;
}

void xml_tags::free_parser::operator()(XML_ParserStruct* parser) const { XML_ParserFree(parser); }

xml_tags::xml_tags(std::string path, std::string last)
    : path_(std::move(path)),
      last_(std::move(last)),
      file_(file_bytes(path_)),
      parser_(XML_ParserCreate(nullptr)) {
  if (!parser_) throw std::bad_alloc();
  XML_SetUserData(parser_.get(), this);
  XML_SetElementHandler(parser_.get(), handlers::open, handlers::close);
  XML_SetCharacterDataHandler(parser_.get(), handlers::text);
  XML_SetStartDoctypeDeclHandler(parser_.get(), handlers::document_type);
}

std::uint64_t xml_tags::place() const {
  auto const at = byte_index(parser_.get());
  return at < 0 ? given_ : static_cast<std::uint64_t>(at);
}

void xml_tags::fail_at(std::uint64_t offset, std::string const& text) const {
  throw skel::usage_error(fmt::format("{}: at byte {}: {}", path_, offset, text));
}

void xml_tags::parse() {
  constexpr int part = byte_source::buffer_size;
  auto* const to = XML_GetBuffer(parser_.get(), part);
  if (to == nullptr) throw std::bad_alloc();
  auto const got = file_->read(std::span(static_cast<std::byte*>(to), part));
  given_ += got;
  bool const at_end = got < part;
  auto const status = XML_ParseBuffer(parser_.get(), static_cast<int>(got), at_end ? XML_TRUE : XML_FALSE);
  // Since 2.6 expat does not look again at a tag that has only grown a little: then it knows no place.
  if (byte_index(parser_.get()) >= 0) unfinished_at_ = place();
  if (error_) std::rethrow_exception(error_);
  if (ended_) return;
  if (status == XML_STATUS_ERROR)
    fail_at(place(),
            fmt::format("not well-formed XML: {}", XML_ErrorString(XML_GetErrorCode(parser_.get()))));
  if (given_ - std::min(given_, unfinished_at_) > longest_tag)
    fail_at(unfinished_at_, fmt::format("expected a tag of at most {} bytes", longest_tag));
  ended_ = at_end;
}

std::optional<xml_tag> xml_tags::next() {
  while (tags_.empty() && !ended_) parse();
  if (tags_.empty()) return std::nullopt;
  auto tag = std::move(tags_.front());
  tags_.pop_front();
  tag_at_ = tag.begin;
  return tag;
}

std::uint64_t xml_tags::behind(char c, std::uint64_t offset) const {
  std::array<std::byte, 4096> bytes{};
  auto const found = std::span(bytes).first(file_bytes(path_, offset)->read(bytes));
  auto const at = std::ranges::find_if_not(found, [](std::byte b) { return is_space(static_cast<int>(b)); });
  auto const skipped = static_cast<std::uint64_t>(at - found.begin());
  if (at == found.end() || static_cast<char>(*at) != c)
    fail_at(offset + skipped, fmt::format("expected {}", c));
  return offset + skipped + 1;
}

}  // namespace volume_data
