#include "cache/rules/overridden.hpp"

#include <doctest/doctest.h>

#include "cache/rules/storable.hpp"
#include "unit/cache/rules/messages.hpp"

using namespace spillway;
using namespace spillway::cache;

TEST_CASE("a request that asks for another method or URI by a field has no part in the cache") {
  const http::ResponseHead response = response_of(200, {{"Cache-Control", "public, max-age=60"}});
  for (const char* field :
       {"X-HTTP-Method-Override", "x-http-method", "X-METHOD-OVERRIDE", "X_HTTP_Method_Override",
        "X.HTTP+Method~Override", "x-http.method", "X-Original-URL", "X-Rewrite-Url"}) {
    CAPTURE(field);
    const http::RequestHead request = request_of("GET", {{"Accept", "a/b"}, {field, "x"}});
    CHECK(is_overridden(request.fields, {}));
    CHECK_FALSE(request_may_use_cache(request, {}));
    CHECK(storable(request, response, {}, {}).why_not == Unstorable::overridden);
    const config::Cache keyed{.vary = {"Accept", field}};
    CHECK_FALSE(is_overridden(request.fields, keyed));
    CHECK(request_may_use_cache(request, keyed));
    CHECK(storable(request, response, keyed, {}));
  }
  for (const char* field : {"X-HTTP-Method-Overrides", "X.Method", "X-Method", "XHTTP-Method",
                            "X-URL", "Accept", "Y"}) {
    CAPTURE(field);
    CHECK_FALSE(is_overridden(request_of("GET", {{field, "x"}}).fields, {}));
  }
}
