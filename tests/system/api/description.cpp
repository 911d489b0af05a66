#include "system/api/description.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace spillway::api {

namespace {

using nlohmann::json;

const std::set<std::string> kMethods{"get", "post", "put", "delete"};
// Those that judge() heeds, and those that say nothing about a value.
const std::set<std::string> kKeywords{"type",
                                      "enum",
                                      "pattern",
                                      "required",
                                      "properties",
                                      "items",
                                      "allOf",
                                      "$ref",
                                      "additionalProperties",
                                      "unevaluatedProperties",
                                      "description",
                                      "default",
                                      "format",
                                      "minimum",
                                      "maximum",
                                      "minLength"};

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return type == "null" && value.is_null();
}

bool has_type(const json& value, const YAML::Node& types) {
  if (types.IsScalar()) return has_type(value, types.as<std::string>());
  return std::any_of(types.begin(), types.end(), [&](const YAML::Node& type) {
    return has_type(value, type.as<std::string>());
  });
}

bool is_one_of(const json& value, const YAML::Node& texts) {
  return value.is_string() && std::any_of(texts.begin(), texts.end(), [&](const YAML::Node& text) {
           return text.as<std::string>() == value.get<std::string>();
         });
}

bool is_false(const YAML::Node& node) { return node && node.IsScalar() && !node.as<bool>(); }

}  // namespace

Description::Description(const std::string& text) : document_(YAML::Load(text)) {
  for (const auto& path : document_["paths"]) {
    for (const auto& operation : path.second) {
      std::string method = operation.first.as<std::string>();
      if (!kMethods.contains(method)) continue;
      std::transform(method.begin(), method.end(), method.begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      for (const auto& response : operation.second["responses"]) {
        statuses_.insert(method + " " + path.first.as<std::string>() + " " +
                         response.first.as<std::string>());
      }
    }
  }
}

YAML::Node Description::resolved(YAML::Node node) const {
  while (node.IsMap() && node["$ref"]) {
    std::istringstream parts(node["$ref"].as<std::string>());
    YAML::Node at = YAML::Clone(document_);
    for (std::string part; std::getline(parts, part, '/');) {
      if (part == "#") continue;
      const YAML::Node next = at[part];
      if (!next) throw std::runtime_error("there is no " + parts.str());
      at.reset(next);
    }
    node.reset(at);
  }
  return node;
}

YAML::Node Description::response(const std::string& status) const {
  std::istringstream parts(status);
  std::string method, path, code;
  parts >> method >> path >> code;
  std::transform(method.begin(), method.end(), method.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return resolved(document_["paths"][path][method]["responses"][code]);
}

std::string Description::judge(const std::string& status, const std::string& type,
                               const std::string& body) const {
  const YAML::Node content = response(status)["content"];
  if (!content) return "";
  const YAML::Node described = content[type];
  if (!described) return "the media type " + type + " is not described";
  if (type.find("json") == std::string::npos) return "";
  const json value = json::parse(body, nullptr, false);
  return value.is_discarded() ? "no JSON" : judge(described["schema"], value);
}

std::string Description::judge(const YAML::Node& unresolved, const json& value) const {
  const YAML::Node schema = resolved(unresolved);
  for (const auto& keyword : schema) {
    if (!kKeywords.contains(keyword.first.as<std::string>()))
      throw std::runtime_error("unknown keyword " + keyword.first.as<std::string>());
  }
  const std::string shown = value.dump();
  if (schema["type"] && !has_type(value, schema["type"])) return shown + " is of another type";
  if (schema["enum"] && !is_one_of(value, schema["enum"])) return shown + " is none of the enum";
  if (schema["pattern"] &&
      !std::regex_match(value.get<std::string>(), std::regex(schema["pattern"].as<std::string>())))
    return shown + " does not match the pattern";
  if (value.is_array() && schema["items"]) {
    for (const json& item : value)
      if (std::string wrong = judge(schema["items"], item); !wrong.empty()) return wrong;
  }
  return value.is_object() ? judge_members(schema, value) : "";
}

std::string Description::judge_members(const YAML::Node& schema, const json& value) const {
  for (const auto& part : schema["allOf"])
    if (std::string wrong = judge(part, value); !wrong.empty()) return wrong;
  for (const auto& name : schema["required"])
    if (!value.contains(name.as<std::string>())) return name.as<std::string>() + " is missing";
  for (const auto& property : schema["properties"]) {
    const auto found = value.find(property.first.as<std::string>());
    if (found == value.end()) continue;
    if (std::string wrong = judge(property.second, *found); !wrong.empty())
      return property.first.as<std::string>() + ": " + wrong;
  }
  if (!is_false(schema["additionalProperties"]) && !is_false(schema["unevaluatedProperties"]))
    return "";
  std::set<std::string> names;
  collect_members(schema, names);
  for (const auto& [name, member] : value.items())
    if (!names.contains(name)) return name + " is not described";
  return "";
}

void Description::collect_members(const YAML::Node& unresolved,
                                  std::set<std::string>& names) const {
  const YAML::Node schema = resolved(unresolved);
  for (const auto& property : schema["properties"]) names.insert(property.first.as<std::string>());
  for (const auto& part : schema["allOf"]) collect_members(part, names);
}

}  // namespace spillway::api
