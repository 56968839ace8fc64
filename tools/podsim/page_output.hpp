#pragma once
// What a verb prints in one of several formats and, with --out, also writes into a folder.

#include <string>
#include <string_view>

#include "sim/report/page.hpp"
#include "tools/podsim/options.hpp"

namespace podsim {

// --out and --force, as PageOutput reads them.
std::vector<OptionSpec> page_output_options();

class PageOutput {
 public:
  // `name`: of the file in the folder, without its extension. Throws UsageError for an unknown format, or when a file
  // would be overwritten.
  PageOutput(const Arguments& arguments, const OptionSpec& format, std::string_view name);
  const std::string& format() const { return format_; }
  bool is_page() const { return format_ == "html" || format_ == "markdown"; }
  // Text within the width of a terminal, and in colour when it is one; other formats as they are.
  void show(const std::string& result) const;
  void show(Page page, const std::string& inputs_sha256) const;

 private:
  std::string format_;
  std::string folder_;  // empty: none
  std::string file_;
};

}  // namespace podsim
