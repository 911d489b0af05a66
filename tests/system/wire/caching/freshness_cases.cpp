#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

namespace {

Case fresh(std::string sentence, std::string section, Level level, Lines lines) {
  return Case(level, std::move(section), std::move(sentence), {says(std::move(lines))},
              {get().from_origin(1), get().from_store(1)});
}

Case stale(std::string sentence, std::string section, Level level, Lines lines) {
  return Case(level, std::move(section), std::move(sentence), {says(std::move(lines)), says({})},
              {get().from_origin(1), get().from_origin(2)});
}

std::string expires(int seconds) { return "Expires: " + date(seconds); }

void add_lifetimes(std::vector<Case>& cases) {
  cases.insert(
      cases.end(),
      {stale("s-maxage=0 overrules max-age", "9111 5.2.2.10", Level::must,
             {"Cache-Control: s-maxage=0, max-age=60"}),
       fresh("s-maxage overrules max-age=0", "9111 5.2.2.10", Level::may,
             {"Cache-Control: max-age=0, s-maxage=60"}),
       fresh("max-age overrules Expires in the past", "9111 5.3", Level::must,
             {"Cache-Control: max-age=60", expires(-60)}),
       stale("max-age=0 overrules Expires in the future", "9111 5.3", Level::must,
             {"Cache-Control: max-age=0", expires(60)}),
       fresh("s-maxage overrules Expires in the past", "9111 5.3", Level::must,
             {"Cache-Control: s-maxage=60", expires(-60)}),
       stale("s-maxage=0 overrules Expires in the future", "9111 5.3", Level::must,
             {"Cache-Control: s-maxage=0", expires(60)}),
       fresh("Expires in the future makes fresh", "9111 4.2.1", Level::may, {expires(60)}),
       stale("Expires in the past makes stale", "9111 4.2.1", Level::must, {expires(-60)}),
       stale("Expires at Date makes stale", "9111 4.2.1", Level::must,
             {"Date: " + date(-10), expires(-10)}),
       stale("Expires: 0 is in the past", "9111 5.3", Level::must, {"Expires: 0"}),
       stale("Expires that is no date is in the past", "9111 5.3", Level::must, {"Expires: soon"}),
       stale("Expires counts from Date of an origin whose clock is ahead", "9111 4.2.1",
             Level::must, {"Date: " + date(3600), expires(3600)}),
       fresh("Expires in RFC 850 form is read", "9110 5.6.7", Level::must,
             {"Expires: Monday, 04-Jan-49 10:00:00 GMT"}),
       fresh("Expires in asctime form is read", "9110 5.6.7", Level::must,
             {"Expires: Mon Jan  4 10:00:00 2049"}),
       fresh("a date is read regardless of case", "9111 4.2", Level::should,
             {"Expires: mon, 04 jan 2049 10:00:00 gmt"}),
       stale("a date in a zone other than GMT is invalid", "9111 4.2", Level::should,
             {"Expires: Mon, 04 Jan 2049 10:00:00 EST"}),
       stale("no-cache is not reused unasked", "9111 5.2.2.4", Level::must,
             {"Cache-Control: no-cache, max-age=60"}),
       stale("Cache-Control: no-cache overrules Expires in the future", "9111 5.2.2.4", Level::must,
             {"Cache-Control: no-cache", expires(60)})});
}

void add_oddities(std::vector<Case>& cases) {
  cases.insert(
      cases.end(),
      {stale("the first of two max-age counts if it is shorter", "9111 4.2.1", Level::should,
             {"Cache-Control: max-age=0, max-age=60"}),
       stale("the shorter of two max-age counts", "ours", Level::ours,
             {"Cache-Control: max-age=60, max-age=0"}),
       stale("the first of two Expires counts if it is past", "9111 4.2.1", Level::should,
             {expires(-60), expires(60)}),
       stale("a max-age that is no number makes stale", "9111 4.2.1", Level::should,
             {"Cache-Control: max-age=soon"}),
       stale("a negative max-age makes stale", "9111 4.2.1", Level::should,
             {"Cache-Control: max-age=-60"}),
       stale("a max-age without a value makes stale", "9111 4.2.1", Level::should,
             {"Cache-Control: max-age"}),
       fresh("a quoted max-age is read", "9111 5.2", Level::should,
             {"Cache-Control: max-age=\"60\""}),
       fresh("a max-age beyond all numbers is the largest", "9111 1.2.2", Level::must,
             {"Cache-Control: max-age=99999999999999999999"}),
       fresh("a max-age of 2^31 is read", "9111 1.2.2", Level::must,
             {"Cache-Control: max-age=2147483648"}),
       fresh("unknown directives change nothing", "9111 5.2.3", Level::must,
             {"Cache-Control: max-age=60, community=\"UCI\", other"}),
       fresh("words within a quoted value are not directives", "9111 5.2", Level::must,
             {"Cache-Control: other=\"no-store, max-age=0\", max-age=60"}),
       fresh("a directive whose name only begins like one is another", "9111 5.2.3", Level::must,
             {"Cache-Control: max-age=60, no-store-please, private-ish"}),
       fresh("empty list members are passed over", "9110 5.6.1", Level::must,
             {"Cache-Control: , max-age=60,,"}),
       fresh("Pragma in a response means nothing", "9111 5.4", Level::may,
             {"Cache-Control: max-age=60", "Pragma: no-cache"}),
       must("9111 5.2.2.4", "fields that no-cache names are not given to another unasked",
            {says({"Cache-Control: no-cache=\"X-User\", max-age=60", "X-User: 1"}),
             says({"X-User: 2"})},
            {get().from_origin(1), get().satisfies([](const Observation& seen) -> std::string {
               return seen.responses.at(0).field("X-User") == "1" ? "X-User is 1" : "";
             })}),
       may("9111 5.2.2.4", "what no-cache does not name may be reused",
           {says({"Cache-Control: no-cache=\"X-User\", max-age=60", "X-User: 1"}),
            says({"X-User: 2"})},
           {get().from_origin(1), get().from_store(1).without("X-User")})
           .otherwise(
               "a qualified no-cache counts as an unqualified one, as the section's note allows")});
}

void add_heuristics(std::vector<Case>& cases) {
  cases.insert(cases.end(),
               {fresh("an answer without a lifetime is given one", "9111 4.2.2", Level::may, {}),
                fresh("an answer with Last-Modified alone is given a lifetime", "9111 4.2.2",
                      Level::may, {"Last-Modified: " + date(-86'400)}),
                fresh("must-revalidate alone does not keep from a lifetime", "9111 4.2.2",
                      Level::may, {"Cache-Control: must-revalidate"}),
                may("9111 4.2.2", "a URI with a query is given a lifetime too", {says({})},
                    {get_at("/p?a=b").from_origin(1), get_at("/p?a=b").from_store(1)})});
  cases.push_back(may("9111 5.2.2.9", "public lets a 302 be given a lifetime",
                      {says(302, {"Cache-Control: public"})},
                      {get().status(302).from_origin(1), get().status(302).from_store(1)}));
}

// What the public suite asks of them (tests/system/cache_suite), whose package has no such cases.
void add_targeted_lifetimes(std::vector<Case>& cases, const std::string& targeted) {
  const std::string control = "Cache-Control: ";
  const auto outlives = [&](std::string sentence, Lines lines) {
    return fresh("CDN-Cache-Control: " + std::move(sentence), "9213 2.2", Level::must,
                 std::move(lines));
  };
  const auto ends = [&](std::string sentence, Lines lines) {
    return stale("CDN-Cache-Control: " + std::move(sentence), "9213 2.2", Level::must,
                 std::move(lines));
  };
  cases.insert(
      cases.end(),
      {outlives("a longer max-age than that of Cache-Control counts",
                {control + "max-age=0", targeted + "max-age=60"}),
       ends("a shorter max-age than that of Cache-Control counts",
            {control + "max-age=60", targeted + "max-age=0"}),
       ends("max-age=0 alone makes stale", {targeted + "max-age=0"}),
       outlives("max-age overrules Expires in the past", {targeted + "max-age=60", expires(-60)}),
       outlives("max-age overrules Cache-Control and an invalid Expires",
                {control + "max-age=0", targeted + "max-age=60", "Expires: 0"}),
       ends("Age counts towards its max-age",
            {control + "max-age=3600", targeted + "max-age=30", "Age: 60"}),
       outlives("an Age below its max-age leaves the rest",
                {control + "no-store", targeted + "max-age=3600", "Age: 60"}),
       outlives("what it does not know changes nothing",
                {control + "no-store", targeted + "max-age=60, other=?1, another"}),
       outlives("a max-age of 2^31 is read",
                {control + "no-store", targeted + "max-age=2147483648"}),
       outlives("a max-age beyond that is the largest",
                {control + "no-store", targeted + "max-age=99999999999"}),
       ends("no-cache is not reused unasked",
            {control + "max-age=60", targeted + "no-cache, max-age=60"}),
       ends("private keeps from being stored",
            {control + "max-age=60", targeted + "private, max-age=60"}),
       outlives("two lines are one list",
                {control + "no-store", targeted + "max-age=0", targeted + "max-age=60"}),
       fresh("a max-age of another type in CDN-Cache-Control leaves Cache-Control in place",
             "9213 2.1", Level::must, {control + "max-age=60", targeted + "max-age=\"0\""}),
       fresh("an empty CDN-Cache-Control leaves Cache-Control in place", "9213 2.2", Level::must,
             {control + "max-age=60", targeted})});
}

// The operator has named the field: it alone speaks to this cache.
void add_targeted(std::vector<Case>& cases) {
  const std::string targeted = "CDN-Cache-Control: ";
  cases.insert(
      cases.end(),
      {fresh("CDN-Cache-Control lets be stored what Cache-Control does not", "9213 2.2",
             Level::must, {"Cache-Control: no-store", targeted + "max-age=60"}),
       stale("CDN-Cache-Control keeps from being stored what Cache-Control lets", "9213 2.2",
             Level::must, {"Cache-Control: max-age=60", targeted + "no-store"}),
       stale("max-age=0 in CDN-Cache-Control overrules Expires in the future", "9213 2.2",
             Level::must, {targeted + "max-age=0", expires(60)}),
       fresh("CDN-Cache-Control that cannot be read leaves Cache-Control in place", "9213 2.1",
             Level::must, {"Cache-Control: max-age=60", targeted + "&"})});
  add_targeted_lifetimes(cases, targeted);
}

}  // namespace

std::vector<Case> freshness_cases() {
  std::vector<Case> cases;
  add_lifetimes(cases);
  add_oddities(cases);
  add_heuristics(cases);
  add_targeted(cases);
  return cases;
}

}  // namespace spillway::wire::caching
