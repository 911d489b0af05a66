// docs/openapi.yaml, and whether an answer is what it says.
#pragma once

#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace spillway::api {

class Description {
 public:
  // Throws YAML::Exception.
  explicit Description(const std::string& text);

  // "GET /jobs 200", and so on.
  const std::set<std::string>& statuses() const { return statuses_; }
  // What is wrong with an answer's media type and body; empty: nothing is.
  std::string judge(const std::string& status, const std::string& type,
                    const std::string& body) const;

  // What is wrong with a value; empty: nothing is. Throws std::runtime_error at a keyword that it
  // does not know.
  std::string judge(const YAML::Node& schema, const nlohmann::json& value) const;

 private:
  YAML::Node resolved(YAML::Node node) const;
  YAML::Node response(const std::string& status) const;
  std::string judge_members(const YAML::Node& schema, const nlohmann::json& value) const;
  void collect_members(const YAML::Node& schema, std::set<std::string>& names) const;

  YAML::Node document_;
  std::set<std::string> statuses_;
};

}  // namespace spillway::api
