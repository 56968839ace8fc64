#pragma once
// Where this build and its sources are, for cases that read the tree or start the program.

#include <string>

namespace podsim::test {

std::string source_dir();
std::string build_dir();
// The program under test.
std::string program();

}  // namespace podsim::test
