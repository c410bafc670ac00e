#include "../command_line/processes.hpp"
#include "../command_line/program.hpp"
#include "commands.hpp"
#include "engine.hpp"

namespace bert {
namespace {

constexpr char const overview[] =
    "usage: bert COMMAND [option...]\n"
    "Encoders of text in Hugging Face's folders: trained for labels, asked for them, or for vectors.\n\n"
    "  finetune  learn labels from texts, beginning with a folder's weights\n"
    "  distil    learn labels from texts and from a larger model that knows them\n"
    "  tag       learn labels of words, and tell them\n"
    "  answer    learn where in texts answers to questions stand, and find them\n"
    "  contrast  learn vectors from pairs of texts that belong together\n"
    "  pretrain  learn an encoder from texts alone: masked words, and which text follows which\n"
    "  predict   the labels of texts\n"
    "  eval      how well labels are told: accuracy, F1, correlations\n"
    "  embed     vectors of texts\n"
    "  tokens    ids of texts\n"
    "  shards    ids of texts of any size in files, for pretrain --shards\n\n"
    "bert COMMAND --help lists a command's options. Several processes, as mpirun -n 2 bert COMMAND starts them, run one command together:\n"
    "each learns from texts of its own, or looks at a part of the file; shards and tokens are for one.\n";

// A command that several processes may run together, each on a part of what there is; or of which each learns from a batch, perhaps with others.
template <auto Command, bool Learns = false>
void shared(std::span<std::string const> arguments) {
  command_line::processes all(Learns ? compiled().tuning.tensor : 1);
  all.together([&] { Command(arguments); });
}
template <auto Command>
constexpr auto learnt = shared<Command, true>;

constexpr command_line::command commands[] = {
    {"finetune", learnt<finetune_command>}, {"distil", learnt<distil_command>},     {"tag", learnt<tag_command>},      {"answer", learnt<answer_command>},
    {"contrast", learnt<contrast_command>}, {"pretrain", learnt<pretrain_command>}, {"shards", shards_command},        {"predict", shared<predict_command>},
    {"eval", shared<eval_command>},         {"embed", shared<embed_command>},       {"tokens", tokens_command}};

}  // namespace

int run_program(std::span<std::string const> arguments) { return command_line::run_program(compiled().program, called(overview), commands, arguments); }

}  // namespace bert
