// The Dockerfile and the compose file, as far as they can be checked without an engine.
#include <yaml-cpp/yaml.h>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "files.hpp"

using namespace spillway::packaging;
namespace fs = std::filesystem;

namespace {

struct Instruction {
  std::string name;
  std::string argument;
};

// The Dockerfile's instructions with continued lines joined and comments left out.
std::vector<Instruction> instructions() {
  std::vector<Instruction> result;
  std::string pending;
  for (const std::string& line : lines(read("docker/Dockerfile"))) {
    if (line.empty() || line.front() == '#') continue;
    pending += line;
    if (pending.back() == '\\') {
      pending.back() = ' ';
      continue;
    }
    const auto space = pending.find(' ');
    result.push_back({pending.substr(0, space), pending.substr(space + 1)});
    pending.clear();
  }
  return result;
}

std::vector<std::string> arguments(const std::string& name) {
  std::vector<std::string> result;
  for (const Instruction& each : instructions()) {
    if (each.name == name) result.push_back(each.argument);
  }
  return result;
}

std::vector<std::string> words(const std::string& text) { return matches(text, "\\S+"); }

nlohmann::json image_config() {
  return nlohmann::json::parse(read("docker/spillway.json"), nullptr, true, true);
}

// "HOST:CONTAINER" port mappings of a service: the container's ports.
std::set<int> container_ports(const YAML::Node& service) {
  std::set<int> ports;
  for (const auto& port : service["ports"]) {
    const auto text = port.as<std::string>();
    ports.insert(std::stoi(text.substr(text.rfind(':') + 1)));
  }
  return ports;
}

}  // namespace

TEST_CASE("the image is built by the commands that run.sh executes") {
  // The build stage's RUN lines, one command each, are lines of run.sh in the same order.
  std::vector<std::string> steps;
  int stage = 0;
  for (const Instruction& each : instructions()) {
    if (each.name == "FROM") ++stage;
    if (each.name == "RUN" && stage == 1) steps.push_back(each.argument);
  }
  REQUIRE(steps.size() == 3);
  const auto script = lines(read("run.sh"));
  auto from = script.begin();
  for (const std::string& step : steps) {
    CAPTURE(step);
    from = std::find(from, script.end(), step);
    CHECK(from != script.end());
  }
}

TEST_CASE("both stages stand on Debian 12 and the last one is not root") {
  const auto bases = arguments("FROM");
  REQUIRE(bases.size() == 2);
  for (const std::string& base : bases) CHECK(words(base).front() == "debian:12");
  const auto users = arguments("USER");
  REQUIRE(!users.empty());
  CHECK(users.back() != "root");
  CHECK(!matches(read("docker/Dockerfile"), "useradd .*" + users.back()).empty());
}

TEST_CASE("everything that is copied exists or is built") {
  std::set<std::string> targets;
  for (const std::string file : {"src/CMakeLists.txt", "bench/demo/CMakeLists.txt"}) {
    for (const auto& target : matches(read(file), "add_executable\\(([A-Za-z-]+)")) {
      targets.insert(target);
    }
  }
  for (const std::string& copy : arguments("COPY")) {
    CAPTURE(copy);
    auto parts = words(copy);
    REQUIRE(parts.size() >= 2);
    const bool from_build = parts.front() == "--from=build";
    if (from_build) parts.erase(parts.begin());
    const fs::path source = parts.front();
    if (from_build) {
      CHECK(source.parent_path() == "/src/build/release");
      CHECK(targets.count(source.filename().string()) == 1);
    } else {
      CHECK(fs::exists(kSource / source));
    }
  }
}

TEST_CASE("the build context leaves build results out and keeps what the build needs") {
  const auto ignored = lines(read(".dockerignore"));
  const auto has = [&](const std::string& line) {
    return std::find(ignored.begin(), ignored.end(), line) != ignored.end();
  };
  CHECK(has("/build"));
  CHECK(has("/.git"));
  for (const std::string needed : {"/src", "/bench", "/docker", "/config", "/cmake", "/tests"}) {
    CHECK_FALSE(has(needed));
  }
}

TEST_CASE("the image exposes the ports of its configuration and starts the proxy with it") {
  const auto config = image_config();
  std::set<std::string> exposed;
  for (const std::string& ports : arguments("EXPOSE")) {
    for (const std::string& port : words(ports)) exposed.insert(port);
  }
  CHECK(exposed == std::set<std::string>{std::to_string(config["listen"]["port"].get<int>()),
                                         std::to_string(config["admin"]["port"].get<int>())});
  const auto entry = nlohmann::json::parse(arguments("ENTRYPOINT").at(0));
  CHECK(entry == nlohmann::json{"spillway", "run", "--config", "/etc/spillway/spillway.json"});
  REQUIRE(arguments("HEALTHCHECK").size() == 1);
  CHECK(arguments("HEALTHCHECK")[0].find("127.0.0.1/" +
                                         std::to_string(config["admin"]["port"].get<int>())) !=
        std::string::npos);
}

