#include "degrade/response_builder.hpp"

#include <algorithm>
#include <limits>
#include <new>

#include "base/text_writer.hpp"
#include "degrade/merge.hpp"
#include "http/hop_by_hop.hpp"

namespace spillway::degrade {
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

std::size_t ResponseBuilder::head_size(const ResponseParts& parts) {
  std::size_t size = sizeof(StoredResponse) + parts.key.size() + parts.reason_phrase.size();
  for_each_stored(parts, [&](const http::Field& field) {
    size += field.name.size() + field.value.size() + kAroundName;
  });
  return size;
}

StoredResponse* ResponseBuilder::build(char* block, const ResponseParts& parts) {
  auto* const response = new (block) StoredResponse;
  response->key_size_ = static_cast<std::uint32_t>(parts.key.size());
  response->hash_ = parts.hash;
  response->uri_hash_ = parts.uri_hash;
  response->requested_at_ = parts.requested_at;
  response->arrived_at_ = parts.arrived_at;
  response->validity_ = parts.validity;
  response->open_ = parts.open;
  response->status_ = static_cast<std::uint16_t>(parts.status);
  response->reason_size_ = static_cast<std::uint16_t>(parts.reason_phrase.size());

  const std::size_t room = head_size(parts) - sizeof(StoredResponse);
  TextWriter out({block + sizeof(StoredResponse), room});
  out << parts.key << parts.reason_phrase;
  const std::size_t begin = out.size();
  for_each_stored(parts, [&](const http::Field& field) {
    out << field.name << ": ";
    const StoredResponse::Piece value{static_cast<std::uint32_t>(out.size() - begin),
                                      static_cast<std::uint32_t>(field.value.size())};
    if (field.id == FieldId::etag) response->etag_ = value;
    if (field.id == FieldId::last_modified) response->last_modified_ = value;
    if (field.id == FieldId::date) response->date_ = value;
    out << field.value << "\r\n";
  });
  response->lines_size_ = static_cast<std::uint32_t>(out.size() - begin);
  return response;
}

char* ResponseBuilder::content(StoredResponse& response) {
  return const_cast<char*>(response.content_begin());
}

void ResponseBuilder::set_content_size(StoredResponse& response, std::size_t size) {
  response.content_size_ = size;
}

}  // namespace spillway::degrade
