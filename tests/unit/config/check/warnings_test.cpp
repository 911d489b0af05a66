#include "config/check/warnings.hpp"

#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

const std::string kRoom =
    R"("routes":[{"name":"sale","match":{"path":"/sale/**"},"waiting_room":{}}])";

std::string with_store(const std::string& url, const std::string& routes = kRoom) {
  return with(routes + R"(,"trusted_peers":["10.0.0.1"],"store":{"url":")" + url + "\"}");
}

TEST_CASE(
    "with any store a waiting room is nothing to be warned of: proxies on one database share it") {
  for (const char* const url : {"postgresql:///jobs", "sqlite:jobs.db", "memory:", ""}) {
    CAPTURE(url);
    CHECK(warnings(load_good(with_store(url))).empty());
  }
}

TEST_CASE("a time to come in that is shorter than the default is warned of, with its place") {
  const auto warned = [](const std::string& room) {
    return warnings(load_good(with(R"("trusted_peers":["10.0.0.1"],)"
                                   R"("routes":[{"name":"a","match":{"path":"/a"}},{"name":"sale",)"
                                   R"("match":{"path":"/sale/**"},"waiting_room":)" +
                                   room + "}]")));
  };
  CHECK(warned(R"({"claim_ms":120000})").empty());
  const Problems found = warned(R"({"claim_ms":119999})");
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "$.routes[1].waiting_room.claim_ms");
  CHECK(found[0].message.find("119999 ms") != std::string::npos);
  CHECK(found[0].message.find("WCAG 2.2.1") != std::string::npos);
}

TEST_CASE("a cookie for HTTPS alone where nothing in front can speak it is warned of") {
  const auto warned = [](const std::string& room, const std::string& more = "") {
    return warnings(
        load_good(with(R"("routes":[{"name":"sale","match":{"path":"/sale/**"},"waiting_room":)" +
                       room + "}]" + more)));
  };
  CHECK(warned(R"({"secure_cookie":false})").empty());
  CHECK(warned("{}", R"(,"trusted_peers":["10.0.0.1"])").empty());
  const Problems found = warned("{}");
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "$.routes[0].waiting_room.secure_cookie");
  CHECK(found[0].message.find("plain HTTP browsers drop the cookie") != std::string::npos);
}

TEST_CASE("a principal of nothing where no tenant is verified is warned of, with its place") {
  const auto warned = [](const std::string& principal, const std::string& more = "") {
    return warnings(load_good(
        with(R"("routes":[{"name":"a","match":{"path":"/a"},"defer":{"idempotency_principal":)" +
             principal + "}}]" + more)));
  };
  CHECK(warned(R"({"fields":["X-User"]})").empty());
  CHECK(warned(R"({"cookies":["session"]})").empty());
  CHECK(warned("{}", R"(,"tenants":{"api_keys":[{"name":"acme","key":"acme-key-1"}]})").empty());
  CHECK(warned("{}", R"(,"trusted_headers":{"tenant":"X-Tenant"})").empty());
  CHECK(warned("{}", R"(,"tenants":{"api_keys":[{"name":"acme","key":"acme-key-1"}],)"
                     R"("key":["client_address"]})")
            .size() == 1);
  const Problems found = warned("{}");
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "$.routes[0].defer.idempotency_principal");
  CHECK(found[0].message.find("no tenant is verified") != std::string::npos);
}

TEST_CASE("a directory for temporary files that cannot be written to is warned of") {
  const auto warned = [](const std::string& limits) {
    return warnings(load_good(with(R"("limits":)" + limits)));
  };
  CHECK(warned(R"({"temp_file_directory":"/tmp"})").empty());
  CHECK(warned(R"({"temp_file_directory":"/no/such","temp_file_bytes":0})").empty());
  const Problems found = warned(R"({"temp_file_directory":"/no/such"})");
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "$.limits.temp_file_directory");
  CHECK(found[0].message.starts_with("cannot write to /no/such: No such file or directory"));
}

TEST_CASE("more tunnels than half of the connections are warned of, unless by default") {
  const auto warned = [](const std::string& limits) {
    return warnings(load_good(with(R"("limits":)" + limits)));
  };
  CHECK(warned(R"({"connections":800,"tunnels":400})").empty());
  CHECK(warned(R"({"connections":500})").empty());
  const Problems found = warned(R"({"connections":500,"tunnels":400})");
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "$.limits.tunnels");
  CHECK(found[0].message.find("250 of these 400") != std::string::npos);
}

TEST_CASE("a wait for a slot that the deadline of the class ends is warned of, with both keys") {
  const auto warned = [](const std::string& members) { return warnings(load_good(with(members))); };
  const auto patient = [](const std::string& more) {
    return R"("classes":[{"name":"P0","max_wait_ms":3000)" + more + R"(},{"name":"P1"}])";
  };
  const std::string of_p0 = R"(,"default_route":{"class":"P0")";
  CHECK(warned("").empty());
  CHECK(warned(patient(R"(,"sla_ms":3000)") + of_p0 + "}").empty());
  CHECK(warned(patient("") + of_p0 + R"(,"deadline_ms":5000})").empty());
  CHECK(warned(patient("") + of_p0 + R"(},"dispatch":{"late":"process_with_tag"})").empty());
  // No request is of the class.
  CHECK(warned(patient("")).empty());
  for (const std::string& members :
       {of_p0 + "}", std::string(R"(,"trusted_headers":{"priority":"X-Priority"})"),
        std::string(R"(,"tenants":{"api_keys":[{"name":"a","key":"acme-key-1","class":"P0"}]})")}) {
    CAPTURE(members);
    const Problems found = warned(patient("") + members);
    REQUIRE(found.size() == 1);
    CHECK(found[0].path == "$.classes[0].max_wait_ms");
    CHECK(found[0].message.starts_with("3000 is more than sla_ms (1000): "));
  }
}

TEST_CASE("a rule that degrades where no route of its class has anything to give is warned of") {
  const auto warned = [](const std::string& rule, const std::string& more = "") {
    return warnings(load_good(
        with(R"("overload":{"rules":{"P1":{"strategy":"degrade")" + rule + "}}}" + more)));
  };
  CHECK(warned(R"(,"mode":"cache_only")").empty());  // it refuses
  CHECK(warned(R"(,"miss":"deny")").empty());
  CHECK(warned(R"(,"mode":"skip_downstream")").empty());  // the backend is told
  for (const char* const what :
       {R"("cache":{"max_bytes":1000000})", R"("fallback":{"json":{"body":"{}"}})"}) {
    const auto with_route = [&](const std::string& traffic_class) {
      return R"(,"routes":[{"name":"a","match":{"path":"/a"},"class":")" + traffic_class + "\"," +
             what + "}]";
    };
    CAPTURE(what);
    CHECK(warned("", with_route("P1")).empty());
    CHECK(warned("", with_route("P2")).size() == 1);
    CHECK(warned("", with_route("P2") + R"(,"trusted_headers":{"priority":"X-P"})").empty());
  }
  const Problems found = warned("");
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "$.overload.rules.P1");
  CHECK(found[0].message.starts_with("degrade sheds nothing: "));
}

TEST_CASE("such a rule of one upstream is warned of there") {
  const Problems found = warnings(load_good(
      R"({"upstreams":[{"name":"a","servers":["127.0.0.1:1"]},{"name":"b","servers":["127.0.0.1:2"],)"
      R"("overload":{"rules":{"P2":{"strategy":"degrade"}}}}]})"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "$.upstreams[1].overload.rules.P2");
}

}  // namespace
}  // namespace spillway::config
