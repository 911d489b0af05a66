#include "traffic/tenant.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace spillway::traffic;
using spillway::config::TenantKey;
namespace http = spillway::http;

namespace {

Tenant tenant(const std::string& text, bool trusted, const std::vector<TenantKey>& keys) {
  static http::RequestHead head;
  REQUIRE(http::parse_request(text, head) == http::Error::none);
  return tenant_of(head, keys, "192.0.2.7", trusted);
}

std::string request(const std::string& fields) { return "GET / HTTP/1.1\r\n" + fields + "\r\n"; }

const std::vector<TenantKey> kDefault = spillway::config::Tenants{}.key;

}  // namespace

TEST_CASE("the first configured key that a request has names its tenant") {
  const std::string both = request("X-Tenant: t\r\nx-api-key: k\r\n");
  CHECK(tenant(both, true, kDefault) == Tenant{TenantKey::api_key, "k"});
  const std::vector<TenantKey> header_first = {TenantKey::trusted_header, TenantKey::api_key};
  CHECK(tenant(both, true, header_first) == Tenant{TenantKey::trusted_header, "t"});
  CHECK(tenant(request(""), true, kDefault) == Tenant{TenantKey::client_address, "192.0.2.7"});
  CHECK(tenant(request(""), true, header_first) == Tenant{});
}

TEST_CASE("only a trusted peer may name a tenant by header") {
  const std::string text = request("X-Tenant: t\r\n");
  CHECK(tenant(text, true, kDefault) == Tenant{TenantKey::trusted_header, "t"});
  CHECK(tenant(text, false, kDefault) == Tenant{TenantKey::client_address, "192.0.2.7"});
}

TEST_CASE("a key that is empty or repeated or too long counts as absent") {
  const std::string fits(256, 'k');
  CHECK(tenant(request("X-Api-Key: " + fits + "\r\n"), false, kDefault).source ==
        TenantKey::api_key);
  for (const std::string& fields :
       {std::string("X-Api-Key:\r\n"), std::string("X-Api-Key: a\r\nX-Api-Key: b\r\n"),
        "X-Api-Key: " + fits + "k\r\n"}) {
    CHECK(tenant(request(fields), false, kDefault).source == TenantKey::client_address);
  }
}
