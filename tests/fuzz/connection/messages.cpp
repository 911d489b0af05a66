#include "fuzz/connection/messages.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace spillway::fuzz {
namespace {

using std::string_view;

constexpr char kMarkHere = '\1';  // in a template; written over by the mark

constexpr std::array<string_view, 8> kMethodNames{"GET",    "POST",    "HEAD",  "PUT",
                                                  "DELETE", "OPTIONS", "PATCH", "BREW"};
constexpr std::array<string_view, 18> kRequestFormNames{
    "plain",       "close",    "http10",     "http10_keep", "expect",     "absolute",
    "hidden_mark", "html",     "http12",     "deadline",    "empty_line", "upgrade",
    "te",          "last_hop", "authorized", "conditional", "kind",       "tunnel"};
constexpr std::array<string_view, 3> kTargetNames{"own", "shared_a", "shared_b"};
constexpr std::array<string_view, 13> kRequestBodyNames{
    "none",    "short",  "length",    "zero",    "large",        "too_short",  "too_long",
    "chunked", "chunks", "extension", "trailer", "large_chunks", "many_chunks"};
constexpr std::array<string_view, 14> kStatusNames{
    "200",      "404",   "500",         "503", "204",    "304", "206",
    "continue", "hints", "three_hints", "101", "http10", "302", "600"};
constexpr std::array<string_view, 14> kAnswerFormNames{
    "plain", "close",  "hidden_mark", "keep_alive", "event_stream", "two_lengths", "long_head",
    "fresh", "tagged", "public",      "private",    "no_store",     "vary",        "switches"};
constexpr std::array<string_view, 13> kAnswerBodyNames{
    "length", "none",    "long",      "large",       "too_short",   "too_long",    "chunked",
    "chunks", "trailer", "extension", "until_close", "chunked_too", "large_chunks"};
constexpr std::array<string_view, 7> kEndingNames{"keep",    "close",      "cut",    "extra",
                                                  "garbage", "half_close", "nothing"};
constexpr std::array<string_view, 4> kWhenNames{"request", "head", "soon", "late"};
constexpr std::array<string_view, 7> kPieceNames{"whole", "1", "3", "7", "50", "1000", "20000"};
constexpr std::array<std::size_t, 7> kPieceSizes{SIZE_MAX, 1, 3, 7, 50, 1000, 20000};
constexpr std::array<string_view, 7> kPauseNames{"1ms", "10ms", "60ms", "300ms", "1s", "3s", "10s"};
constexpr std::array<unsigned, 7> kPauseLengths{1, 10, 60, 300, 1000, 3000, 10000};
constexpr std::array<string_view, 4> kStrayNames{"answer", "half_answer", "line_end", "timeout"};

struct Edit {
  string_view name;
  std::size_t removed;
  string_view inserted;
  bool is_line = false;  // it goes to the beginning of a line
};

constexpr std::array kEditTable = std::to_array<Edit>({
    {"no", 0, ""},
    {"drop_1", 1, ""},
    {"drop_2", 2, ""},
    {"blank", 0, " "},
    {"tab", 0, "\t"},
    {"crlf", 0, "\r\n"},
    {"lf", 0, "\n"},
    {"cr", 0, "\r"},
    {"nul", 0, string_view("\0", 1)},
    {"fold", 0, "\r\n "},
    {"head_end", 0, "\r\n\r\n"},
    {"crlf_as_lf", 2, "\n"},
    {"colon", 0, ":"},
    {"semicolon", 0, ";"},
    {"comma", 0, ","},
    {"0", 0, "0"},
    {"1", 0, "1"},
    {"as_9", 1, "9"},
    {"as_x", 1, "x"},
    {"plus", 0, "+"},
    {"minus", 0, "-"},
    {"0x", 0, "0x"},
    {"byte_80", 0, "\x80"},
    {"quote", 0, "\""},
    {"backslash", 0, "\\"},
    {"length_7", 0, "Content-Length: 7\r\n", true},
    {"length_0", 0, "Content-Length: 0\r\n", true},
    {"length_tab", 0, "Content-Length:\t6\r\n", true},
    {"length_list", 0, "Content-Length: 6, 6\r\n", true},
    {"chunked", 0, "Transfer-Encoding: chunked\r\n", true},
    {"gzip_chunked", 0, "Transfer-Encoding: gzip, chunked\r\n", true},
    {"identity", 0, "Transfer-Encoding: identity\r\n", true},
    {"chunked_blank", 0, "Transfer-Encoding : chunked\r\n", true},
    {"close", 0, "Connection: close\r\n", true},
    {"hide_length", 0, "Connection: Content-Length\r\n", true},
    {"hide_coding", 0, "Connection: Transfer-Encoding\r\n", true},
    {"expect", 0, "Expect: 100-continue\r\n", true},
    {"second_host", 0, "Host: b\r\n", true},
    {"field", 0, "X: y\r\n", true},
    {"last_chunk", 0, "0\r\n\r\n", true},
    {"a_chunk", 0, "5\r\nhello\r\n", true},
    {"a_request", 0, "GET /slipped_in HTTP/1.1\r\nHost: a\r\nX-Mark: q9999z\r\n\r\n", true},
    {"an_answer", 0, "HTTP/1.1 200 OK\r\nX-Mark: a9999z\r\nContent-Length: 6\r\n\r\na9999z", true},
    {"an_interim", 0, "HTTP/1.1 100 Continue\r\n\r\n", true},
});

constexpr std::array kEditNames = [] {
  std::array<string_view, kEditTable.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kEditTable[i].name;
  return names;
}();

std::string edited(std::string text, unsigned which, std::size_t at) {
  const Edit& edit = kEditTable[which];
  at = std::min(at, text.size());
  if (edit.is_line) {
    const std::size_t line = text.find("\r\n", at);
    at = line == text.npos ? text.size() : line + 2;
  }
  const std::size_t removed = std::min(edit.removed, text.size() - at);
  if (text.substr(at, removed).find(kMarkHere) != text.npos) return text;
  return text.replace(at, removed, edit.inserted);
}

std::string marked(string_view text, char kind, unsigned id) {
  const std::string its = mark(kind, id);
  const auto marks = static_cast<std::size_t>(std::count(text.begin(), text.end(), kMarkHere));
  std::string out(text.size() + marks * (its.size() - 1), '\0');
  char* at = out.data();
  for (const char c : text) {
    if (c == kMarkHere) {
      at = std::copy(its.begin(), its.end(), at);
    } else {
      *at++ = c;
    }
  }
  return out;
}

constexpr std::size_t kMarkSize = 6;

std::string hexadecimal(std::size_t n) {
  constexpr string_view kDigits = "0123456789abcdef";
  std::string out;
  do out.insert(out.begin(), kDigits[n % 16]);
  while ((n /= 16) > 0);
  return out;
}

// So many marks.
std::string content(std::size_t marks) { return std::string(marks, kMarkHere); }

std::string chunk(std::size_t marks, string_view extension = {}) {
  std::string out = hexadecimal(marks * kMarkSize);
  return out.append(extension).append("\r\n").append(content(marks)).append("\r\n");
}

struct Framed {
  std::string lines;
  std::string body;
};

Framed counted(std::size_t marks, std::ptrdiff_t wrong_by = 0) {
  const auto length = static_cast<std::ptrdiff_t>(marks * kMarkSize) + wrong_by;
  return {"Content-Length: " + std::to_string(length) + "\r\n", content(marks)};
}

Framed chunked(std::string chunks, string_view trailers = {}) {
  chunks.append("0\r\n").append(trailers).append("\r\n");
  return {"Transfer-Encoding: chunked\r\n", std::move(chunks)};
}

std::string times(std::size_t n, const std::string& text) {
  std::string out;
  while (n-- > 0) out += text;
  return out;
}

Framed request_body(string_view how) {
  if (how == "short") return counted(1);
  if (how == "length") return counted(20);
  if (how == "zero") return counted(0);
  if (how == "large") return counted(14'000);  // more than is read ahead
  if (how == "too_short") return counted(3, -5);
  if (how == "too_long") return counted(2, 31);
  if (how == "chunked") return chunked(chunk(2));
  if (how == "chunks") return chunked(chunk(1) + chunk(30) + chunk(3));
  if (how == "extension") return chunked(chunk(1, ";a=\"b;c\"") + chunk(1, " ;d"));
  if (how == "trailer") return chunked(chunk(1), "X-Sum: \1\r\n");
  if (how == "large_chunks") return chunked(times(3, chunk(5000)));
  if (how == "many_chunks") return chunked(times(40, chunk(1)));
  return {};
}

Framed answer_body(string_view how) {
  if (how == "length") return counted(1);
  if (how == "none") return counted(0);
  if (how == "long") return counted(50);
  if (how == "large") return counted(20'000);
  if (how == "too_short") return counted(3, -6);
  if (how == "too_long") return counted(3, 7);
  if (how == "chunked") return chunked(chunk(2));
  if (how == "chunks") return chunked(chunk(1) + chunk(30) + chunk(3));
  if (how == "trailer") return chunked(chunk(1), "X-Sum: \1\r\nContent-Length: 3\r\n");
  if (how == "extension") return chunked(chunk(1, ";a=\"b;c\"") + chunk(1, " ;d"));
  if (how == "until_close") return {"", content(3)};
  if (how == "chunked_too") {
    Framed both = chunked(chunk(1));
    both.lines += "Content-Length: 6\r\n";
    return both;
  }
  if (how == "large_chunks") return chunked(times(3, chunk(5000)));
  return {};
}

}  // namespace

const std::span<const string_view> kMethods = kMethodNames, kRequestForms = kRequestFormNames,
                                   kRequestBodies = kRequestBodyNames, kTargets = kTargetNames,
                                   kStatuses = kStatusNames, kAnswerForms = kAnswerFormNames,
                                   kAnswerBodies = kAnswerBodyNames, kEdits = kEditNames,
                                   kEndings = kEndingNames, kWhens = kWhenNames,
                                   kPieces = kPieceNames, kPauses = kPauseNames,
                                   kStrays = kStrayNames;

std::string mark(char kind, unsigned id) {
  std::string digits = std::to_string(id % 10'000);
  digits.insert(0, 4 - digits.size(), '0');
  return kind + digits + 'z';
}

std::vector<unsigned> marks_in(string_view text, char kind) {
  std::vector<unsigned> ids;
  for (std::size_t at = text.find(kind); at != text.npos; at = text.find(kind, at + 1)) {
    const string_view found = text.substr(at, kMarkSize);
    if (found.size() < kMarkSize || found.back() != 'z') continue;
    unsigned id = 0;
    const bool is_mark = std::all_of(found.begin() + 1, found.end() - 1, [&](unsigned char c) {
      id = id * 10 + (c - '0');
      return std::isdigit(c) != 0;
    });
    if (is_mark) ids.push_back(id);
  }
  return ids;
}

std::string request_text(const Step& step, unsigned id) {
  const string_view form = kRequestForms[step.values[2]];
  const Framed framed = request_body(kRequestBodies[step.values[3]]);
  std::string text = form == "empty_line" ? "\r\n" : "";
  text.append(kMethods[step.values[1]]).append(form == "absolute" ? " http://h" : " ");
  const string_view target = kTargets[step.values[6]];
  text += target == "shared_a" ? "/shared/a" : target == "shared_b" ? "/shared/b" : "/\1";
  text += form.starts_with("http10") ? " HTTP/1.0" : form == "http12" ? " HTTP/1.2" : " HTTP/1.1";
  text += "\r\nHost: h\r\nX-Mark: \1\r\n";
  if (target != "own") text += "X-Mark-Too: \1\r\n";  // where the other is hidden
  if (form == "close") text += "Connection: close\r\n";
  if (form == "http10_keep") text += "Connection: keep-alive\r\n";
  if (form == "expect") text += "Expect: 100-continue\r\n";
  if (form == "hidden_mark") text += "Connection: X-Mark, keep-alive\r\n";
  if (form == "html") text += "Accept: text/html\r\n";
  if (form == "deadline") text += "X-Request-Deadline: 50ms\r\n";
  if (form == "upgrade") text += "Connection: upgrade\r\nUpgrade: other\r\n";
  if (form == "tunnel") text += "Connection: upgrade\r\nUpgrade: websocket\r\n";
  if (form == "last_hop") text += "Max-Forwards: 0\r\n";  // the proxy answers OPTIONS itself
  if (form == "te") text += "TE: trailers\r\nConnection: TE\r\n";
  if (form == "authorized") text += "Authorization: Basic eA==\r\n";
  if (form == "conditional") text += "If-None-Match: \"tag\"\r\n";
  if (form == "kind") text += "X-Kind: other\r\n";
  text.append(framed.lines).append("\r\n").append(framed.body);
  return marked(edited(std::move(text), step.values[4], step.values[5]), 'q', id);
}

bool asks_for_tunnel(string_view head) {
  return head.find("\r\nUpgrade: websocket\r\n") != head.npos;
}

bool AnswerPlan::switches() const {
  return kStatuses[step.values[0]] == "101" && kAnswerForms[step.values[1]] == "switches";
}

AnswerPlan::AnswerPlan(const Step& its_step)
    : step(its_step),
      piece(kPieceSizes[its_step.values[5]]),
      ending(static_cast<Ending>(its_step.values[6])),
      when(static_cast<When>(its_step.values[7])) {}

std::string AnswerPlan::text(unsigned id, bool bodiless) const {
  const string_view status = kStatuses[step.values[0]];
  const string_view form = kAnswerForms[step.values[1]];
  Framed framed = answer_body(kAnswerBodies[step.values[2]]);
  std::string text;
  if (status == "continue") text += "HTTP/1.1 100 Continue\r\n\r\n";
  const int hints = status == "hints" ? 1 : status == "three_hints" ? 3 : 0;
  for (int i = 0; i < hints; ++i) text += "HTTP/1.1 103 Early Hints\r\nX-Mark: \1\r\n\r\n";
  text += status == "http10" ? "HTTP/1.0 " : "HTTP/1.1 ";
  const bool is_number = status.front() >= '0' && status.front() <= '9';
  text.append(is_number ? status : "200").append(" Fine\r\nX-Mark: \1\r\n");
  if (form == "close") text += "Connection: close\r\n";
  if (form == "hidden_mark") text += "Connection: X-Mark\r\n";
  if (form == "keep_alive") text += "Connection: keep-alive\r\n";
  if (form == "event_stream") text += "Content-Type: text/event-stream\r\n";
  if (form == "two_lengths") text += "Content-Length: 6\r\n";
  if (form == "switches") text += "Connection: upgrade\r\nUpgrade: websocket\r\n";
  if (form == "fresh") text += "Cache-Control: max-age=3\r\n";
  if (form == "tagged")
    text += "ETag: \"tag\"\r\nCache-Control: max-age=1, stale-while-revalidate=5\r\n";
  if (form == "public") text += "Cache-Control: public, max-age=3\r\n";
  if (form == "private") text += "Cache-Control: private, max-age=3\r\n";
  if (form == "no_store") text += "Cache-Control: no-store\r\n";
  if (form == "vary") text += "Cache-Control: max-age=3\r\nVary: X-Kind\r\n";
  if (form == "long_head") text += "X-Long: " + std::string(5000, 'l') + "\r\n";
  if (bodiless || status == "204" || status == "304") framed.body.clear();
  if (status == "204" || status == "101") framed.lines.clear();
  text.append(framed.lines).append("\r\n").append(framed.body);
  return marked(edited(std::move(text), step.values[3], step.values[4]), 'a', id);
}

std::string stray_text(unsigned what) {
  const std::string answer = "HTTP/1.1 200 OK\r\nX-Mark: a9999z\r\nContent-Length: 6\r\n\r\na9999z";
  switch (what) {
    case 1: return answer.substr(0, 30);
    case 2: return "\r\n";
    case 3: return "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    default: return answer;
  }
}

Milliseconds pause_of(unsigned place) { return Milliseconds{kPauseLengths[place]}; }

}  // namespace spillway::fuzz
