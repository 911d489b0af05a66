#include "cache/store/stored_response.hpp"

#include <algorithm>
#include <boost/beast/http/field.hpp>
#include <new>

#include "base/text_writer.hpp"
#include "cache/rules/merge.hpp"
#include "cache/store/cache_shard.hpp"
#include "http/message/hop_by_hop.hpp"

namespace spillway::cache {
namespace {

using http::FieldId;

constexpr std::size_t kAroundName = 4;  // ": " and CRLF

// Calls visit(field) for each field that is stored.
template <class Visit>
void for_each_stored(const ResponseParts& parts, Visit visit) {
  const http::HopByHop hop(parts.fields);
  for (const http::Field& field : parts.fields) {
    if (is_stored(field, hop)) visit(field);
  }
  if (!parts.date.empty() && !parts.fields.contains(FieldId::date)) {
    visit({.name = "Date", .value = parts.date, .id = FieldId::date});
  }
}

}  // namespace

std::size_t StoredResponse::head_bytes(const ResponseParts& parts) {
  std::size_t bytes = sizeof(StoredResponse) + parts.key.text.size() + parts.reason_phrase.size();
  for_each_stored(parts, [&](const http::Field& field) {
    bytes += field.name.size() + field.value.size() + kAroundName;
  });
  return bytes;
}

StoredResponse* StoredResponse::build(void* block, std::size_t bytes, CacheShard& shard,
                                      const ResponseParts& parts) {
  auto* const response = new (block)
      StoredResponse({.shard = &shard,
                      .bytes = bytes,
                      .hash = parts.key.hash,
                      .uri_hash = parts.key.uri_hash,
                      .validity = parts.validity,
                      .requested_at = parts.requested_at,
                      .arrived_at = parts.arrived_at,
                      .key_size = static_cast<std::uint32_t>(parts.key.text.size()),
                      .status = static_cast<std::uint16_t>(parts.status),
                      .reason_size = static_cast<std::uint16_t>(parts.reason_phrase.size()),
                      .open = parts.open});
  Head& head = response->head_;
  TextWriter out({reinterpret_cast<char*>(response + 1), bytes - sizeof(StoredResponse)});
  out << parts.key.text << parts.reason_phrase;
  const std::size_t begin = out.size();
  for_each_stored(parts, [&](const http::Field& field) {
    out << field.name << ": ";
    const Piece value{static_cast<std::uint32_t>(out.size() - begin),
                      static_cast<std::uint32_t>(field.value.size())};
    if (field.id == FieldId::etag) head.etag = value;
    if (field.id == FieldId::last_modified) head.last_modified = value;
    if (field.id == FieldId::date) head.date = value;
    out << field.value << "\r\n";
  });
  head.lines_size = static_cast<std::uint32_t>(out.size() - begin);

  const bool has_validator = head.etag.size > 0 || head.last_modified.size > 0;
  if (!has_validator && !response->is_vary_note()) {
    const Validity& validity = head.validity;
    head.useful_until = head.arrived_at - validity.age + validity.lifetime +
                        std::max(validity.stale_for, validity.stale_on_error);
  }
  return response;
}

void StoredResponse::destroy() const { head_.shard->discard(const_cast<StoredResponse&>(*this)); }

bool StoredResponse::is_wanted_back(TimePoint now) const {
  return head_.shard->is_pinned_full(now);
}

void StoredResponse::read_fields(http::FieldList& fields) const {
  fields.clear();
  std::string_view rest = lines();
  while (!rest.empty()) {
    const std::size_t end = rest.find("\r\n");
    const std::string_view line = rest.substr(0, end);
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    fields.push({.name = name,
                 .value = line.substr(colon + 2),
                 .id = boost::beast::http::string_to_field({name.data(), name.size()})});
    rest.remove_prefix(end + 2);
  }
}

}  // namespace spillway::cache
