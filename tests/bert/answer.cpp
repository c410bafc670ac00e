// Answers in texts: how files are read and spans told, and the command as from a shell. The answer is the word behind "count".
#include "run.hpp"

#include "../../examples/bert/questions.hpp"

#include <tx/io/safetensors.hpp>

#include <nlohmann/json.hpp>

using strings = std::vector<std::string>;

namespace {

std::string line_of(std::string const& context, std::string const& answer, std::size_t at) {
  nlohmann::json answers{{"text", nlohmann::json::array()}, {"answer_start", nlohmann::json::array()}};
  if (!answer.empty()) answers["text"].push_back(answer), answers["answer_start"].push_back(at);
  return nlohmann::json{{"question", "numbers"}, {"context", context}, {"answers", answers}}.dump() + '\n';
}

struct answer_test : bert_test {
  answer_test() {
    write("train.jsonl", asked(0, 64));
    write("dev.jsonl", asked(64, 16));
  }
  static std::string asked(int first, int count) {
    std::string text;
    for (int i = first; i < first + count; ++i) {
      std::string const context = "the " + sentence(i);
      std::size_t const at = context.find("count ");
      if (at == std::string::npos) text += line_of(context, "", 0);
      else text += line_of(context, context.substr(at + 6, context.find(' ', at + 6) - at - 6), at + 6);
    }
    return text;
  }
};

}  // namespace

TEST_CASE_METHOD(answer_test, "answer learns where answers stand, scores and finds them", "[answer]") {
  ran const train = (*this)("answer --model @folder --data @train.jsonl --dev @dev.jsonl --out @model --rate 0.003 --epochs 40 --dropout 0 --threads 1");
  INFO(train.error);
  REQUIRE(train.code == 0);
  double exact = 0, f1 = 0;
  INFO(train.out);
  REQUIRE(std::sscanf(train.out.c_str(), "exact match %lf F1 %lf of 16 questions", &exact, &f1) == 2);
  CHECK(f1 > 0.8);
  CHECK_THAT(train.error, Catch::Contains("fresh: qa_outputs.weight") && Catch::Contains("64 questions in 64 parts of at most 12 tokens, 32 of them without an answer"));
  CHECK(nlohmann::json::parse(read("model/config.json")).at("architectures") == nlohmann::json{"BertForQuestionAnswering"});
  CHECK(tx::io::safetensors::read(path / "model/model.safetensors").find("qa_outputs.bias") != nullptr);

  ran const score = (*this)("answer --model @model --dev @dev.jsonl --threads 1");
  REQUIRE(score.code == 0);
  CHECK_THAT(train.out, Catch::StartsWith(score.out.substr(0, score.out.size() - 1)));
  write("asked.jsonl", R"({"id": "x", "question": "numbers", "context": "the count few words"})" "\n" R"({"question": "numbers", "context": "the too few words"})" "\n");
  ran const told = (*this)("answer --model @model --text @asked.jsonl --threads 1");
  INFO(told.error);
  REQUIRE(told.code == 0);
  REQUIRE(told.lines().size() == 2);
  CHECK(nlohmann::json::parse(told.lines()[0]).at("id") == "x");
  CHECK(nlohmann::json::parse(told.lines()[1]).at("id") == "2");
  ran const must = (*this)("answer --model @model --text @asked.jsonl --must-answer --threads 1");
  REQUIRE(must.lines().size() == 2);
  CHECK(nlohmann::json::parse(must.lines()[1]).at("prediction_text") != "");
}

TEST_CASE_METHOD(answer_test, "what answer refuses", "[answer]") {
  auto const refused = [&](std::string const& more, std::string const& message) {
    ran const r = (*this)("answer --model @folder " + more);
    INFO(more << ": " << r.error);
    CHECK(r.code == 1);
    CHECK_THAT(r.error, Catch::Contains(message));
    CHECK_FALSE(std::filesystem::exists(path / "model"));
  };
  refused("--dev @dev.jsonl", "lacks qa_outputs.weight. FIX: a folder that was trained for questions, as bert answer writes it");
  refused("--text @dev.jsonl --out @model", "--text is answered by a trained model, and goes with --model alone. FIX:");
  write("few.jsonl", asked(0, 4));
  refused("--data @few.jsonl --dev @dev.jsonl --out @model", "few.jsonl has 4 questions, a step takes 8");
  write("off.jsonl", asked(0, 16) + line_of("the count few", "few", 9));
  refused("--data @off.jsonl --dev @dev.jsonl --out @model", "off.jsonl:17: the answer 'few' does not stand at character 9 of the context. FIX: answer_start counts characters from 0");
}

