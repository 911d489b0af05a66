#include "http/trailer.hpp"

#include "http/field_list.hpp"
#include "http/identity.hpp"

namespace spillway::http {
namespace {

bool shapes_the_message(FieldId id) {
  switch (id) {
    case FieldId::content_length:
    case FieldId::transfer_encoding:
    case FieldId::host:
    case FieldId::connection:
    case FieldId::keep_alive:
    case FieldId::proxy_connection:
    case FieldId::upgrade:
    case FieldId::te:
    case FieldId::trailer:
    case FieldId::content_encoding:
    case FieldId::content_type:
    case FieldId::content_range: return true;
    default: return false;
  }
}

bool steers_the_request(FieldId id) {
  switch (id) {
    case FieldId::authorization:
    case FieldId::proxy_authorization:
    case FieldId::cookie:
    case FieldId::expect:
    case FieldId::max_forwards:
    case FieldId::cache_control:
    case FieldId::pragma:
    case FieldId::range:
    case FieldId::if_match:
    case FieldId::if_none_match:
    case FieldId::if_modified_since:
    case FieldId::if_unmodified_since:
    case FieldId::if_range:
    case FieldId::origin:
    case FieldId::forwarded:
    case FieldId::via: return true;
    default: return false;
  }
}

}  // namespace

bool may_be_request_trailer(std::string_view name, const ProtectedFields& protected_fields) {
  const FieldId id = boost::beast::http::string_to_field(name);
  if (shapes_the_message(id) || steers_the_request(id)) return false;
  return !is_identity_field(name) && !protected_fields.contains(name) &&
         !protected_fields.is_alias(name);
}

bool may_be_response_trailer(std::string_view name) {
  return !shapes_the_message(boost::beast::http::string_to_field(name)) && !is_own_field(name);
}

}  // namespace spillway::http
