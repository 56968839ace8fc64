#pragma once
// What is shown to people beyond a terminal, as a value: facts, then sections of text, charts and tables. Verbs make
// pages, to_html and to_markdown only format them. A chart draws columns of the table it stands beside, so that every
// number drawn is also there to be read.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/observe/table.hpp"
#include "sim/observe/timeline.hpp"

namespace podsim {

enum class Tone { plain, good, caution, bad };

// "Verdict", "fits; …".
struct PageFact {
  std::string label;
  std::string value;
  Tone tone = Tone::plain;
};

enum class ChartKind {
  bars,     // a bar for each row and each of `values`, one below the other
  stacked,  // a bar for each row, its parts side by side
  lines,    // a line for each of `values` over the numbers of `labels`
  steps,    // the same, level until the next point
  points,   // a point for each row: `labels` is the number across, the first of `values` the number up
};

struct Chart {
  ChartKind kind = ChartKind::bars;
  std::size_t labels = 0;                  // column
  std::vector<std::size_t> values = {};    // columns, all of one unit
  std::vector<int> colours = {};           // of `values`, in the palette of twelve; empty: in their order
  std::vector<int> row_colours = {};       // of bars and points: that of each row; empty: all alike
  std::optional<std::size_t> limit = {};   // column: what each row's values should stay below
  std::optional<std::size_t> groups = {};  // column of words: by it points are coloured; it names the row_colours
  std::optional<std::size_t> names = {};   // of points: column that names them
  bool logarithmic = false;                // the axis of the values
  bool logarithmic_x = false;              // of points: the axis across
  std::vector<double> bands_pct = {};      // of points: lines at these distances from y = x
  std::vector<double> levels = {};         // of points: level lines at these values
  std::optional<double> most = {};         // of points: larger values lie outside the picture, which says how many do
  std::string joined = {};                 // of points: a line through those of this group; empty: none
  bool at_edge = false;                    // of points: rows without a number up stand at the lower edge
};

// The picture of a timeline, first showing this window.
struct TimelineChart {
  Timeline timeline;
  std::string window;  // by name; empty or unknown: all of it
};

// The numbers of a table but its first column, shaded from the worst to the best; texts among them are hatched.
enum class HeatMap { higher_is_better, lower_is_better };

struct PageSection {
  std::string title = {};
  std::vector<std::string> notes = {};  // paragraphs
  std::vector<std::variant<Chart, TimelineChart>> charts = {};
  std::optional<Table> table = {};
  bool folded = false;               // long tables of second interest: closed until asked for
  std::optional<HeatMap> heat = {};  // the table is one
};

struct Page {
  std::string title;
  std::string subtitle;
  std::vector<PageFact> facts;
  std::vector<PageSection> sections;
  // Where it comes from.
  std::string tool_version, tool_commit;
  std::string inputs_sha256;
  std::string foot;  // a further line; may be empty
};

// One self-contained file: opens offline, in light and dark, on a phone, and prints.
std::string to_html(const Page& page);
// GitHub's dialect.
std::string to_markdown(const Page& page);

// The text of a cell for people: units scaled, digits grouped. An empty cell and a number that is none: "".
std::string cell_text(const Cell& cell, const Column& column);
// "time" of "time_s" with "s" in its cells' texts; the unit stands in brackets where cell_text does not write it.
// Dotted keys stay as they are.
std::string heading_text(const Column& column);
// Whether all cells of the column that are there are numbers.
bool is_numeric(const Table& table, std::size_t column);
// "podsim 1.2 (abc), inputs 0123…".
std::string origin_text(const Page& page);

// The table with at most `most` rows; what was left out is told to `notes`, and that `elsewhere` has it.
Table shortened(Table table, std::size_t most, std::vector<std::string>& notes,
                std::string_view elsewhere = "--format json");

}  // namespace podsim
