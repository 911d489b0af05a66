// The same bytes whole, cut in two at every boundary, cut at two chosen ones and one by one: the
// same messages must be read, with the same heads, contents, ends and faults.
#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "fuzz/claim.hpp"
#include "fuzz/options.hpp"
#include "fuzz/stream.hpp"
#include "fuzz/targets.hpp"

namespace spillway::fuzz {
namespace {

// Every boundary of a longer text would be too slow to try many texts.
constexpr std::size_t kEveryBoundary = 512;

}  // namespace

void splits(std::string_view input) {
  Options options(input);
  const unsigned how = options.byte();
  std::array<std::size_t, 2> chosen{options.byte(), options.byte()};
  const std::string_view text = options.rest();

  StreamOptions stream;
  stream.of = bit(how, 0) ? http::BodyReader::MessageKind::response
                          : http::BodyReader::MessageKind::request;
  if (bit(how, 1)) stream.method = http::Verb::head;
  if (bit(how, 2)) stream.body_limit = 12;
  if (bit(how, 3)) stream.limits = {.head_bytes = 96, .line_bytes = 32};
  if (bit(how, 4)) stream.limits = {.head_bytes = 32, .line_bytes = 64};

  const std::vector<Message> whole = read_stream(text, {}, stream);
  const auto same = [&](std::span<const std::size_t> cuts) {
    const std::vector<Message> cut = read_stream(text, cuts, stream);
    if (cut != whole) broken("cut in pieces it reads the same: " + difference(whole, cut));
  };

  std::vector<std::size_t> each(text.size());
  std::iota(each.begin(), each.end(), std::size_t{0});
  same(each);
  // Boundaries anywhere in the text, however long it is.
  for (std::size_t& cut : chosen) cut = cut * (text.size() + 1) / 256;
  std::sort(chosen.begin(), chosen.end());
  same(chosen);
  if (text.size() > kEveryBoundary) return;
  for (std::size_t cut = 1; cut < text.size(); ++cut) same({&cut, 1});
}

}  // namespace spillway::fuzz
