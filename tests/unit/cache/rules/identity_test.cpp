// Never a stored answer to a different user: random requests of random people, and a model that
// writes down in full for which client each answer was made.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cache/rules/storable.hpp"
#include "cache/rules/validity.hpp"
#include "unit/cache/rules/asking.hpp"

namespace spillway::cache {
namespace {

// A value of a field; nothing: it is absent.
using Value = std::optional<std::string>;
// By field name, tenant and URI: all that tells one request from another.
using Identity = std::map<std::string, Value>;

constexpr std::array kFields{"Authorization", "Cookie", "X-Api-Key", "Accept-Language"};

// What the backend wrote down with the answer that has this number as its content.
struct Written {
  Identity asker;
  std::vector<std::string> vary;
  bool open = false;  // it said that it may be given to anyone
};

class World {
 public:
  explicit World(const config::Cache& settings, unsigned seed)
      : settings_(settings), cache_(settings, kSipKey), random_(seed) {}

  void request() {
    now_ += milliseconds(pick(4) * 400);
    Identity asker;
    for (const char* field : kFields) asker[field] = value();
    // Two keys of one tenant are one; a key that is not known is none.
    const Value& api_key = asker["X-Api-Key"];
    const bool is_known = api_key && !api_key->empty();
    asker["tenant"] = is_known ? std::string(1, "ab"[*api_key == "1" || *api_key == "2"]) : Value{};

    Request request("/" + std::to_string(pick(3)));
    asker["path"] = request.path;
    for (const char* field : kFields) {
      if (asker[field]) request.fields.add(field, *asker[field]);
    }
    if (is_known) request.tenant = *asker["tenant"];

    CacheKey key;
    const Found found = cache_.find(request.asked(), key, now_);
    if (found.response) return given(std::stoul(std::string(found.response->content())), asker);
    answer(request, asker, key);
  }

  std::size_t given_out = 0;
  std::size_t to_another = 0;        // open answers to others than they were made for
  std::size_t to_wrong_people = 0;   // an answer that was not theirs
  std::size_t to_wrong_variant = 0;  // one that differs in what it said it varies by
  std::size_t to_wrong_tenant = 0;

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  Value value() {
    const std::size_t which = pick(6);
    return which < 3 ? Value{} : which == 3 ? "" : std::to_string(which - 3);
  }

  void given(std::size_t number, const Identity& asker) {
    const Written& written = written_[number];
    ++given_out;
    const auto differs = [&](const std::string& field) {
      return written.asker.at(field) != asker.at(field);
    };
    to_wrong_variant += differs("path");
    for (const std::string& field : written.vary) to_wrong_variant += differs(field);
    to_wrong_tenant += !settings_.across_tenants && differs("tenant");
    // Within a tenant its keys are the same person's.
    const bool is_same = !differs("Authorization") && !differs("Cookie") &&
                         (asker.at("tenant") && !settings_.across_tenants ? !differs("tenant")
                                                                          : !differs("X-Api-Key"));
    to_another += written.open && !is_same;
    to_wrong_people += !written.open && !is_same;
  }

  void answer(const Request& request, const Identity& asker, CacheKey& key) {
    Written written{.asker = asker};
    std::string control = "max-age=" + std::to_string(pick(5));
    if (pick(4) == 0) control += ", public";
    if (pick(6) == 0) control += ", s-maxage=3";
    if (pick(6) == 0) control += ", must-revalidate";
    written.open = control.find("public") != std::string::npos ||
                   control.find("s-maxage") != std::string::npos ||
                   (control.find("must") != std::string::npos && asker.at("Authorization"));
    Fields fields;
    fields.add("Cache-Control", control);
    for (const char* field : {"Cookie", "Accept-Language", "X-Api-Key"}) {
      if (pick(4) != 0) continue;
      fields.add("Vary", field);
      written.vary.push_back(field);
    }
    http::ResponseHead head;
    head.status = 200;
    head.fields = fields.list;
    http::RequestHead asked;
    asked.method = http::Verb::get;
    asked.method_name = "GET";
    asked.fields = request.fields.list;
    const TenantInKey tenant =
        settings_.across_tenants ? TenantInKey{} : request.asked().tenant_in_key;
    const Storable verdict = storable(asked, head, settings_, tenant);
    if (!verdict) return cache_.mark_unstorable(key, now_);
    const Validity validity = validity_of(head, settings_, {}, {});
    const std::string number = std::to_string(written_.size());
    written_.push_back(written);
    auto filling = cache_.begin(key, request.asked(), head, validity, verdict.open, now_, now_, {},
                                number.size());
    if (filling && filling->append(number)) filling->commit(now_);
  }

  config::Cache settings_;
  ResponseCache cache_;
  std::mt19937 random_;
  TimePoint now_ = kStart;
  std::vector<Written> written_;
};

constexpr int kRequests = 20000;

}  // namespace

TEST_CASE("no client is given an answer that was made for another") {
  for (const bool across_tenants : {false, true}) {
    for (unsigned seed = 0; seed < 5; ++seed) {
      CAPTURE(across_tenants);
      CAPTURE(seed);
      config::Cache settings{.max_bytes = 4 << 20, .max_entry_bytes = 1 << 19};
      settings.across_tenants = across_tenants;
      if (seed == 3) settings.vary = {"Cookie"};
      if (seed == 4) settings.vary = {"Authorization", "Accept-Language"};
      World world(settings, seed);
      for (int i = 0; i < kRequests; ++i) world.request();
      CHECK(world.to_wrong_people == 0);
      CHECK(world.to_wrong_variant == 0);
      CHECK(world.to_wrong_tenant == 0);
      // It is of use all the same.
      CHECK(world.given_out > kRequests / 10);
      CHECK(world.to_another > 0);
    }
  }
}

TEST_CASE("the model would see an answer that was made for another") {
  config::Cache settings{.max_bytes = 4 << 20, .max_entry_bytes = 1 << 19};
  settings.personal.clear();
  World world(settings, 1);
  for (int i = 0; i < kRequests; ++i) world.request();
  CHECK(world.to_wrong_people > 0);
}

}  // namespace spillway::cache
