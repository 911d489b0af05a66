#include "traffic/trusted_token/json_members.hpp"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

namespace spillway::traffic {

namespace {

constexpr std::size_t kDeepest = 16;

// Its function names are fixed by nlohmann::json::sax_parse(), which calls them.
class MemberReader {
 public:
  using Json = nlohmann::json;

  explicit MemberReader(std::span<JsonMember> wanted) : wanted_(wanted) {}

  bool null() { return take_other(); }
  bool boolean(bool) { return take_other(); }
  bool number_integer(Json::number_integer_t value) { return take(static_cast<double>(value)); }
  bool number_unsigned(Json::number_unsigned_t value) { return take(static_cast<double>(value)); }
  bool number_float(Json::number_float_t value, const std::string&) { return take(value); }
  bool binary(Json::binary_t&) { return false; }
  bool string(std::string& value) {
    if (depth_ == 0) return false;
    if (current_ == nullptr) return true;
    if (depth_ == 1)
      current_->kind = JsonMember::Kind::text;
    else if (current_->kind != JsonMember::Kind::texts)
      return true;
    current_->texts.push_back(std::move(value));
    return true;
  }

  bool start_object(std::size_t) {
    if (depth_ > 0) take_other();
    return ++depth_ <= kDeepest;
  }
  bool key(std::string& name) {
    if (depth_ > 1) return true;
    const auto found = std::ranges::find(wanted_, name, &JsonMember::name);
    current_ = found == wanted_.end() ? nullptr : &*found;
    return current_ == nullptr || current_->kind == JsonMember::Kind::absent;
  }
  bool end_object() { return end(); }
  bool start_array(std::size_t) {
    if (depth_ == 0) return false;
    if (current_ != nullptr && depth_ == 1)
      current_->kind = JsonMember::Kind::texts;
    else
      take_other();
    return ++depth_ <= kDeepest;
  }
  bool end_array() { return end(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) {
    return false;
  }

 private:
  bool take(double value) {
    take_other();
    if (current_ == nullptr || depth_ != 1) return depth_ > 0;
    current_->kind = JsonMember::Kind::number;
    current_->number = value;
    return true;
  }
  bool take_other() {
    if (current_ != nullptr) current_->kind = JsonMember::Kind::other;
    return depth_ > 0;
  }
  bool end() {
    --depth_;
    return true;
  }

  std::span<JsonMember> wanted_;
  JsonMember* current_ = nullptr;
  std::size_t depth_ = 0;
};

}  // namespace

bool read_members(std::string_view text, std::span<JsonMember> wanted) {
  MemberReader reader(wanted);
  return nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
}

}  // namespace spillway::traffic
