// Engines by name. The reference engine lives in a module, since loading its library costs more than a native run.

#include <dlfcn.h>

#include <filesystem>

#include "sim/core/diagnostics.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/native_simulator.hpp"

namespace podsim {
namespace {

[[noreturn]] void fail(std::string problem, std::string expected, std::string suggestion = {}) {
  Diagnostics diagnostics;
  diagnostics.error({"command line", 0, 0}, "engine", std::move(problem), std::move(expected), std::move(suggestion));
  throw ConfigError(std::move(diagnostics));
}

std::unique_ptr<SegmentSimulator> open_module(const std::string& folder) {
  std::error_code ignored;
  const std::filesystem::path place = folder.empty()
                                          ? std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path()
                                          : std::filesystem::path(folder);
  const std::string file = (place / "libpodsim_simgrid.so").string();
  // Never closed: callbacks of the library stay connected to the module until the process ends.
  void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    const char* reason = dlerror();
    fail(std::string("the module cannot be opened: ") + (reason ? reason : file),
         "the module beside the program, or engine \"native\"");
  }
  const auto make = reinterpret_cast<MakeSegmentSimulator>(dlsym(module, k_segment_simulator_symbol));
  if (make == nullptr) fail(file + " is not a module of this program", "the module of the same build");
  return std::unique_ptr<SegmentSimulator>(make());
}

}  // namespace

Engine make_engine(std::string_view name, const std::string& module_folder) {
  if (name == "native") return Engine("native", std::make_unique<NativeSimulator>());
  if (name == "simgrid") return Engine("simgrid", open_module(module_folder));
  fail("no engine is called \"" + std::string(name) + "\"", "simgrid or native", nearest(name, {"simgrid", "native"}));
}

}  // namespace podsim
