#include <doctest/doctest.h>

#include <string>

#include "models/rdu/command/compile_command.hpp"
#include "models/rdu/search/command_edit.hpp"

using namespace podsim;
using namespace podsim::rdu;

namespace {

CompileCommand command(const std::string& text) {
  Diagnostics diagnostics;
  const auto read = read_compile_command(text, {"test", 1, 1}, {}, diagnostics);
  REQUIRE_MESSAGE(read.has_value(), diagnostics.to_text());
  return *read;
}

}  // namespace

TEST_CASE("rdu command edit: a flag is said otherwise however it was spelled, the rest stays") {
  for (const char* tiles : {"--num-tiles 4", "--num-tiles=4"}) {
    const CompileCommand read = command("python app.py compile -b 16 " + std::string(tiles) + " --lr 0.1");
    CommandEdit edit(read.line);
    edit.set("num-tiles", "8");
    CHECK(edit.text() == "python app.py compile -b 16 --lr 0.1 --num-tiles 8");
  }
}

TEST_CASE("rdu command edit: flags are taken out with their values, and added without one") {
  const CompileCommand read = command("python app.py compile -o3 --data-parallel -ws 2 -b 16");
  CommandEdit edit(read.line);
  edit.remove("data-parallel");
  edit.remove("world-size");
  edit.remove("o3");
  edit.set("o0");
  CHECK(edit.text() == "python app.py compile -b 16 -o0");
}

TEST_CASE("rdu command edit: words are quoted where a shell needs it, variables without value are not") {
  const CompileCommand read = command("OUT=x python app.py compile --name 'a b' --pef-name $NAME -b 16");
  CommandEdit edit(read.line);
  edit.set("batch-size", "8");
  CHECK(edit.text() == "OUT=x python app.py compile --name 'a b' --pef-name $NAME -b 8");
}

TEST_CASE("rdu command edit: Model Zoo's overrides keep their spelling") {
  const CompileCommand read =
      command("python rdu_train_llm.py command=compile training.batch_size=16 +samba_compile.num_tiles=4");
  CommandEdit edit(read.line);
  edit.set("num-tiles", "8");
  const CompileCommand again = command(edit.text());
  CHECK(again.num_tiles.value == 8);
  CHECK(again.batch_size.value == 16);
}

TEST_CASE("rdu command edit: another word in place of one") {
  const CompileCommand read = command("python app.py compile -b 16");
  CommandEdit edit(read.line);
  const FlagOccurrence* batch = read.line.find("batch-size");
  REQUIRE(batch != nullptr);
  CHECK(edit.replace(batch->values.front().place, "32"));
  CHECK_FALSE(edit.replace({"elsewhere", 7, 7}, "32"));
  CHECK(edit.text() == "python app.py compile -b 32");
}
