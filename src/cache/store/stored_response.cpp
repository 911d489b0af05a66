#include "cache/store/stored_response.hpp"

#include <boost/beast/http/field.hpp>

#include "cache/store/cache_shard.hpp"

namespace spillway::cache {

StoredResponse::StoredResponse(const StoredResponse& other)
    : Record(other),
      validity_(other.validity_),
      arrived_at_(other.arrived_at_),
      elsewhere_(other.elsewhere_),
      source_(other.source_),
      content_size_(other.content_size_),
      lines_size_(other.lines_size_),
      etag_(other.etag_),
      last_modified_(other.last_modified_),
      date_(other.date_),
      status_(other.status_),
      reason_size_(other.reason_size_),
      open_(other.open_) {
  if (source_ != nullptr) source_->hold();
}

void StoredPtr::release(const StoredResponse& response) {
  CacheShard& shard = *response.shard;
  FreedRuns freed;
  response.let_go(freed);
  if (!freed.empty()) shard.give_back(freed);
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
