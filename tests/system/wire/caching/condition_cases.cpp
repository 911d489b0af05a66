#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

namespace {

const std::string kModified = date(-86'400);

// Fresh in the store, with both validators unless `stored` says otherwise; then asked with these
// lines.
Case not_modified(std::string sentence, std::string section, Lines lines, Lines stored = {}) {
  if (stored.empty()) stored = {"ETag: \"a\"", "Last-Modified: " + kModified};
  stored.push_back("Cache-Control: max-age=60");
  return should(std::move(section), std::move(sentence), {says(std::move(stored))},
                {get().from_origin(1), get(std::move(lines)).status(304).body("").not_asked()});
}

Case full(std::string sentence, std::string section, Level level, Lines lines) {
  return Case(level, std::move(section), std::move(sentence),
              {says({"ETag: \"a\"", "Last-Modified: " + kModified, "Cache-Control: max-age=60"})},
              {get().from_origin(1), get(std::move(lines)).from_store(1)});
}

void add_conditions(std::vector<Case>& cases) {
  const std::string at = "If-Modified-Since: ";
  cases.insert(
      cases.end(),
      {not_modified("If-None-Match with the stored tag gets a 304 from the store", "9111 4.3.2",
                    {"If-None-Match: \"a\""}),
       not_modified("If-None-Match with the stored tag in a list gets a 304", "9111 4.3.2",
                    {"If-None-Match: \"x\", \"a\", \"y\""}),
       not_modified("If-None-Match in two lines is one list", "9111 4.3.2",
                    {"If-None-Match: \"x\"", "If-None-Match: \"a\""}),
       not_modified("a comma in a tag does not end it", "9110 8.8.3",
                    {"If-None-Match: \"x,y\", \"b,c\""}, {"ETag: \"b,c\""}),
       not_modified("If-None-Match: * gets a 304", "9111 4.3.2", {"If-None-Match: *"}),
       not_modified("a weak tag matches its strong one", "9110 13.1.2", {"If-None-Match: W/\"a\""}),
       not_modified("a strong tag matches its weak one", "9110 13.1.2", {"If-None-Match: \"a\""},
                    {"ETag: W/\"a\""}),
       not_modified("If-Modified-Since at Last-Modified gets a 304", "9111 4.3.2",
                    {at + kModified}),
       not_modified("If-Modified-Since after Last-Modified gets a 304", "9111 4.3.2",
                    {at + date(-60)}),
       not_modified("If-Modified-Since in RFC 850 form gets a 304", "9110 5.6.7",
                    {at + "Monday, 04-Jan-49 10:00:00 GMT"}),
       not_modified("without Last-Modified Date stands in for it", "9111 4.3.2", {at + date(0)},
                    {"ETag: \"a\"", "Date: " + date(-20)}),
       full("If-None-Match with another tag gets the stored answer", "9111 4.3.2", Level::may,
            {"If-None-Match: \"b\""}),
       full("a tag that another holds is not that tag", "9110 8.8.3", Level::must,
            {"If-None-Match: \"aa\", \"b,a\""}),
       full("If-Modified-Since before Last-Modified gets the stored answer", "9111 4.3.2",
            Level::may, {at + date(-86'401)}),
       full("If-Modified-Since counts for nothing beside If-None-Match", "9110 13.1.3", Level::must,
            {"If-None-Match: \"b\"", at + date(-60)}),
       full("If-Modified-Since that is no date counts for nothing", "9110 13.1.3", Level::must,
            {at + "yesterday"})});
  cases.push_back(must("9110 15.4.5", "a 304 from the store has the fields that a 200 would have",
                       {says({"Cache-Control: max-age=60", "ETag: \"a\"", "Vary: X-A",
                              "Content-Location: /there", "Expires: " + date(60)})},
                       {get().from_origin(1), get({"If-None-Match: \"a\""})
                                                  .status(304)
                                                  .not_asked()
                                                  .with("Cache-Control", "max-age=60")
                                                  .with("ETag", "\"a\"")
                                                  .with("Vary", "X-A")
                                                  .with("Content-Location", "/there")
                                                  .with("Expires", date(60))
                                                  .with("Date", date(0))}));
}

void add_conditions_on_the_way(std::vector<Case>& cases) {
  const Lines stored{"Cache-Control: max-age=1", "ETag: \"a\""};
  cases.insert(
      cases.end(),
      {must("9111 4.3.2", "a request with an old tag gets the response that a 304 confirms",
            {says(stored), validating(says({"Cache-Control: max-age=60", "ETag: \"a\""}))},
            {get().from_origin(1), get({"If-None-Match: \"x\""}).later().answers(1).asked()}),
       should("9111 4.3.2", "a request with the stored tag gets a 304 that the origin confirms",
              {says(stored), validating(says({"Cache-Control: max-age=60", "ETag: \"a\""}))},
              {get().from_origin(1), get({"If-None-Match: \"a\""}).later().status(304).asked()}),
       must("9111 4.3.3", "a 304 to a client's own condition is given to no other client",
            {validating(says({"Cache-Control: max-age=60", "ETag: \"a\""})),
             says({"Cache-Control: max-age=60", "ETag: \"a\""})},
            {get({"If-None-Match: \"a\""}).any_status().asked(), get().whole(),
             get().whole().not_asked()}),
       may("9110 13.1.2", "a first request with the current tag gets a 304",
           {validating(says({"Cache-Control: max-age=60", "ETag: \"a\""})),
            says({"Cache-Control: max-age=60", "ETag: \"a\""})},
           {get({"If-None-Match: \"a\""}).status(304).asked(), get().whole(),
            get({"If-None-Match: \"a\""}).status(304).not_asked()})
           .otherwise(
               "the first request fetches the whole response, and gets it, for all that follow"),
       must("9111 4.3.2", "If-Match is for the origin to judge",
            {says({"Cache-Control: max-age=60", "ETag: \"a\""}), says({"ETag: \"b\""})},
            {get().from_origin(1), get({"If-Match: \"b\""}).whole()}),
       must("9111 4.3.2", "If-Unmodified-Since is for the origin to judge",
            {says({"Cache-Control: max-age=60", "Last-Modified: " + kModified}), says({})},
            {get().from_origin(1), get({"If-Unmodified-Since: " + date(-90'000)}).whole()})});
}

void add_head(std::vector<Case>& cases) {
  cases.insert(
      cases.end(),
      {may("9110 9.3.2", "HEAD is answered from a stored GET",
           {says({"Cache-Control: max-age=60", "X-Mark: 1"})},
           {get().from_origin(1),
            head().not_asked().with("X-Mark", "1").with("Content-Length", "8")}),
       should("9111 4.3.2", "HEAD with the stored tag gets a 304",
              {says({"Cache-Control: max-age=60", "ETag: \"a\""})},
              {get().from_origin(1), head({"If-None-Match: \"a\""}).status(304).not_asked()}),
       should("9111 4.3.5", "HEAD that shows another tag makes the stored GET stale",
              {says({"Cache-Control: max-age=60", "ETag: \"a\""}),
               says({"Cache-Control: max-age=60", "ETag: \"b\""}),
               says({"Cache-Control: max-age=60", "ETag: \"b\""})},
              {get().from_origin(1), head({"Cache-Control: no-cache"}).asked(),
               get().from_origin(3)})});
}

void add_ranges(std::vector<Case>& cases) {
  const Response parts = with_ranges(says({"Cache-Control: max-age=60", "ETag: \"a\""}));
  cases.insert(
      cases.end(),
      {must("9110 14.2", "a range of a stored answer is that part or the whole", {parts, parts},
            {get().from_origin(1), get({"Range: bytes=0-2"}).any_status().satisfies(part_or_whole),
             get().from_store(1)}),
       may("9110 14.2", "a range is cut from a stored answer", {parts, parts},
           {get().from_origin(1), get({"Range: bytes=1-2"})
                                      .status(206)
                                      .body("ns")
                                      .with("Content-Range", "bytes 1-2/8")
                                      .not_asked()}),
       may("9110 14.1.2", "the end of a stored answer is cut from it", {parts, parts},
           {get().from_origin(1),
            get({"Range: bytes=-1"}).status(206).with("Content-Range", "bytes 7-7/8").not_asked()}),
       ours("several ranges are asked of the origin", {parts, parts},
            {get().from_origin(1), get({"Range: bytes=0-2,4-5"}).any_status().asked()}),
       ours("a range that a stored answer does not have is asked of the origin", {parts, parts},
            {get().from_origin(1), get({"Range: bytes=100-"}).any_status().asked()}),
       ours("a range of an answer that is not stored is asked of the origin", {parts, parts},
            {get({"Range: bytes=0-2"}).status(206).body("ans").asked_with("Range", "bytes=0-2")}),
       must("9110 13.1.5", "a range of an answer that is no more gets the whole", {parts, parts},
            {get().from_origin(1), get({"Range: bytes=0-2", "If-Range: \"x\""}).whole(),
             get().from_store(1)})});
}

}  // namespace

std::vector<Case> condition_cases() {
  std::vector<Case> cases;
  add_conditions(cases);
  add_conditions_on_the_way(cases);
  add_head(cases);
  add_ranges(cases);
  return cases;
}

}  // namespace spillway::wire::caching
