// Does colour add to a text without changing it?
#include <doctest/doctest.h>

#include <string>

#include "sim/report/report.hpp"
#include "sim/report/text_colour.hpp"
#include "tests/support/sample_report.hpp"

using namespace podsim;

namespace {

std::string without_sequences(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    i = text.find('m', i);
  }
  return plain;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("text colour: without its sequences a report is what it was") {
  for (const Report& report : {test::sample_report(), test::sample_check_that_does_not_fit()}) {
    const std::string text = to_text(report);
    CHECK(coloured(text) != text);
    CHECK(without_sequences(coloured(text)) == text);
  }
}

TEST_CASE("text colour: headings, bars, verdicts and warnings stand out") {
  const std::string fits = coloured(to_text(test::sample_report()));
  CHECK(fits.starts_with("\x1b[1msample\x1b[0m\nduo, stack-1"));
  CHECK(has(fits, "\n\x1b[1mDevices (share of the step)\x1b[0m\n"));
  CHECK(has(fits, "\x1b[32mVerdict      fits\x1b[0m"));
  CHECK(has(fits, "\x1b[34m█"));
  CHECK(has(fits, "\x1b[33moutside of it:\x1b[0m"));
  const std::string unfit = coloured(to_text(test::sample_check_that_does_not_fit()));
  CHECK(has(unfit, "\x1b[1;31mDOES NOT FIT\x1b[0m"));
  CHECK(has(unfit, "\x1b[31m over\x1b[0m\n"));
}

TEST_CASE("text colour: an unfinished line and an empty text") {
  CHECK(coloured("").empty());
  CHECK(coloured("  plain") == "  plain");
  CHECK(coloured("title\nplain\n\nplain") == "\x1b[1mtitle\x1b[0m\nplain\n\nplain");
  CHECK(coloured("\n\n") == "\n\n");
}
