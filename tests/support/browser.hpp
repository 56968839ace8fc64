#pragma once
// Pages in a headless Chromium: opened from a file, used as a reader would, at the width of a phone and of a desk.

#include <string>
#include <vector>

namespace podsim::test {

// The program to start; empty: there is none on this machine.
std::string browser_program();

struct SeenPage {
  int width = 0;  // of the window, in pixels
  int canvases = 0;
  int tables = 0;  // that can be sorted
  int filters = 0;
  std::vector<std::string> problems;  // errors, fetches, empty charts, tables that do not sort or filter, scrolling
};

// What tests/support/page_check.js finds at 390 and at 1200 pixels. Throws std::runtime_error when the browser fails.
std::vector<SeenPage> look_at(const std::string& html);

}  // namespace podsim::test
