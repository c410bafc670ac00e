// Runs the program as from a shell, and makes what it needs.
#pragma once

#include "../../examples/twinbert/commands.hpp"
#include "../program_test.hpp"

class twinbert_test : public program_test {
 public:
  twinbert_test() : program_test(twinbert::run_program) {
    // Pairs that share a word of their own among common ones.
    std::string text;
    for (int i = 0; i < 64; ++i) text += sentence(i, 4) + '\t' + sentence(i, 9 + i % 12) + '\n';
    write("pairs.tsv", text);
    text.clear();
    for (int i = 0; i < 32; ++i) {
      text += sentence(i, 4) + '\t' + sentence(i, 9) + "\t1\n";
      text += sentence(i, 4) + '\t' + sentence((i * 5 + 3) % 32 == i ? i + 1 : (i * 5 + 3) % 32, 9) + "\t0\n";
    }
    write("labelled.tsv", text);
  }

  ran trained(std::string const& options = "") const {
    return (*this)("train --pairs @pairs.tsv --out @model --threads 2 --vocabulary 300 " + options);
  }

 private:
  static std::string sentence(int i, int words) {
    std::string out = "alpha" + std::to_string(i);
    for (int w = 1; w < words; ++w) out += " word" + std::to_string((i * 7 + w * 3) % 20);
    return out;
  }
};