TEST_CASE("questions are SQuAD's, their places counted in characters", "[answer]") {
  auto const one = [](std::string const& line, bool answered = true) { return bert::parse_questions(line, "file", answered).at(0); };
  auto const q = one(line_of("caf\xc3\xa9 au lait", "au", 5));
  CHECK(q.id == "1");
  CHECK(q.begin == 6);
  CHECK(q.answers == strings{"au"});
  CHECK(one(line_of("the few", "", 0)).answers.empty());
  CHECK(one(R"({"question": "a", "context": "b"})", false).context == "b");
  auto const refused = [&](std::string const& line, std::string const& message) { CHECK_THROWS_WITH(one(line), Catch::StartsWith("file:1: ") && Catch::Contains(message)); };
  refused("[]", "no JSON object with question and context");
  refused(R"({"question": "a", "context": "b"})", "answers are missing");
  refused(R"({"question": "", "context": "b"})", "question is missing, empty or no string");
  refused(R"({"question": "a", "context": "b", "answer": 1})", "the key 'answer' is not known");
  refused(R"({"question": "a", "context": "b", "answers": {"text": ["b"], "answer_start": []}})", "lists of one length");
  refused(R"({"question": "a", "context": "b", "answers": {"text": ["b"], "answer_start": [7]}})", "does not stand at character 7");
  CHECK_THROWS_WITH(bert::parse_questions("", "file", true), "file: no questions, the file is empty");
}

TEST_CASE("an answer's tokens are those that it touches, and its text what stands there", "[answer]") {
  auto const words = tx::text::tokenizer::load(TX_TEST_DIR "/../parity/data/folder");
  auto const q = bert::parse_questions(line_of("the counting words", "counting words", 4), "file", true).at(0);
  auto const parts = bert::encode(q, words, 30);
  REQUIRE(parts.size() == 1);
  auto const& whole = parts[0];
  CHECK(whole.text.ids == words.encode("numbers", "the counting words").ids);  // [CLS] numbers [SEP] the counting words [SEP]
  CHECK(whole.context == 3);
  CHECK(whole.end == 6);
  CHECK(whole.first == 4);
  CHECK(whole.last == 5);
  auto const two = bert::encode(q, words, 6);  // of the context "the counting" and "counting words"
  REQUIRE(two.size() == 2);
  CHECK(two[0].text.ids == words.encode("numbers", "the counting").ids);
  CHECK(two[0].last == 0);
  CHECK(two[1].text.ids == words.encode("numbers", "counting words").ids);
  CHECK(two[1].first == 3);
  CHECK(two[1].last == 4);
  auto const three = bert::encode(q, words, 5);  // a word at a time: none has the whole answer
  REQUIRE(three.size() == 3);
  for (auto const& part : three) CHECK(part.last == 0);

  std::vector<float> logits(14, 0.0f);
  logits[2 * 4] = 3, logits[2 * 4 + 1] = 1, logits[2 * 5 + 1] = 2;
  CHECK(bert::told_answer(q, parts, logits, false) == "counting words");
  logits[2 * 3 + 1] = 9;  // an end before its beginning is none
  CHECK(bert::told_answer(q, parts, logits, false) == "the");
  logits[0] = 20;  // the text's first token: no answer
  CHECK(bert::told_answer(q, parts, logits, false) == "");
  CHECK(bert::told_answer(q, parts, logits, true) == "the");

  std::vector<float> of_two(24, 0.0f);  // [CLS] numbers [SEP] the counting [SEP], then [CLS] numbers [SEP] counting words [SEP]
  of_two[0] = 9;                        // none in the first part,
  of_two[2 * (6 + 3)] = 2, of_two[2 * (6 + 4) + 1] = 2;  // but in the second
  CHECK(bert::told_answer(q, two, of_two, false) == "counting words");
  of_two[2 * 6] = 9;
  CHECK(bert::told_answer(q, two, of_two, false) == "");
}

