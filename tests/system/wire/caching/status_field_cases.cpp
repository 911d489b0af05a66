#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

namespace {

constexpr const char* kField = "Cache-Status";

const Expectation kInnerFirst = [](const Observation& seen) -> std::string {
  const std::string all = joined(seen.responses.at(0).fields, kField);
  const std::size_t ours = all.find("spillway; hit");
  const bool in_order = ours != std::string::npos && all.find("inner; hit") < ours;
  return in_order ? "" : "Cache-Status is " + all;
};

Case says_what_it_did(std::string sentence, std::vector<Answer> origin, std::vector<Step> client) {
  return Case(Level::ours, "9211 2", std::move(sentence), std::move(origin), std::move(client));
}

}  // namespace

std::vector<Case> status_field_cases() {
  const Answer minute = says({"Cache-Control: max-age=60", "ETag: \"a\""});
  return {
      says_what_it_did(
          "Cache-Status tells a miss that was stored", {minute},
          {get().from_origin(1).with_part(kField, "fwd=uri-miss").with_part(kField, "stored"),
           get().from_store(1)}),
      says_what_it_did("Cache-Status tells a hit and how long it is fresh", {minute},
                       {get().from_origin(1),
                        get().from_store(1).with_part(kField, "hit").with_part(kField, "ttl=")}),
      says_what_it_did("Cache-Status tells a stale answer that was validated",
                       {says({"Cache-Control: max-age=60", "Age: 3600", "ETag: \"a\""}),
                        says(304, {"ETag: \"a\""})},
                       {get().from_origin(1), get()
                                                  .answers(1)
                                                  .asked()
                                                  .with_part(kField, "fwd=stale")
                                                  .with_part(kField, "fwd-status=304")}),
      says_what_it_did("Cache-Status tells that a selecting field did not match",
                       {says({"Cache-Control: max-age=60", "Vary: X-A"}), says({"Vary: X-A"})},
                       {get().from_origin(1),
                        get({"X-A: 1"}).from_origin(2).with_part(kField, "fwd=vary-miss")}),
      says_what_it_did("Cache-Status tells that the request would not have the store", {minute},
                       {get().from_origin(1),
                        get({"Cache-Control: no-cache"}).asked().with_part(kField, "fwd=request")}),
      says_what_it_did("Cache-Status tells that a method is not answered from the store", {minute},
                       {post().from_origin(1).with_part(kField, "fwd=method")}),
      says_what_it_did("a Cache-Status of the origin is kept before ours",
                       {says({"Cache-Control: max-age=60", "Cache-Status: inner; hit"})},
                       {get().from_origin(1), get().from_store(1).satisfies(kInnerFirst)})};
}

}  // namespace spillway::wire::caching
