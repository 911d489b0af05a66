#include "proxy/visitors/visitor_session_end.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

namespace spillway::proxy {
TEST_CASE("a response ends a visitor's session only if it began with it or the upstream says so") {
  using enum VisitorSessionEnd;
  constexpr VisitorSession kNone{}, kOpen{.is_open = true}, kNew{.is_open = true, .is_new = true};
  struct Case {
    VisitorSession session;
    unsigned status;
    const char* says;  // Spillway-Session; null: the response is not the upstream's
    VisitorSessionEnd expected;
  };
  const std::vector<Case> cases{
      // no waiting room, or a request that was let by without a session
      {kNone, 200, "", none},
      {kNone, 200, "end", none},
      {kNone, 200, "refused", none},
      {kNone, 503, "refused", none},
      {kNone, 503, nullptr, none},
      // a session that others of its requests have used
      {kOpen, 200, "", none},
      {kOpen, 200, "refused", none},
      {kOpen, 500, "", none},
      {kOpen, 504, nullptr, none},
      {kOpen, 200, "end", over},
      {kOpen, 500, "END", over},
      {kOpen, 200, "ended", none},
      // one that began with this request
      {kNew, 200, "", none},
      {kNew, 499, "", none},
      {kNew, 404, nullptr, none},
      {kNew, 200, "end", over},
      {kNew, 500, "", in_line},
      {kNew, 503, nullptr, in_line},
      {kNew, 200, "Refused", in_line},
      {kNew, 500, "end", in_line},  // its failure says more
  };
  for (const Case& one : cases) {
    CAPTURE(one.session.is_new);
    CAPTURE(one.status);
    const std::string_view says = one.says != nullptr ? one.says : "";
    CAPTURE(says);
    http::ResponseHead response;
    response.status = one.status;
    if (!says.empty()) response.fields.push({.name = "Spillway-Session", .value = says});
    CHECK(visitor_session_end(one.session, one.status, one.says != nullptr ? &response : nullptr) ==
          one.expected);
  }
}

}  // namespace spillway::proxy