TEST_CASE("a long context is read in parts that overlap", "[answer]") {
  auto const words = tx::text::tokenizer::load(TX_TEST_DIR "/../parity/data/folder");
  std::string context;
  for (int i = 0; i < 900; ++i) context += i % 7 == 3 ? "words " : i % 2 != 0 ? "the " : "count ";
  auto const q = bert::parse_questions(line_of(context, "words", context.find("words", 3000)), "file", true).at(0);
  auto const all = words.encode("numbers", context, {.ranges = true});
  auto const parts = bert::encode(q, words, 304);  // 300 of the context, of which 128 stand in the part before
  std::size_t from = 0, answers = 0;
  for (auto const& part : parts) {
    REQUIRE(part.text.ids.size() <= 304);
    CHECK(std::equal(part.text.ids.begin() + part.context, part.text.ids.begin() + part.end, all.ids.begin() + 3 + static_cast<std::ptrdiff_t>(from)));
    from += 300 - 128;
    if (part.last == 0) continue;
    ++answers;
    auto const r = part.text.ranges[static_cast<std::size_t>(part.first)];
    CHECK(r.begin == q.begin);
    CHECK(part.text.ranges[static_cast<std::size_t>(part.last)].end == q.begin + 5);
  }
  CHECK(parts.size() == 5);  // (900 - 300) / 172, and one
  CHECK(parts.back().end - parts.back().context == 900 - 4 * 172);
  CHECK(answers >= 1);
}

TEST_CASE("a question that leaves a long context little room is refused", "[answer]") {
  auto const words = tx::text::tokenizer::load(TX_TEST_DIR "/../parity/data/folder");
  auto const asked = [&](int words_of_question, int words_of_context) {
    std::string question, context;
    for (int i = 0; i < words_of_question; ++i) question += "count ";
    for (int i = 0; i < words_of_context; ++i) context += "the ";
    return bert::encode(bert::parse_questions(nlohmann::json{{"question", question}, {"context", context}}.dump(), "file", false).at(0), words, 384);
  };
  CHECK(asked(380, 1).size() == 1);
  CHECK(asked(380, 5).size() == 5);
  CHECK(asked(300, 900).size() > 10);
  CHECK_THROWS_WITH(asked(380, 9000), Catch::StartsWith("file:1: the question leaves room for 1 tokens of its context, which has 9000 and would be read in 9000 parts. FIX: "));
}

TEST_CASE("a context has all its tokens, also those that are nothing but spaces", "[answer]") {
  auto const words = tx::text::tokenizer::load(TX_TEST_DIR "/../text/tokenizers/roberta.json");
  auto const q = bert::parse_questions(line_of("one  two  three", "one", 0), "file", true).at(0);
  auto const parts = bert::encode(q, words, 64);
  REQUIRE(parts.size() == 1);
  auto const& coded = parts[0];
  auto const text_of = [&](int from, int to) {
    return q.context.substr(coded.text.ranges[static_cast<std::size_t>(from)].begin, coded.text.ranges[static_cast<std::size_t>(to)].end - coded.text.ranges[static_cast<std::size_t>(from)].begin);
  };
  CHECK(text_of(coded.context, coded.end - 1) == "one  two  three");
  CHECK(coded.end == static_cast<int>(coded.text.ids.size()) - 1);  // </s> behind it
  REQUIRE(coded.first >= coded.context);
  CHECK(text_of(coded.first, coded.last) == "one");
  CHECK_THROWS_WITH(bert::encode(q, words, 5), Catch::StartsWith("file:1: the question leaves no room for its context among 5 tokens. FIX: "));
}

TEST_CASE("answers are compared as SQuAD compares them", "[answer]") {
  auto const of = [](std::string const& told, strings const& answers) { return bert::scores_of(told, answers); };
  CHECK(of("The Beatles!", {"beatles"}).exact == 1);
  CHECK(of("the old few", {"few", "old few words"}).exact == 0);
  CHECK(of("the old few", {"few", "old few words"}).f1 == Approx(0.8));  // two of two words and two of three
  CHECK(of("few few", {"few words"}).f1 == Approx(0.5));
  CHECK(of("", {}).exact == 1);
  CHECK(of("few", {}).f1 == 0);
  CHECK(of("", {"few"}).f1 == 0);
  CHECK(of("a", {"the"}).exact == 1);  // both nothing
}
