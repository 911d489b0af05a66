#include "http/message/trailer.hpp"

#include "http/field/ascii.hpp"
#include "http/field/field_list.hpp"
#include "http/field/identity.hpp"

namespace spillway::http {
namespace {

bool shapes_the_message(FieldId id) { return is_hop_by_hop(id) || is_protected(id); }

bool controls_the_response(FieldId id) {
  switch (id) {
    case FieldId::age:
    case FieldId::expires:
    case FieldId::location:
    case FieldId::retry_after: return true;
    default: return false;
  }
}

}  // namespace

bool may_be_request_trailer(std::string_view name, const ProtectedFields& protected_fields) {
  return !shapes_the_message(boost::beast::http::string_to_field(name)) &&
         !istarts_with(name, "Accept-") && !is_identity_field(name) &&
         !protected_fields.contains(name) && !protected_fields.is_alias(name);
}

bool may_be_response_trailer(std::string_view name) {
  const FieldId id = boost::beast::http::string_to_field(name);
  return !shapes_the_message(id) && !controls_the_response(id) && !is_own_field(name);
}

}  // namespace spillway::http
