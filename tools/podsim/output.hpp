#pragma once
// Where the program prints: results to standard output, everything else to standard error, files only when asked.

#include <string>
#include <string_view>
#include <vector>

namespace podsim {

// Thrown when nobody reads standard output any more; the program then ends quietly.
struct BrokenPipe {};

// Writes to standard output at once. Throws BrokenPipe, or UsageError when the output cannot be written.
void print(std::string_view text);

// The text of a report: in colour on a terminal, unless NO_COLOR is set or TERM is "dumb".
void print_report(std::string_view text);

// A line to standard error.
void print_error(std::string_view text);

// Throws UsageError when `path` is one of `inputs` under any name: --force does not reach what was just read.
void refuse_input(const std::string& path, const std::vector<std::string>& inputs);

// Throws UsageError when the file exists and `force` is not set.
void refuse_overwrite(const std::string& path, bool force);

// Throws UsageError when the file cannot be written.
void write_file(const std::string& path, std::string_view text);

// Makes a folder and those above it; throws UsageError when it cannot be made or is a file.
void make_folder(const std::string& path);

}  // namespace podsim
