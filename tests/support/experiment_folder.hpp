#pragma once
// A user's folder: an experiment with the files it names, in which the program is started.

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

namespace podsim::test {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A text without its line ends: as it reads, wherever lines were broken at blanks.
inline std::string one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

class ExperimentFolder {
 public:
  // BERT-Large on a Pod16, four replicas of four IPUs: it fits.
  ExperimentFolder() {
    write("experiment.toml",
          "name = \"case\"\nsystem = \"pod16\"\n\n"
          "[model]\nconfig = \"config.json\"\nhead = \"pretraining\"\n\n"
          "[workload]\nmicro_batch_size = 2\nsequence_length = 128\n\n"
          "[ipu]\nconfig = \"ipu_config.json\"\n");
    write("config.json",
          "{\n  \"model_type\": \"bert\",\n  \"hidden_size\": 1024,\n  \"num_hidden_layers\": 24,\n"
          "  \"num_attention_heads\": 16,\n  \"intermediate_size\": 4096,\n  \"vocab_size\": 30522\n}\n");
    write("ipu_config.json",
          "{\n  \"layers_per_ipu\": [3, 7, 7, 7],\n  \"ipus_per_replica\": 4,\n  \"replication_factor\": 4,\n"
          "  \"gradient_accumulation_steps\": 64,\n  \"matmul_proportion\": [0.15, 0.18, 0.2, 0.25],\n"
          "  \"embedding_serialization_factor\": 2,\n  \"optimizer_state_offchip\": true,\n"
          "  \"replicated_tensor_sharding\": true\n}\n");
  }

  const std::string& path() const { return folder_.path(); }
  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }

  std::string read(const std::string& name) const {
    std::ifstream file(folder_.path(name), std::ios::binary);
    if (!file) throw std::runtime_error("no file " + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // Replaces the first `old_text` in a file.
  void change(const std::string& name, const std::string& old_text, const std::string& new_text) const {
    std::string text = read(name);
    const std::size_t at = text.find(old_text);
    if (at == std::string::npos) throw std::runtime_error("no \"" + old_text + "\" in " + name);
    write(name, text.replace(at, old_text.size(), new_text));
  }

  // `podsim <arguments>` in this folder.
  CommandResult podsim(const std::string& arguments) const {
    return run_command(shell_quoted(program()) + " " + arguments, path());
  }

  // The same, where the input is refused: what stands on standard error.
  std::string refused(const std::string& arguments) const {
    const CommandResult result = podsim(arguments);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    return result.err;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace podsim::test
