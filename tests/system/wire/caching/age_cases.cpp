#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

namespace {

// More than the whole table takes.
constexpr long kRoom = 50;

Case reused_with_age(std::string sentence, std::string section, Level level, Lines lines,
                     long age) {
  return Case(level, std::move(section), std::move(sentence), {says(std::move(lines))},
              {get().from_origin(1), get().from_store(1).age(age, age + kRoom)});
}

Case arrives_stale(std::string sentence, std::string section, Lines lines) {
  return must(std::move(section), std::move(sentence), {says(std::move(lines)), says({})},
              {get().from_origin(1), get().from_origin(2)});
}

}  // namespace

std::vector<Case> age_cases() {
  return {
      reused_with_age("a stored answer says its Age", "9111 4", Level::must,
                      {"Cache-Control: max-age=3600"}, 0),
      reused_with_age("Age counts on from the Age that came", "9111 4.2.3", Level::must,
                      {"Cache-Control: max-age=3600", "Age: 100"}, 100),
      reused_with_age("Age counts from Date without an Age that came", "9111 4.2.3", Level::must,
                      {"Cache-Control: max-age=3600", "Date: " + date(-100)}, 100),
      reused_with_age("the greater of Age and Date's age counts", "9111 4.2.3", Level::must,
                      {"Cache-Control: max-age=3600", "Date: " + date(-100), "Age: 200"}, 200),
      reused_with_age("Date in the future is no negative age", "9111 4.2.3", Level::must,
                      {"Cache-Control: max-age=3600", "Date: " + date(3600)}, 0),
      reused_with_age("an Age that is no number is passed over", "9111 5.1", Level::should,
                      {"Cache-Control: max-age=3600", "Age: old"}, 0),
      reused_with_age("a negative Age is passed over", "9111 5.1", Level::should,
                      {"Cache-Control: max-age=3600", "Age: -7200"}, 0),
      reused_with_age("the first of several Age lines counts", "9111 5.1", Level::should,
                      {"Cache-Control: max-age=3600", "Age: 100", "Age: 7200"}, 100),
      reused_with_age("the first member of an Age list counts", "9111 5.1", Level::should,
                      {"Cache-Control: max-age=3600", "Age: 100, 7200"}, 100),
      arrives_stale("an Age past max-age arrives stale", "9111 4.2.3",
                    {"Cache-Control: max-age=60", "Age: 3600"}),
      arrives_stale("an Age equal to max-age arrives stale", "9111 4.2",
                    {"Cache-Control: max-age=60", "Age: 60"}),
      arrives_stale("an Age past s-maxage arrives stale", "9111 4.2.3",
                    {"Cache-Control: s-maxage=60, max-age=7200", "Age: 3600"}),
      arrives_stale("an Age beyond all numbers arrives stale", "9111 1.2.2",
                    {"Cache-Control: max-age=60", "Age: 99999999999999999999"}),
      arrives_stale("an Age past Expires arrives stale", "9111 4.2.3",
                    {"Expires: " + date(60), "Age: 3600"}),
      arrives_stale("a Date longer ago than max-age arrives stale", "9111 4.2.3",
                    {"Cache-Control: max-age=60", "Date: " + date(-3600)}),
      must("9111 4.2.3", "Age grows while the answer lies", {says({"Cache-Control: max-age=3600"})},
           {get().from_origin(1), get().later().from_store(1).age(2, 2 + kRoom)}),
      must("9111 4.2.3", "Age begins anew with a validation",
           {says({"Cache-Control: max-age=60", "Age: 3600", "ETag: \"a\""}),
            says(304, {"Cache-Control: max-age=60", "ETag: \"a\""})},
           {get().from_origin(1), get().answers(1).asked_with("If-None-Match", "\"a\""),
            get().from_store(1).age(0, kRoom)})};
}

}  // namespace spillway::wire::caching
