#include "config/describe/reader.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "config/defaults.hpp"

namespace spillway::config {

using nlohmann::json;

std::string found(const json& node) {
  if (node.is_object()) return "an object";
  if (node.is_array()) return "an array";
  if (node.is_string()) return shown(node.get_ref<const std::string&>());
  return node.dump();
}

bool Reader::reject_kind(const std::string& path, const json& node, const std::string& allowed) {
  const bool is_text = node.is_string();
  problems_.push_back(
      {path, "found " + (is_text ? "a text" : found(node)) + ", allowed: " + allowed});
  return false;
}

bool Reader::reject(const std::string& path, const json& node, const std::string& allowed) {
  problems_.push_back({path, "found " + found(node) + ", allowed: " + allowed});
  return false;
}

std::optional<std::int64_t> Reader::integer_of(const json& node) {
  if (node.is_number_unsigned()) {
    const auto value = node.get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {};
    return static_cast<std::int64_t>(value);
  }
  if (node.is_number_integer()) return node.get<std::int64_t>();
  return std::nullopt;
}

bool Reader::read(const json& node, const std::string& path, Concurrency& value,
                  const NumberOrAuto& either) {
  const bool is_auto = node.is_string() && node == "auto";
  if (!is_auto && !node.is_object()) {
    if (!integer_of(node)) return reject(path, node, allowed<Concurrency>(either));
    value.search.reset();
    return read(node, path, value.most, either.number);
  }
  AutoConcurrency search;
  if (!is_auto) read(node, path, search, ByType{});
  value.search = search;
  value.most = search.max;
  return true;
}

bool Reader::read(const json& node, const std::string& path, std::string& value,
                  const Format& format) {
  const auto* text = node.get_ptr<const std::string*>();
  if (text != nullptr) value = *text;
  if (text != nullptr && format.accepts(*text)) return true;
  if (!format.secret) return reject(path, node, std::string(format.allowed));
  problems_.push_back({path, "not acceptable, allowed: " + std::string(format.allowed)});
  return false;
}

bool Reader::read(const json& node, const std::string& path, std::string& value, const OneOf& one) {
  const auto* text = node.get_ptr<const std::string*>();
  if (text == nullptr || std::find(one.words.begin(), one.words.end(), *text) == one.words.end()) {
    return reject(path, node, allowed<std::string>(one));
  }
  value = *text;
  return true;
}

TrafficClass Reader::fresh_class(const json& node, std::size_t at) const {
  const auto name = node.is_object() ? node.find("name") : node.end();
  const auto* text = name == node.end() ? nullptr : name->get_ptr<const std::string*>();
  return new_class(text == nullptr ? std::to_string(at) : *text, at, context_.classes.size());
}

std::optional<std::size_t> Reader::find_name(const json& node, const std::string& path,
                                             std::string_view kind,
                                             const std::vector<std::string>& names) {
  const auto* text = node.get_ptr<const std::string*>();
  if (text == nullptr) {
    reject(path, node, "the name of a configured " + std::string(kind));
    return std::nullopt;
  }
  const auto at = std::find(names.begin(), names.end(), *text);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  problems_.push_back({path, "found " + shown(*text) + ", there is no such " + std::string(kind) +
                                 suggestion(*text, names)});
  return std::nullopt;
}

void Reader::report_repeated(const json& list, const std::string& path) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto* text = list[i].get_ptr<const std::string*>();
    if (text != nullptr && !seen.insert(*text).second) {
      problems_.push_back({element(path, i), shown(*text) + " is in this list twice"});
    }
  }
}

template <class RuleOf>
bool Reader::read_rules(const json& node, const std::string& path, const RuleOf& rule_of) {
  if (!node.is_object()) return reject(path, node, "an object with class names as keys");
  for (const auto& [key, rule] : node.items()) {
    const std::string here = member(path, key);
    const auto at = find_name(json(key), here, "class", context_.classes);
    if (auto* const to = at ? rule_of(*at) : nullptr) read(rule, here, *to, ByType{});
  }
  return true;
}

bool Reader::read(const json& node, const std::string& path, std::vector<Rule>& rules, ByClass) {
  return read_rules(node, path,
                    [&](std::size_t at) { return at < rules.size() ? &rules[at] : nullptr; });
}

bool Reader::read(const json& node, const std::string& path, std::vector<RuleOverride>& rules,
                  ByClass) {
  return read_rules(node, path, [&](std::size_t at) {
    rules.emplace_back().traffic_class = static_cast<ClassId>(at);
    return &rules.back();
  });
}

template <class Member, class Allowed>
bool Reader::read_members(const json& node, const std::string& path, std::vector<Member>& members,
                          const Allowed& allowed_members, const std::string& plural) {
  if (node.size() > allowed_members.max) {
    problems_.push_back({path, "found " + std::to_string(node.size()) + " " + plural +
                                   ", allowed: up to " + std::to_string(allowed_members.max)});
    return false;
  }
  members.clear();
  for (const auto& [name, value] : node.items()) {
    const std::string here = member(path, name);
    Member& one = members.emplace_back();
    read(json(name), here, one.name, allowed_members.name);
    read(value, here, one.value, allowed_members.value);
  }
  return true;
}

bool Reader::read(const json& node, const std::string& path, std::vector<HeaderField>& fields,
                  const FieldValues& allowed_fields) {
  if (!node.is_object()) return reject(path, node, "an object with names of fields as keys");
  return read_members(node, path, fields, allowed_fields, "fields");
}

bool Reader::read(const json& node, const std::string& path, std::vector<WaitingSize>& sizes,
                  const NumbersByName& allowed_numbers) {
  if (!node.is_object()) return reject(path, node, "an object with names as keys");
  return read_members(node, path, sizes, allowed_numbers, "names");
}

const json* Reader::Members::find(Key key) {
  known.emplace_back(key.text);
  const auto at = object.find(known.back());
  return at == object.end() ? nullptr : &*at;
}

void Reader::Members::annotation(Key key, std::string_view) {
  const json* node = find(key);
  if (node != nullptr && !node->is_string()) reader.reject(member(path, key.text), *node, "a text");
}

void Reader::Members::report_unknown() const {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      reader.problems_.push_back({member(path, key), "unknown key" + suggestion(key, known)});
    }
  }
}

}  // namespace spillway::config
