#pragma once
// Texts that break out of a format that does not quote them.

#include <string>
#include <vector>

namespace podsim::test {

inline std::vector<std::string> hostile_texts() {
  return {"</script><script>alert(1)</script>",
          "<img src=x onerror=\"alert(1)\">",
          "a \"quoted\" and 'quoted' & name",
          "=HYPERLINK(\"http://x\")",
          "| cell | `code` | [link](http://x) **bold** <b>",
          std::string("\xE2\x80\xAE") + "desrever \xE2\x80\x8F name",  // right-to-left override and mark
          "line\nline\r\nline\ttab \x01\x7f control",
          "cut \xC3 utf-8 \xFF bytes",
          std::string(10'000, 'x')};
}

// As HTML shows it as text.
inline std::string as_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '\r':
      case '\x01':
      case '\x7f':
      case '\xC3':
      case '\xFF':
        out += "\xEF\xBF\xBD";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace podsim::test
