#include "cache/store/response_builder.hpp"

#include <algorithm>
#include <limits>
#include <new>

#include "base/text_writer.hpp"
#include "cache/rules/merge.hpp"
#include "http/hop_by_hop.hpp"

namespace spillway::cache {
namespace {

using http::FieldId;

bool lacks_date(const ResponseParts& parts) {
  return !parts.date.empty() && !parts.fields.contains(FieldId::date);
}

// Calls visit(field) for each that is stored.
template <class Visit>
void for_each_stored(const ResponseParts& parts, Visit visit) {
  const http::HopByHop hop(parts.fields);
  for (const http::Field& field : parts.fields) {
    if (is_stored(field, hop)) visit(field);
  }
  if (lacks_date(parts)) visit({.name = "Date", .value = parts.date, .id = FieldId::date});
}

constexpr std::size_t kAroundName = 4;  // ": " and CRLF

}  // namespace

std::size_t ResponseBuilder::head_bytes(const ResponseParts& parts) {
  std::size_t bytes = sizeof(StoredResponse) + parts.key.text.size() + parts.reason_phrase.size();
  for_each_stored(parts, [&](const http::Field& field) {
    bytes += field.name.size() + field.value.size() + kAroundName;
  });
  return bytes;
}

StoredResponse& ResponseBuilder::build(char* block, const ResponseParts& parts) {
  const std::size_t bytes = head_bytes(parts);
  auto& response = *new (block) StoredResponse(parts.key, bytes);
  response.requested_at_ = parts.requested_at;
  response.arrived_at_ = parts.arrived_at;
  response.validity_ = parts.validity;
  response.open_ = parts.open;
  response.status_ = static_cast<std::uint16_t>(parts.status);
  response.reason_size_ = static_cast<std::uint16_t>(parts.reason_phrase.size());

  TextWriter out({block + sizeof(StoredResponse), bytes - sizeof(StoredResponse)});
  out << parts.key.text << parts.reason_phrase;
  const std::size_t begin = out.size();
  for_each_stored(parts, [&](const http::Field& field) {
    out << field.name << ": ";
    const StoredResponse::Piece value{static_cast<std::uint32_t>(out.size() - begin),
                                      static_cast<std::uint32_t>(field.value.size())};
    if (field.id == FieldId::etag) response.etag_ = value;
    if (field.id == FieldId::last_modified) response.last_modified_ = value;
    if (field.id == FieldId::date) response.date_ = value;
    out << field.value << "\r\n";
  });
  response.lines_size_ = static_cast<std::uint32_t>(out.size() - begin);

  // What has a validator can be of use for ever: it may be confirmed.
  const bool can_be_confirmed = response.etag_.size > 0 || response.last_modified_.size > 0;
  const Validity& validity = response.validity_;
  if (!can_be_confirmed) {
    response.useless_after = parts.arrived_at - validity.age + validity.lifetime +
                             std::max(validity.stale_for, validity.stale_on_error);
  }
  return response;
}

void ResponseBuilder::set_content(StoredResponse& response, std::size_t content_bytes) {
  response.content_size_ = content_bytes;
  response.bytes_ += content_bytes;
}

void ResponseBuilder::share_content(StoredResponse& response, const StoredResponse& of) {
  const StoredResponse& source = of.source_ == nullptr ? of : *of.source_;
  response.source_ = &source;
  response.elsewhere_ = source.own_content();
  response.content_size_ = source.content_size_;
}

}  // namespace spillway::cache
