#include "cache/rules/personal.hpp"

#include <doctest/doctest.h>

#include "unit/cache/rules/messages.hpp"

using namespace spillway;
using namespace spillway::cache;

namespace {

const config::Cache kSettings{};

bool personal(const Lines& request, const TenantInKey& tenant = {}, std::string_view vary = {},
              const config::Cache& settings = kSettings) {
  return is_personal(fields_of(request), settings, tenant, vary);
}

}  // namespace

TEST_CASE("credentials and cookies make a request personal") {
  CHECK_FALSE(personal({}));
  CHECK_FALSE(personal({{"Accept", "text/html"}, {"X-Tenant", "acme"}}));
  CHECK(personal({{"Authorization", "Bearer x"}}));
  CHECK(personal({{"cookie", "a=1"}}));
  CHECK(personal({{"COOKIE", ""}}));
  CHECK(personal({{"x-api-key", "k"}}));
  CHECK(personal({{"Accept", "*/*"}, {"X-Api-Key", "k"}}));
}

TEST_CASE("the configuration says which fields are personal but for Authorization") {
  const config::Cache none{.personal = {}};
  CHECK_FALSE(personal({{"Cookie", "a=1"}, {"X-Api-Key", "k"}}, {}, {}, none));
  CHECK(personal({{"Authorization", "x"}}, {}, {}, none));
  const config::Cache other{.personal = {"X-Session"}};
  CHECK(personal({{"x-session", "1"}}, {}, {}, other));
  CHECK_FALSE(personal({{"Cookie", "a=1"}}, {}, {}, other));
}

TEST_CASE("a key that told the tenant is in the cache's key unless tenants share answers") {
  const Lines key{{"X-Api-Key", "k"}};
  CHECK_FALSE(personal(key, {.by_api_key = true}));
  CHECK(personal({{"X-Api-Key", "k"}, {"Cookie", "a"}}, {.by_api_key = true}));
  CHECK(personal({{"X-Api-Key", "k"}, {"Authorization", "a"}}, {.by_api_key = true}));
  const config::Cache shared{.across_tenants = true};
  CHECK(personal(key, {.by_api_key = true}, {}, shared));

  const config::Cache by_name{.personal = {"X-Tenant", "X-Api-Key"}};
  const Lines name{{"X-Tenant", "acme"}};
  CHECK(personal(name, {}, {}, by_name));
  CHECK_FALSE(personal(name, {.by_field = "x-tenant"}, {}, by_name));
  CHECK(personal(key, {.by_field = "x-tenant"}, {}, by_name));
  CHECK(personal(name, {.by_api_key = true}, {}, by_name));
}

TEST_CASE("fields whose values are in the key are not personal but Authorization is") {
  const Lines cookie{{"Cookie", "a=1"}};
  CHECK_FALSE(personal(cookie, {}, "Cookie"));
  CHECK_FALSE(personal(cookie, {}, "Accept, cookie ,X-One"));
  CHECK(personal(cookie, {}, "Accept, X-Cookie"));
  CHECK(personal(cookie, {}, "*"));
  CHECK(personal({{"Cookie", "a=1"}, {"X-Api-Key", "k"}}, {}, "Cookie"));
  CHECK(personal({{"Authorization", "x"}}, {}, "Authorization"));
  const config::Cache keyed{.vary = {"cookie", "Authorization"}};
  CHECK_FALSE(personal(cookie, {}, {}, keyed));
  CHECK(personal({{"Authorization", "x"}}, {}, {}, keyed));
}
