#include "tests/support/browser.hpp"

#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "sim/config/value.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

namespace podsim::test {
namespace {

// In front of everything else of the page, so that it hears all errors.
constexpr const char* k_listener = R"(<script>
window.problems = [];
addEventListener("error", (event) => problems.push("error: " + event.message));
addEventListener("unhandledrejection", (event) => problems.push("error: " + event.reason));
addEventListener("securitypolicyviolation", (event) => problems.push("fetches " + event.blockedURI));
for (const kind of ["error", "warn"]) console[kind] = (...words) => problems.push(kind + ": " + words.join(" "));
</script>
)";

// Shows the page twice and writes what both copies tell.
constexpr const char* k_frames = R"(<!DOCTYPE html>
<meta charset="utf-8">
<pre id="seen"></pre>
<script>
const seen = [];
addEventListener("message", (event) => {
  seen.push(event.data);
  seen.sort((a, b) => a.width - b.width);
  if (seen.length === 2) document.getElementById("seen").textContent = JSON.stringify(seen);
});
</script>
<iframe src="page.html" style="width:390px;height:844px;border:0"></iframe>
<iframe src="page.html" style="width:1200px;height:900px;border:0"></iframe>
)";

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("no file " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string with_check(std::string html) {
  const std::size_t head = html.find("<head>\n");
  const std::size_t end = html.rfind("</body>");
  if (head == std::string::npos || end == std::string::npos) throw std::runtime_error("not a page:\n" + html);
  html.insert(end, "<script>\n" + text_of(source_dir() + "/tests/support/page_check.js") + "</script>\n");
  return html.insert(head + 7, k_listener);
}

// The text of the element, in which the browser escapes three characters.
std::string seen_in(const std::string& dom) {
  const std::string begin = "<pre id=\"seen\">";
  const std::size_t at = dom.find(begin);
  const std::size_t end = dom.find("</pre>", at);
  if (at == std::string::npos || end == std::string::npos || end == at + begin.size()) return "";
  std::string text = dom.substr(at + begin.size(), end - at - begin.size());
  for (const auto& [entity, plain] : {std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"}, std::pair{"&amp;", "&"}}) {
    for (std::size_t found = text.find(entity); found != std::string::npos; found = text.find(entity, found + 1)) {
      text.replace(found, std::string(entity).size(), plain);
    }
  }
  return text;
}

}  // namespace

std::string browser_program() {
  for (const char* const name : {"chromium-headless-shell", "chromium"}) {
    if (run_command(std::string("command -v ") + name, "/").exit_code == 0) return name;
  }
  return "";
}

std::vector<SeenPage> look_at(const std::string& html) {
  const TemporaryFolder folder;
  folder.write("page.html", with_check(html));
  folder.write("frames.html", k_frames);
  const CommandResult result =
      run_command(browser_program() +
                      " --headless --no-sandbox --disable-gpu --user-data-dir=profile --allow-file-access-from-files "
                      "--virtual-time-budget=20000 --dump-dom file://" +
                      folder.path("frames.html"),
                  folder.path());
  const std::string seen = seen_in(result.out);
  Diagnostics diagnostics;
  const std::optional<Value> value = parse_json(seen, "the page's own check", diagnostics);
  if (!value) throw std::runtime_error("the page told nothing:\n" + result.out.substr(0, 2000) + result.err);
  std::vector<SeenPage> pages;
  for (const Value& entry : value->elements()) {
    SeenPage page;
    page.width = static_cast<int>(entry.find("width")->as_integer());
    page.canvases = static_cast<int>(entry.find("canvases")->as_integer());
    page.tables = static_cast<int>(entry.find("tables")->as_integer());
    page.filters = static_cast<int>(entry.find("filters")->as_integer());
    for (const Value& problem : entry.find("problems")->elements()) page.problems.push_back(problem.as_string());
    pages.push_back(std::move(page));
  }
  return pages;
}

}  // namespace podsim::test
