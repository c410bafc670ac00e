// Distillation as from a shell: what the student learns is the teacher's opinion, not its labels'; and what a teacher has in the program.
#include "run.hpp"

#include "../../examples/bert/engine.hpp"

#include <tx/io/safetensors.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace {

struct distil_test : bert_test {
  distil_test() {
    REQUIRE(finetune("", "@teacher").code == 0);
    std::string wrong;  // each label is the other one
    for (int i = 0; i < 64; ++i) wrong += std::string(i % 2 == 0 ? "does not" : "counts") + '\t' + sentence(i) + '\n';
    write("wrong.tsv", wrong);
  }
  ran distil(std::string const& more, std::string const& out = "@student", std::string const& rate = "0.003") const {
    return (*this)("distil --teacher @teacher --data @wrong.tsv --dev @dev.tsv --out " + out + " --rate " + rate + " --dropout 0 --threads 1 " + more);
  }
  static std::pair<double, double> accuracies(ran const& r) {
    INFO(r.error);
    REQUIRE(r.code == 0);
    double student = -1, teacher = -1;
    REQUIRE(std::sscanf(r.out.c_str(), "student accuracy %lf", &student) == 1);
    std::size_t const at = r.out.find("teacher accuracy ");
    REQUIRE(at != std::string::npos);
    REQUIRE(std::sscanf(r.out.c_str() + at, "teacher accuracy %lf", &teacher) == 1);
    return {student, teacher};
  }
};

}  // namespace

TEST_CASE_METHOD(distil_test, "a student learns its teacher's opinion or its labels, as their shares say", "[distil]") {
  ran const soft = distil("--config @folder --hard 0 --epochs 40");
  auto const [student, teacher] = accuracies(soft);
  CHECK(teacher == 1);
  CHECK(student > 0.9);  // although every label that it was given is wrong
  CHECK_THAT(soft.out, Catch::Contains("AUC ") && Catch::Contains("over 16 texts, of step "));
  CHECK(accuracies(distil("--config @folder --hard 1 --hidden 0 --attention 0 --epochs 40 --validations 1", "@alone")).first < 0.1);

  // The folder is one like any other: the student alone, under transformers' names.
  CHECK(nlohmann::json::parse(read("student/config.json")).at("id2label") == nlohmann::json{{"0", "counts"}, {"1", "does not"}});
  auto const weights = tx::io::safetensors::read(path / "student/model.safetensors");
  CHECK(weights.tensors().size() == 5 + 2 * 16 + 2 + 2);
  CHECK(weights.find("bert.encoder.layer.1.output.dense.weight") != nullptr);
  ran const eval = (*this)("eval --model @student --data @dev.tsv");
  REQUIRE(eval.code == 0);
  double told = 0;
  REQUIRE(std::sscanf(eval.out.c_str(), "accuracy %lf", &told) == 1);
  CHECK(told == Approx(student));
}

TEST_CASE_METHOD(distil_test, "a student may begin with its teacher's layers, or with weights of its own", "[distil]") {
  CHECK(accuracies(distil("--config @folder --teacher-layers --steps 1", "@copy", "0")).first == 1);
  CHECK(read("copy/model.safetensors") == read("teacher/model.safetensors"));
  ran const own = distil("--model @folder --steps 1", "@own");
  REQUIRE(own.code == 0);
  CHECK_THAT(own.error, Catch::Contains("fresh: classifier.weight") && Catch::Contains("the teacher: accuracy 1.0000  AUC 1.0000"));
}

TEST_CASE_METHOD(distil_test, "a teacher drops nothing, stays as it is and has no states", "[distil]") {
  auto const run = bert::make_distiller({1, 1});
  run->load_teacher(tx::io::model_folder::open(path / "teacher"));
  auto const all = [&] {
    std::vector<float> numbers;
    for (auto const held = run->held(); auto const& t : run->teacher(held.tensors)) numbers.insert(numbers.end(), t.data.begin(), t.data.end());
    return numbers;
  };
  auto const before = all();
  std::vector<std::int32_t> const ids{2, 50, 51, 3}, types(4, 0);
  std::vector<bert::coded_text> const texts(8, {ids, types});
  std::vector<float> const targets(8, 1);
  auto const said = run->teacher_logits(texts);
  bert::step_settings const all_dropped{.rate = 0.01, .dropout = 0.5};
  for (int i = 0; i < 3; ++i) CHECK(std::isfinite(run->train(texts, targets, all_dropped)));
  CHECK(all() == before);
  CHECK(run->teacher_logits(texts) == said);
  auto const of_teacher = [](bert::named_tensor const& t) { return t.name.starts_with("teacher."); };
  CHECK(std::ranges::any_of(run->held(0).tensors, of_teacher));
  CHECK(std::ranges::none_of(run->held(1).tensors, of_teacher));

  // A student that is its teacher, without dropout, has nothing to learn from it.
  auto const held = run->held();
  auto const student = run->student(held.tensors), teacher = run->teacher(held.tensors);
  for (std::size_t k = 0; k < student.size(); ++k) std::ranges::copy(teacher[k].data, student[k].data.begin());
  run->learns = {.temperature = 3, .hard = 0, .hidden = 1};
  CHECK(run->train(texts, targets, {.rate = 0, .dropout = 0}) == Approx(0).margin(1e-6));
  CHECK(run->train(texts, targets, {.rate = 0, .dropout = 0.5}) > 1e-4f);
}

