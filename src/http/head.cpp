#include "http/head.hpp"

#include <boost/beast/http/basic_parser.hpp>

#include "http/ascii.hpp"

namespace spillway::http {
namespace {

namespace beast = boost::beast;
using BeastError = beast::http::error;

// Collects views instead of strings. Beast checks the grammar; limits are the scanner's business.
template <class Head>
class ViewParser final : public beast::http::basic_parser<std::is_same_v<Head, RequestHead>> {
 public:
  ViewParser(std::string_view block, Head& out) : block_(block), out_(out) {
    this->header_limit(UINT32_MAX);
    this->body_limit(boost::none);
    out_.fields.clear();
  }

  Error run() {
    beast::error_code ec;
    const std::size_t used = this->put(boost::asio::const_buffer(block_.data(), block_.size()), ec);
    if (fault_ != Error::none) return fault_;
    if (ec) return translate(ec);
    if (!this->is_header_done()) return Error::truncated;
    return used == block_.size() ? Error::none : Error::bad_field;
  }

 private:
  static constexpr bool kRequest = std::is_same_v<Head, RequestHead>;

  void on_request_impl(beast::http::verb verb, beast::string_view method, beast::string_view target,
                       int version, beast::error_code&) override {
    if constexpr (kRequest) {
      out_.method = verb;
      out_.method_name = method;
      out_.target = target;
      out_.version = static_cast<unsigned>(version);
    }
  }
  void on_response_impl(int status, beast::string_view reason, int version,
                        beast::error_code&) override {
    if constexpr (!kRequest) {
      out_.status = static_cast<unsigned>(status);
      out_.reason_phrase = reason;
      out_.version = static_cast<unsigned>(version);
    }
  }
  void on_field_impl(beast::http::field id, beast::string_view name, beast::string_view value,
                     beast::error_code& ec) override {
    // A folded value was joined in a temporary of the parser: its view would dangle.
    const bool inside = value.empty() || (value.data() >= block_.data() &&
                                          value.data() < block_.data() + block_.size());
    if (!inside) return stop(Error::obs_fold, ec);
    if (!out_.fields.push({name, value, id})) stop(Error::too_many_fields, ec);
  }
  void on_header_impl(beast::error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
  std::size_t on_body_impl(beast::string_view body, beast::error_code&) override {
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body,
                                 beast::error_code&) override {
    return body.size();
  }
  void on_finish_impl(beast::error_code&) override {}

  void stop(Error error, beast::error_code& ec) {
    fault_ = error;
    ec = BeastError::bad_field;
  }

  Error translate(const beast::error_code& ec) const {
    if (ec == BeastError::need_more || ec == BeastError::partial_message) return Error::truncated;
    if (ec == BeastError::bad_content_length || ec == BeastError::multiple_content_length ||
        ec == BeastError::bad_transfer_encoding) {
      return Error::bad_framing;
    }
    if (ec == BeastError::bad_obs_fold) return Error::obs_fold;
    if (ec == BeastError::bad_line_ending) return Error::bad_character;
    if (ec == BeastError::bad_target) return Error::bad_target;
    if (ec == BeastError::bad_version) return bad_version();
    if (ec == BeastError::bad_method) return Error::bad_request_line;
    if (ec == BeastError::bad_status || ec == BeastError::bad_reason) return Error::bad_status_line;
    return Error::bad_field;
  }

  // A version that is well-formed is only unsupported: HTTP/2's preface, HTTP/0.9, HTTP/1.2.
  Error bad_version() const {
    std::string_view line = block_.substr(0, block_.find('\r'));
    std::string_view version = line.substr(0, line.find(' '));
    if (kRequest) {
      const std::size_t space = line.rfind(' ');
      version = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
    }
    const bool well_formed = version.size() == 8 && version.starts_with("HTTP/") &&
                             is_digit(version[5]) && version[6] == '.' && is_digit(version[7]);
    // Beast also says "bad version" when what follows a good one is wrong.
    if (well_formed && version != "HTTP/1.1" && version != "HTTP/1.0") {
      return Error::version_unsupported;
    }
    return kRequest ? Error::bad_request_line : Error::bad_status_line;
  }

  std::string_view block_;
  Head& out_;
  Error fault_ = Error::none;
};

template <class Head>
Error parse(std::string_view block, Head& out) {
  if (const Error error = ViewParser<Head>(block, out).run(); error != Error::none) return error;
  out.field_lines = {};
  if (out.fields.size() > 0) {
    const char* first = out.fields[0].name.data();
    const char* blank_line = block.data() + block.size() - 2;
    out.field_lines = {first, static_cast<std::size_t>(blank_line - first)};
  }
  return Error::none;
}

}  // namespace

Error parse_request(std::string_view head, RequestHead& out) { return parse(head, out); }

Error parse_response(std::string_view head, ResponseHead& out) { return parse(head, out); }

}  // namespace spillway::http
