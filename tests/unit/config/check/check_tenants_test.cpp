#include "config/check/checks.hpp"

#include <string>
#include <vector>

#include "config/named_tenants.hpp"
#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

// Of "12345678".
const std::string kDigest = "ef797c8118f02dfb649607dd5d3f8c7623048c9c063d532cc95c5ed7a898a64f";

std::string with_keys(const std::string& keys) {
  return with(R"("tenants":{"api_keys":[)" + keys + "]}");
}

std::string hashed(const std::string& digest, const std::string& name = "a") {
  return R"({"name":")" + name + R"(","sha256":")" + digest + R"("})";
}

// `found`: the end of the problem's path, below the list.
void check_keys(const std::string& keys, const std::string& found, const std::string& fragment) {
  check_problem(with_keys(keys), ("$.tenants.api_keys" + found).c_str(), fragment.c_str());
}

}  // namespace

TEST_CASE("a key needs an owner and a value, each in one way") {
  const std::string missing = "missing: this key is required";
  check_keys(R"({"key":"12345678"})", "[0].name", missing);
  check_keys(R"({"name":"a","tenant":"a","key":"12345678"})", "[0].tenant", "exclude one another");
  check_keys(R"({"name":"a"})", "[0].sha256", missing + ", or key");
  check_keys(R"({"name":"a","key":"12345678","sha256":")" + kDigest + R"("})", "[0].key",
             "exclude one another");
}

TEST_CASE("a digest is 64 hexadecimal digits, in upper or lower case") {
  const std::string allowed = "64 hexadecimal digits";
  check_keys(hashed("12345678"), "[0].sha256", allowed);
  check_keys(hashed(kDigest + "0"), "[0].sha256", allowed);
  check_keys(hashed(kDigest.substr(1) + "g"), "[0].sha256", allowed);
  load_good(with_keys(hashed(std::string(64, 'A')) + "," + hashed(std::string(64, 'b'))));
}

TEST_CASE("the same key is not given twice, hashed or not") {
  const std::string plain = R"({"name":"b","key":"12345678"})";
  const std::string same = "the same key as $.tenants.api_keys[0]";
  check_keys(hashed(kDigest) + "," + hashed(kDigest, "b"), "[1].sha256", same);
  check_keys(hashed(kDigest) + "," + plain, "[1].key", same);
  check_keys(plain + "," + hashed(kDigest), "[1].sha256", same);
  check_keys(plain + R"(,{"tenant":"a","key":"12345678"})", "[1].key", same);
}

TEST_CASE("keys in the wrong place or form are told without showing them") {
  check_keys(R"("s3cret-s3cret")", "[0]", "found a text, allowed: an object");
  check_keys(R"({"tenant":"a","key":"short"})", "[0].key", "not acceptable");
  check_problem(with(R"("tenants":{"api_keys":"s3cret-s3cret"})"), "$.tenants.api_keys",
                "found a text, allowed: an array");
}

TEST_CASE("a tier has a known class, a weight that is not extreme and a rate") {
  const auto tier = [](const std::string& members) {
    return R"({"name":"a","key":"12345678",)" + members + "}";
  };
  check_keys(tier(R"("class":"P7")"), "[0].class", "there is no such class");
  check_keys(tier(R"("weight":0)"), "[0].weight", "0.01 to 100");
  check_keys(tier(R"("budget":{"burst":5})"), "[0].budget.rate", "missing");
}

TEST_CASE("the keys of a tenant agree about its tier") {
  const auto key = [](int number, const std::string& members) {
    return R"({"name":"a","key":"12345678)" + std::to_string(number) + "\"," + members + "}";
  };
  const std::string differs = "not the same as in $.tenants.api_keys[0]";
  check_keys(key(1, R"("weight":2)") + "," + key(2, R"("weight":3)"), "[1].weight", differs);
  check_keys(key(1, R"("class":"P0")") + "," + key(2, R"("class":"P1")"), "[1].class", differs);
  check_keys(key(1, R"("budget":{"rate":2})") + "," + key(2, R"("budget":{"rate":2,"burst":2})"),
             "[1].budget", differs);
  const Config config =
      load_good(with_keys(key(1, R"("weight":2)") + "," + key(2, R"("class":"P0")") + "," +
                          key(3, R"("weight":2)") + R"(,{"tenant":"b","key":"abcdefgh"})" +
                          R"(,{"tenant":"a","key":"ABCDEFGH","budget":{"rate":5,"burst":10}})"));
  const std::vector<NamedTenant> tenants = named_tenants(config.tenants.api_keys);
  REQUIRE(tenants.size() == 2);
  CHECK(tenants[0].name == "a");
  CHECK(tenants[0].tier.number == 0);
  CHECK(tenants[0].tier.weight == 2);
  CHECK(tenants[0].tier.traffic_class == ClassId{0});
  REQUIRE(tenants[0].tier.budget);
  CHECK(tenants[0].tier.budget->burst == 10);
  CHECK(tenants[1].name == "b");
  CHECK(tenants[1].tier.number == 1);
  CHECK(tenants[1].tier.weight == 1);
  CHECK_FALSE(tenants[1].tier.traffic_class);
  CHECK_FALSE(tenants[1].tier.budget);
}

}  // namespace spillway::config
