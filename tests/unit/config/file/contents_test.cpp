#include "config/file/contents.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "config/check/warnings.hpp"
#include "config/describe/effective.hpp"
#include "config/format.hpp"
#include "config/page_template.hpp"
#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

// A directory of this test's own, gone with it.
class ScratchDirectory {
 public:
  ScratchDirectory()
      : path_(std::filesystem::temp_directory_path() /
              ("spillway-contents-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_ / "pages");
  }
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string with_file(const std::string& kind, const std::string& file) {
  return with(R"("default_route":{"fallback":{")" + kind + R"(":{"file":")" + file + "\"}}}");
}

void check_bad_file(const ScratchDirectory& scratch, const std::string& kind,
                    const std::string& file, std::string_view fragment) {
  const auto result = load_text(with_file(kind, file), "test.json", scratch.path());
  CAPTURE(listing(result.problems));
  CHECK_FALSE(result.config.has_value());
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].path == "$.default_route.fallback." + kind + ".file");
  CHECK(result.problems[0].message.find(fragment) != std::string::npos);
  CHECK(result.problems[0].message.find((scratch.path() / file).string()) != std::string::npos);
}

std::string with_page(const std::string& file) {
  return with(R"("routes":[{"name":"sale","match":{"path":"/sale/**"},"waiting_room":{"page":")" +
              file + "\"}}]");
}

const std::string kPage = "<head>{{head}}</head><body>{{content}}</body>";

}  // namespace

TEST_CASE("a prepared answer's file is found beside the configuration file and read once") {
  const ScratchDirectory scratch;
  scratch.write("pages/busy.html", "<h1>Busy</h1>\n");
  const auto file = scratch.write("spillway.json", with_file("html", "pages/busy.html"));
  const LoadResult result = load_file(file);
  REQUIRE_MESSAGE(result.config.has_value(), listing(result.problems));
  const Content& html = *result.config->default_route().fallback->html;
  CHECK(html.text == "<h1>Busy</h1>\n");
  CHECK(html.file == "pages/busy.html");

  const auto absolute = load_text(with_file("html", (scratch.path() / "pages/busy.html").string()),
                                  "f", "/nonexistent");
  REQUIRE(absolute.config.has_value());
  CHECK(absolute.config->default_route().fallback->html->text == html.text);
}

TEST_CASE("a configuration without a place looks for files in the current directory") {
  const auto result = load_text(with_file("html", "no-such-file.html"), "f");
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].message.find(
            (std::filesystem::current_path() / "no-such-file.html").string()) == 0);
}

TEST_CASE("a file that is missing or useless is an error that names where it was looked for") {
  const ScratchDirectory scratch;
  check_bad_file(scratch, "html", "missing.html", "No such file");
  check_bad_file(scratch, "html", "pages", "directory");
  scratch.write("empty.html", "");
  check_bad_file(scratch, "html", "empty.html", "it is empty");
  scratch.write("bad.json", "{\"busy\": }");
  check_bad_file(scratch, "json", "bad.json", "it is not JSON");
  scratch.write("long.html", std::string(kMaxContentBytes + 1, 'x'));
  check_bad_file(scratch, "html", "long.html", "too long, allowed: up to 1048576 bytes");
  scratch.write("just.html", std::string(kMaxContentBytes, 'x'));
  CHECK(load_text(with_file("html", "just.html"), "f", scratch.path()).config.has_value());
  // Opening it for reading would wait for a writer.
  REQUIRE(mkfifo((scratch.path() / "pipe").c_str(), 0600) == 0);
  check_bad_file(scratch, "html", "pipe", "not a regular file");
}

TEST_CASE("the page of a waiting room is found beside the configuration file and read once") {
  const ScratchDirectory scratch;
  scratch.write("pages/wait.html", kPage);
  const auto result = load_text(with_page("pages/wait.html"), "f", scratch.path());
  REQUIRE_MESSAGE(result.config.has_value(), listing(result.problems));
  const WaitingPage& page = result.config->routes[0].waiting_room->page;
  CHECK(page.file == "pages/wait.html");
  REQUIRE(page.own.has_value());
  CHECK(page.own->pieces.size() == 5);
  const auto dump = effective(*result.config)["routes"][0]["waiting_room"];
  CHECK(dump["page"] == "pages/wait.html");
  CHECK(dump.dump().find("content}}") == std::string::npos);
  CHECK_FALSE(load_good(with_page("")).routes[0].waiting_room->page.own.has_value());
}

TEST_CASE("a page that is missing, too long or no template is an error that says where") {
  const ScratchDirectory scratch;
  const auto check = [&](const std::string& file, std::string_view fragment) {
    const auto result = load_text(with_page(file), "f", scratch.path());
    CAPTURE(listing(result.problems));
    CHECK_FALSE(result.config.has_value());
    REQUIRE(result.problems.size() == 1);
    CHECK(result.problems[0].path == "$.routes[0].waiting_room.page");
    CHECK(result.problems[0].message.find((scratch.path() / file).string()) == 0);
    CHECK(result.problems[0].message.find(fragment) != std::string::npos);
  };
  check("missing.html", "No such file");
  check("pages", "directory");
  scratch.write("empty.html", "");
  check("empty.html", "it is empty");
  const std::string filled(kMaxPageBytes - kPage.size(), ' ');
  scratch.write("long.html", kPage + filled + " ");
  check("long.html", "too long, allowed: up to 65536 bytes");
  scratch.write("just.html", kPage + filled);
  CHECK(load_text(with_page("just.html"), "f", scratch.path()).config.has_value());
  scratch.write("bytes.html", kPage + "\xFF");
  check("bytes.html", "line 1: it is not UTF-8");
  scratch.write("unknown.html", kPage + "\n{{poistion}}");
  check("unknown.html", "line 2: there is no placeholder \"poistion\": did you mean \"position\"?");
  scratch.write("none.html", "<head>{{head}}</head>");
  check("none.html", "{{content}} is missing");
}

TEST_CASE("a page that does not fit into the first round trip is warned of") {
  const ScratchDirectory scratch;
  const auto warned = [&](const std::string& more) {
    scratch.write("wait.html", kPage + more);
    auto result = load_text(with_page("wait.html"), "f", scratch.path());
    REQUIRE(result.config.has_value());
    result.config->trusted_peers = {"10.0.0.1"};
    return warnings(*result.config);
  };
  CHECK(warned("").empty());
  CHECK(warned(std::string(60'000, 'x')).empty());  // it is compressed
  std::string noise;
  for (unsigned n = 0; noise.size() < 30'000; ++n) noise += std::to_string(n * 2'654'435'761U);
  const Problems found = warned(noise);
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "$.routes[0].waiting_room.page");
  CHECK(found[0].message.find("first round trip") != std::string::npos);
  CHECK(warned(noise.substr(0, 6'000)).empty());
}

TEST_CASE("a dump names the file and never shows what it holds") {
  const ScratchDirectory scratch;
  scratch.write("busy.html", "for the eyes of clients");
  const auto result = load_text(with_file("html", "busy.html"), "f", scratch.path());
  REQUIRE(result.config.has_value());
  const auto dump = effective(*result.config);
  CHECK(dump["default_route"]["fallback"]["html"].dump() == R"({"file":"busy.html"})");
  CHECK(dump.dump().find("eyes") == std::string::npos);
}

}  // namespace spillway::config
