// Real curl through the proxy to a real NGINX.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "support/curl.hpp"
#include "support/nginx.hpp"
#include "support/proxy_under_test.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

constexpr std::size_t kLarge = 50'000'000;

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

// NGINX that keeps what is PUT below /store/ and says at /seen what it was asked.
struct Site {
  Site()
      : nginx(R"(
          location /store/ { dav_methods PUT; create_full_put_path on; }
          location = /seen { return 200 "$request_method $request_uri $server_protocol $http_host";}
          location = /via { return 200 "$http_x_forwarded_for $http_via"; }
        )"),
        proxy(nginx.address(), never_shed({{"limits", {{"body_bytes", 1'000'000'000}}}})) {
    std::ofstream(nginx.files() / "hello") << "hello from nginx\n";
  }

  std::string url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(proxy.port()) + std::string(path);
  }

  Nginx nginx;
  ProxyUnderTest proxy;
  TemporaryDirectory files;
};

TEST_CASE("curl gets a page of NGINX with its validators") {
  const Site site;
  const Finished got = curl({"-i", site.url("/hello")});
  CHECK(got.exit_code == 0);
  CHECK(got.out.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(got.out.find("\r\nETag: ") != std::string::npos);
  CHECK(got.out.find("\r\nContent-Length: 17\r\n") != std::string::npos);
  CHECK(got.out.ends_with("\r\n\r\nhello from nginx\n"));
  CHECK(curl({"-o", "/dev/null", "-w", "%{http_code}", site.url("/none")}).out == "404");
  CHECK(curl({"-r", "0-4", site.url("/hello")}).out == "hello");
}

TEST_CASE("curl's HEAD gets the head without waiting for a body") {
  const Site site;
  const Finished got = curl({"-I", site.url("/hello")});
  CHECK(got.exit_code == 0);
  CHECK(got.out.find("\r\nContent-Length: 17\r\n") != std::string::npos);
  CHECK(got.out.ends_with("\r\n\r\n"));
}

TEST_CASE("NGINX sees the request that curl made and its client address") {
  const Site site;
  CHECK(curl({"-H", "Host: shop.example", "--path-as-is", site.url("/seen?a=b&c=%2F")}).out ==
        "GET /seen?a=b&c=%2F HTTP/1.1 shop.example");
  CHECK(curl({site.url("/via")}).out == "127.0.0.1 1.1 spillway");
  CHECK(curl({"--http1.0", "-H", "Host: old.example", site.url("/seen")}).out ==
        "GET /seen HTTP/1.1 old.example");
}

TEST_CASE("curl posts with a length and in chunks and after 100-continue") {
  const Site site;
  const std::string url = site.url("/seen");
  const std::string body = "@" + site.files.write("body", pattern(2'000'000)).string();
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{},
        {"-H", "Transfer-Encoding: chunked"},
        {"-H", "Expect:"},
        {"-H", "Transfer-Encoding: chunked", "-H", "Expect: 100-continue"}}) {
    std::vector<std::string> arguments{"--data-binary", body, "-w", " %{http_code}", url};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished got = curl(arguments);
    CHECK(got.exit_code == 0);
    CHECK(got.out.starts_with("POST /seen HTTP/1.1"));
    CHECK(got.out.ends_with(" 200"));
  }
  CHECK(curl({"-d", "small=1", url}).out.starts_with("POST /seen"));
}

TEST_CASE("two pages come over one connection") {
  const Site site;
  const Finished got = curl({"-o", "/dev/null", "-o", "/dev/null", "-w", "%{num_connects}\n",
                             site.url("/hello"), site.url("/seen")});
  CHECK(got.out == "1\n0\n");
}

TEST_CASE("a large file goes up and comes down unchanged") {
  const Site site;
  const std::string bytes = pattern(kLarge);
  const std::string up = site.files.write("up", bytes);
  const std::string down = site.files.path() / "down";
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"-H", "Transfer-Encoding: chunked"}}) {
    std::vector<std::string> put{"-w", "%{http_code}", "-T", up, site.url("/store/large")};
    put.insert(put.end(), more.begin(), more.end());
    CHECK(curl(put).out.starts_with("20"));
    CHECK((content(site.nginx.files() / "store/large") == bytes));
    std::filesystem::remove(site.nginx.files() / "store/large");
  }
  std::filesystem::copy(up, site.nginx.files() / "large");
  CHECK(curl({"-o", down, site.url("/large")}).exit_code == 0);
  CHECK((content(down) == bytes));
  CHECK(curl({"--http1.0", "-o", down, site.url("/large")}).exit_code == 0);
  CHECK((content(down) == bytes));
}

TEST_CASE("many transfers at once keep their own bytes") {
  const Site site;
  for (int i = 0; i < 200; ++i) {
    std::ofstream(site.nginx.files() / std::to_string(i), std::ios::binary)
        << pattern(static_cast<std::size_t>(i) * 1000) << i;
  }
  const Finished got =
      curl({"--parallel", "--parallel-max", "30", "--parallel-immediate", "-w", "%{http_code}\n",
            "-o", (site.files.path() / "#1").string(), site.url("/[0-199]")});
  CHECK(got.exit_code == 0);
  for (int i = 0; i < 200; ++i) {
    const std::string name = std::to_string(i);
    CAPTURE(name);
    CHECK((content(site.files.path() / name) == content(site.nginx.files() / name)));
  }
}

TEST_CASE("several curls at once upload and download large files") {
  const Site site;
  const std::string bytes = pattern(5'000'000);
  const std::string up = site.files.write("up", bytes);
  std::vector<std::unique_ptr<ChildProcess>> curls;
  for (int i = 0; i < 6; ++i) {
    curls.push_back(std::make_unique<ChildProcess>(std::vector<std::string>{
        "curl", "-q", "-sS", "--noproxy", "*", "-T", up, site.url("/store/" + std::to_string(i))}));
  }
  for (const auto& child : curls) CHECK(child->wait() == 0);
  for (int i = 0; i < 6; ++i) {
    CHECK((curl({site.url("/store/" + std::to_string(i))}).out == bytes));
  }
}

TEST_CASE("HTTP/2 with prior knowledge is closed cleanly and at once") {
  const Site site;
  const Finished got = curl({"--http2-prior-knowledge", "--max-time", "5", site.url("/hello")});
  CHECK(got.exit_code != 0);
  CHECK(got.exit_code != 28);  // curl's own timeout
  CHECK(curl({site.url("/hello")}).out == "hello from nginx\n");
}

}  // namespace
}  // namespace spillway::support
