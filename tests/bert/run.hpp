// Runs the program on a copy of a small model's folder, and on texts whose label is whether they begin with "count".
#pragma once

#include "../../examples/bert/commands.hpp"
#include "../program_test.hpp"

class bert_test : public program_test {
 public:
  bert_test() : program_test(bert::run_program) {
    std::filesystem::copy(TX_TEST_DIR "/../parity/data/folder", path / "folder", std::filesystem::copy_options::recursive);
    write("train.tsv", labelled(0, 64));
    write("dev.tsv", labelled(64, 16));
  }

  ran finetune(std::string const& more = "", std::string const& out = "@model") const {
    return (*this)("finetune --model @folder --data @train.tsv --dev @dev.tsv --out " + out + " --rate 0.003 --epochs 20 --dropout 0 --threads 1 " + more);
  }
  // Whether the run that learns into "cut" has a state to go on from. One that ends in the meantime takes them away.
  bool saved() const {
    std::error_code none;
    for (std::filesystem::directory_iterator at(path / "cut/checkpoints", none), end; !none && at != end; at.increment(none))
      if (at->path().filename().string().starts_with("checkpoint-")) return true;
    return false;
  }
  // A signal may come when the model is written and the states are gone, but the process has not ended: then nothing is left to go on with.
  bool is_done(int code, int signal) const { return code == 0 || (code == -signal && !saved() && std::filesystem::exists(path / "cut/model.safetensors")); }
  static std::string sentence(int i) {
    static char const* const words[] = {"the", "tokens", "texts", "pairing", "numbers", "few", "words", "learning"};
    std::string out = i % 2 == 0 ? "count" : "too";
    for (int w = 0; w < 2 + i % 4; ++w) out += std::string(" ") + words[(i * 5 + w * 3 + i / 7) % 8];
    return out;
  }
  static std::string labelled(int first, int count) {
    std::string text;
    for (int i = first; i < first + count; ++i) text += std::string(i % 2 == 0 ? "counts" : "does not") + '\t' + sentence(i) + '\n';
    return text;
  }
};