TEST_CASE("the image has a directory that its user may write for what must last") {
  const auto settings = arguments("ENV");
  REQUIRE(settings.size() == 1);
  REQUIRE(settings[0].starts_with("STATE_DIRECTORY="));
  const std::string directory = settings[0].substr(settings[0].find('=') + 1);
  const std::string user = arguments("USER").back();
  const auto volumes = arguments("VOLUME");
  CHECK(std::find(volumes.begin(), volumes.end(), directory) != volumes.end());
  CHECK(read("docker/Dockerfile")
            .find("install -d -o " + user + " -g " + user + " -m 700 " + directory + "\n") !=
        std::string::npos);
  CHECK(read("docker/README.md").find(":" + directory) != std::string::npos);
}

TEST_CASE("the compose file starts the proxy and the demo backend from the image") {
  const auto compose = YAML::Load(read("docker/compose.yaml"));
  const auto services = compose["services"];
  for (const std::string name : {"proxy", "backend"}) {
    const auto build = services[name]["build"];
    REQUIRE(build.IsMap());
    const fs::path context = kSource / "docker" / build["context"].as<std::string>();
    CHECK(fs::equivalent(context, kSource));
    CHECK(fs::exists(context / build["dockerfile"].as<std::string>()));
  }
  CHECK(services["proxy"]["image"].as<std::string>() ==
        services["backend"]["image"].as<std::string>());
  const auto config = image_config();
  CHECK(container_ports(services["proxy"]) ==
        std::set<int>{config["listen"]["port"].get<int>(), config["admin"]["port"].get<int>()});
}

TEST_CASE("the services of the compose file find one another") {
  const auto compose = YAML::Load(read("docker/compose.yaml"));
  const auto services = compose["services"];
  for (const auto& service : services) {
    CAPTURE(service.first.as<std::string>());
    for (const auto& other : service.second["depends_on"]) {
      CHECK(services[other.as<std::string>()].IsDefined());
    }
    for (const auto& volume : service.second["volumes"]) {
      const auto text = volume.as<std::string>();
      CHECK(fs::is_regular_file(kSource / "docker" / text.substr(0, text.find(':'))));
      CHECK(text.ends_with(":ro"));
    }
    for (const auto& port : service.second["ports"]) {
      CHECK(port.as<std::string>().starts_with("127.0.0.1:"));
    }
  }
  const auto listen = services["backend"]["entrypoint"][2].as<std::string>();
  const auto server = image_config()["upstreams"][0]["servers"][0].get<std::string>();
  CHECK(server == "backend:" + listen.substr(listen.rfind(':') + 1));
}

TEST_CASE("Prometheus scrapes the proxy with the token of its configuration") {
  const auto scrape = YAML::Load(read("docker/prometheus.yml"))["scrape_configs"][0];
  const auto admin = image_config()["admin"];
  CHECK(scrape["static_configs"][0]["targets"][0].as<std::string>() ==
        "proxy:" + std::to_string(admin["port"].get<int>()));
  CHECK(scrape["authorization"]["credentials"].as<std::string>() ==
        admin["token"].get<std::string>());
  const Finished checked = run("promtool check config docker/prometheus.yml");
  CHECK_MESSAGE(checked.status == 0, checked.output);
}

TEST_CASE("the proxy accepts the configuration of the compose file") {
  const Finished checked =
      run(shell_quoted(kPrograms / "spillway") + " check --config docker/spillway.json");
  CHECK_MESSAGE(checked.status == 0, checked.output);
}

namespace {

// What is installed with these packages.
std::set<std::string> with_dependencies(std::set<std::string> packages) {
  std::vector<std::string> open(packages.begin(), packages.end());
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    const Finished asked =
        run("dpkg-query --show --showformat='${Pre-Depends}, ${Depends}' " + shell_quoted(name));
    for (const std::string& needed : matches(asked.output, "(?:^|, |\\| )([a-z0-9][a-z0-9.+-]+)")) {
      if (packages.insert(needed).second) open.push_back(needed);
    }
  }
  return packages;
}

}  // namespace

TEST_CASE("the runtime packages bring every shared library that the programs need") {
  const auto listed = matches(read("docker/install-deps.sh"), "runtime=\\(([^)]*)\\)");
  REQUIRE(listed.size() == 1);
  std::set<std::string> packages;
  for (const std::string& name : words(listed[0])) packages.insert(name);
  // Part of the debian:12 image itself.
  for (const std::string name : {"libc6", "libstdc++6", "libgcc-s1", "zlib1g"})
    packages.insert(name);
  packages = with_dependencies(std::move(packages));

  for (const std::string program : {"spillway", "spillway-demo-backend"}) {
    const Finished ldd = run("ldd " + shell_quoted(kPrograms / program));
    REQUIRE_MESSAGE(ldd.status == 0, ldd.output);
    for (const std::string& library : matches(ldd.output, "=> (/\\S+)")) {
      const Finished owner = run("dpkg -S " + shell_quoted(fs::canonical(library)) +
                                 " || dpkg -S " + shell_quoted(library));
      const auto names = matches(owner.output, "(?:^|\n)([a-z0-9.+-]+)(?::[a-z0-9]+)?: ");
      REQUIRE_MESSAGE(!names.empty(), owner.output);
      CHECK_MESSAGE(packages.count(names.back()) == 1,
                    program << " needs " << library << " of package " << names.back());
    }
  }
}