TEST_CASE_METHOD(distil_test, "a student comes nearer to its teacher's attention as its weight says", "[distil]") {
  std::vector<std::int32_t> const ids{2, 50, 51, 60, 33, 3}, others{2, 40, 41, 3}, types(6, 0);
  std::vector<bert::coded_text> const texts{{ids, types}, {others, std::span(types).first(4)}, {ids, types}, {others, std::span(types).first(4)},
                                            {ids, types}, {others, std::span(types).first(4)}, {ids, types}, {others, std::span(types).first(4)}};
  std::vector<float> const targets(8, 1);
  bert::step_settings const none{.rate = 0, .decay = 0, .dropout = 0}, some{.rate = 0.01, .decay = 0, .dropout = 0};
  // The attention's part of the loss before some steps, and after.
  auto const term = [&](double weight) {
    auto const run = bert::make_distiller({1, 1});
    run->load_teacher(tx::io::model_folder::open(path / "teacher"));
    auto const of = [&] {
      run->learns = {.temperature = 2, .hard = 0, .hidden = 0, .attention = 2};
      float const twice = run->train(texts, targets, none);
      run->learns.attention = 1;
      float const once = run->train(texts, targets, none);
      return static_cast<double>(twice - once);
    };
    double const before = of();
    run->learns.attention = weight;
    for (int i = 0; i < 60; ++i) run->train(texts, targets, some);
    return std::pair{before, of()};
  };
  auto const [before, after] = term(10);
  auto const [same, untaught] = term(0);
  CHECK(before == same);
  CHECK(before > 1e-3);
  CHECK(after < 0.3 * before);
  CHECK(after < 0.5 * untaught);
}

TEST_CASE_METHOD(distil_test, "a distillation that is killed and resumed is the one that was not", "[distil]") {
  std::string const command = "distil --teacher @teacher --config @folder --data @wrong.tsv --dev @dev.tsv --rate 0.003 --steps 300 --out ";
  REQUIRE((*this)(command + "@whole --threads 1").code == 0);
  int const code = signalled(command + "@cut --save-every 20", SIGKILL, [&] { return saved(); });
  REQUIRE((is_done(code, SIGKILL) || code == -SIGKILL));
  if (!is_done(code, SIGKILL)) {
    ran const other = (*this)(command + "@cut --resume --temperature 4 --threads 1");
    CHECK(other.code == 1);
    CHECK_THAT(other.error, Catch::Contains("--temperature is not what the saved run had"));
    REQUIRE((*this)(command + "@cut --resume --threads 1").code == 0);
  }
  CHECK(read("cut/model.safetensors") == read("whole/model.safetensors"));
}

TEST_CASE_METHOD(distil_test, "distillations that are refused", "[distil]") {
  auto const refused = [&](std::string const& more, std::string const& message) {
    ran const r = distil(more);
    INFO(more << ": " << r.error);
    CHECK(r.code == 1);
    CHECK_THAT(r.error, Catch::Contains(message));
    CHECK_FALSE(std::filesystem::exists(path / "student"));
  };
  refused("", "one of --model and --config");
  refused("--model @folder --config @folder", "one of --model and --config");
  refused("--model @folder --teacher-layers", "--model and --teacher-layers exclude each other");
  refused("--config @folder --temperature 0", "--temperature");
  refused("--config @folder --hard 2", "--hard");
  refused("--config @folder --attention -1", "--attention");
  write("other.tsv", labelled(0, 16) + "perhaps\tthe words\n");
  ran const other = (*this)("distil --teacher @teacher --config @folder --data @other.tsv --dev @dev.tsv --out @student");
  CHECK_THAT(other.error, Catch::Contains("other.tsv:17: the label 'perhaps' is none of the model's"));

  std::filesystem::copy(path / "teacher", path / "spoilt");  // each part of it in turn
  auto const replaced = [](std::string text, std::string const& what, std::string const& by) { return text.replace(text.find(what), what.size(), by); };
  auto const with = [&](std::string const& message) {
    ran const r = (*this)("distil --teacher @spoilt --config @folder --data @wrong.tsv --dev @dev.tsv --out @student --steps 1 --threads 1");
    INFO(r.error);
    CHECK(r.code == 1);
    CHECK_THAT(r.error, Catch::Contains(message));
  };
  auto const config = read("spoilt/config.json");
  write("spoilt/config.json", replaced(config, "\"num_attention_heads\": 2", "\"num_attention_heads\": 4"));
  with("num_attention_heads is 4 in the file and 2 in the program (heads)");
  write("spoilt/config.json", config);
  auto const tokenizer = read("spoilt/tokenizer.json");
  write("spoilt/tokenizer.json", replaced(tokenizer, "\"count\":", "\"coun_\":"));
  with("wrong.tsv:1: the tokenizer of ");
  write("spoilt/tokenizer.json", tokenizer);
  std::filesystem::copy_file(path / "folder/model.safetensors", path / "spoilt/model.safetensors", std::filesystem::copy_options::overwrite_existing);
  with("lacks classifier.weight. FIX: a teacher that was trained for labels");
}
