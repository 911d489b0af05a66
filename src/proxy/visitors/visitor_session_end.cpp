#include "proxy/visitors/visitor_session_end.hpp"

#include <string_view>

#include "http/field/ascii.hpp"

namespace spillway::proxy {

namespace {

bool says(const http::ResponseHead& response, std::string_view word) {
  const http::Field* const field = response.fields.find("Spillway-Session");
  return field != nullptr && http::iequals(field->value, word);
}

}  // namespace

VisitorSessionEnd visitor_session_end(VisitorSession session, unsigned status,
                                      const http::ResponseHead* response) {
  if (session.is_new && (status >= 500 || (response != nullptr && says(*response, "refused"))))
    return VisitorSessionEnd::in_line;
  if (session.is_open && response != nullptr && says(*response, "end"))
    return VisitorSessionEnd::over;
  return VisitorSessionEnd::none;
}

}  // namespace spillway::proxy
