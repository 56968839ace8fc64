// Is a page complete in itself, small enough, and safe against whatever stands in names?
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <string>

#include "sim/report/report_page.hpp"
#include "tests/support/hostile_texts.hpp"
#include "tests/support/sample_report.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

// Without the scripts and styles that every page carries.
std::string own_part(const std::string& html) {
  const std::size_t begin = html.find("<body>");
  const std::size_t end = html.find("</footer>");
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  return html.substr(begin, end - begin);
}

Page page_with(const std::string& text) {
  Page page;
  page.title = page.subtitle = page.foot = text;
  page.facts = {{text, text}};
  Table table{text, {{text, ""}, {"number", ""}}, {{text, 1.0}, {text, 2.0}}};
  page.sections = {{text, {text}, {Chart{.kind = ChartKind::bars, .labels = 0, .values = {1}}}, table}};
  return page;
}

}  // namespace

TEST_CASE("html: a page fetches nothing and forbids the browser to do so") {
  const std::string html = to_html(report_page(sample_report(), nullptr));
  CHECK(html.starts_with("<!DOCTYPE html>\n"));
  CHECK(html.find("Content-Security-Policy\" content=\"default-src 'none';") != std::string::npos);
  for (const std::string attribute : {" src=", "@import", "url(", "<link", "<img", "<iframe"}) {
    CAPTURE(attribute);
    CHECK(own_part(html).find(attribute) == std::string::npos);
  }
  CHECK(own_part(html).find("href=\"http") == std::string::npos);
}

TEST_CASE("html: the same report gives the same bytes") {
  CHECK(to_html(report_page(sample_report(), nullptr)) == to_html(report_page(sample_report(), nullptr)));
}

TEST_CASE("html: a page says what it is: title, verdict, version, commit and hash of the inputs") {
  const std::string html = own_part(to_html(report_page(sample_report(), nullptr)));
  for (const std::string part :
       {"<h1>sample</h1>", "10,240 sequences/s", "<dd class=\"good\">fits;",
        "podsim 1.2.3 (0123abcd), inputs sha256 00112233445566778899aabbccddeeff", "Engine native: 1,234 events"}) {
    CAPTURE(part);
    CHECK(html.find(part) != std::string::npos);
  }
}

TEST_CASE("html: each chart draws columns that its table has, so that its numbers can be read") {
  const std::string html = own_part(to_html(report_page(sample_report(), nullptr)));
  const std::size_t charts = count(html, "class=\"chart-data\"");
  CHECK(charts >= 5);
  CHECK(count(html, "<canvas") == charts);
  std::size_t at = 0;
  for (std::size_t c = 0; c < charts; ++c) {
    at = html.find("\"table\":\"", at) + 9;
    const std::string id = html.substr(at, html.find('"', at) - at);
    CAPTURE(id);
    CHECK(count(html, "<table id=\"" + id + "\"") == 1);
  }
}

TEST_CASE("html: cells hold their exact number beside the text, for sorting and charts") {
  const std::string html = own_part(to_html(report_page(sample_report(), nullptr)));
  CHECK(html.find("<td class=\"n\" data-v=\"0.15\">150 ms</td>") != std::string::npos);
  CHECK(html.find("<td class=\"n\" data-v=\"734003200\">700 MiB</td>") != std::string::npos);
  CHECK(html.find("data-name=\"peak\" data-unit=\"byte\"") != std::string::npos);
}

TEST_CASE("html: names appear as text, whatever they hold") {
  for (const std::string& text : hostile_texts()) {
    CAPTURE(text.substr(0, 60));
    const std::string html = to_html(page_with(text));
    const std::string own = own_part(html);
    CHECK(count(own, "<script") == 1);  // the description of the chart
    CHECK(count(own, "</script") == 1);
    CHECK(own.find("<img") == std::string::npos);
    CHECK(own.find("onerror=\"") == std::string::npos);
    CHECK(own.find("<h1>" + as_html(text) + "</h1>") != std::string::npos);
    CHECK(own.find("aria-label=\"" + as_html(text) + "\"") != std::string::npos);
  }
}

TEST_CASE("html: a timeline's names cannot end the script element that describes it") {
  Timeline timeline;
  timeline.lanes = {"</script><script>alert(1)</script>"};
  timeline.parts = {{"<!-- <script>", SimTime(), SimTime(10), 1}};
  timeline.length = SimTime(10);
  const std::string html = own_part(to_html(report_page(sample_report(), &timeline)));
  CHECK(html.find("\\u003c/script>\\u003cscript>alert(1)") != std::string::npos);
  CHECK(html.find("<script>alert") == std::string::npos);
  CHECK(html.find("<!--") == std::string::npos);
}

TEST_CASE("html: 1,024 devices that all differ stay below 3 MB, and what is left out is said") {
  Report report = sample_report();
  const DeviceReport pattern = report.devices[0];
  report.devices.clear();
  for (int d = 0; d < 1024; ++d) {
    DeviceReport device = pattern;
    device.id = "device" + std::to_string(d);
    device.utilisation_pct = d / 1024.0;
    device.memories[0].name = device.id + ".memory";
    device.memories[0].peak += Bytes(d);
    report.devices.push_back(device);
    report.links.push_back({"link" + std::to_string(d), Bytes(d + 1), d / 1024.0});
  }
  const std::string html = to_html(report_page(report, nullptr));
  CHECK(html.size() < 3'000'000);
  // Of the links one more: those two of the sample share a row.
  CHECK(count(html, "Rows left out here: 824; --format json has them.") == 2);
  CHECK(count(html, "Rows left out here: 825; --format json has them.") == 1);
}

TEST_CASE("html: a page without charts carries no chart library") {
  Page page;
  page.title = "plain";
  page.sections = {{"text", {"only"}}};
  CHECK(to_html(page).size() < 30'000);
  CHECK(to_html(report_page(sample_report(), nullptr)).size() > 200'000);
}
