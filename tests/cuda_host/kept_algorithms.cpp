// Which algorithm of a library is taken for a product, and the file that says so to the next process.
#include <tx/backends/device/kept_algorithms.hpp>
#include <tx/backends/device/measured_products.hpp>

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace {

namespace device = tx::backends::device;
namespace fs = std::filesystem;

// A file that is not there yet, and is gone afterwards.
struct file {
  fs::path folder = fs::temp_directory_path() / ("tx_kept_algorithms_" + std::to_string(::getpid()));
  std::string name = (folder / "algorithms").string();
  file() {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  file(file const&) = delete;
  file& operator=(file const&) = delete;
  ~file() { fs::remove_all(folder); }

  std::string text() const {
    std::ifstream in(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> lines() const {
    std::ifstream in(name);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  void write(std::string const& what) const { std::ofstream(name, std::ios::binary) << what; }
};

device::algorithm_bytes numbered(int n) {
  device::algorithm_bytes a{};
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<unsigned char>(static_cast<std::size_t>(n) + 37 * i);
  return a;
}
bool any(device::algorithm_bytes const&) { return true; }
std::optional<device::kept_algorithms::measured> never() {
  FAIL("a shape that is kept is measured");
  return {};
}
auto finds(int n) {
  return [n]() -> std::optional<device::kept_algorithms::measured> { return device::kept_algorithms::measured{numbered(n), 1e-6 * n}; };
}

constexpr device::library_key some{.type = tx::dtype::bf16, .to_type = tx::dtype::f32, .tf32 = false, .rows = 128, .cols = 768, .depth = 3072, .right = {false, 768, 0}, .left = {true, 128, 0},
                                   .added = {false, 768, 0}, .to = {false, 768, 0}, .adds = true, .adds_row = true, .next_row = 5, .batch = 1, .alignment = 16, .scales = false};

}  // namespace

TEST_CASE("The fastest algorithm is taken, by a clock that is none") {
  int asked = 0;
  auto const took = [&](std::vector<double> all) {
    return device::fastest(static_cast<int>(all.size()), [&, all](int i) {
      ++asked;
      return all[static_cast<std::size_t>(i)];
    });
  };
  auto const best = took({5e-3, 4e-3, 2e-3, 3e-3});
  CHECK(best.number == 2);
  CHECK(best.seconds == 2e-3);
  CHECK(asked == 4 * 4);
  CHECK(took({3.0e-3, 2.96e-3}).number == 0);  // no more than noise
  CHECK(took({3.0e-3, 2.9e-3}).number == 1);
  CHECK(took({-1, 7, 6, -1}).number == 2);  // that do not run
  CHECK(took({-1, -1}).number == -1);
  CHECK(took({}).number == -1);
}

TEST_CASE("An algorithm's first run is not counted, and of others the shortest") {
  // The first way is slow only when it runs for the first time, the second has one quiet moment, in which it is still slower.
  std::vector<std::vector<double>> const times{{9, 2, 3, 5}, {1, 4, 4, 2.5}};
  std::vector<std::size_t> at(2, 0);
  auto const best = device::fastest(2, [&](int i) { return times[static_cast<std::size_t>(i)][at[static_cast<std::size_t>(i)]++]; });
  CHECK(best.number == 0);
  CHECK(best.seconds == 2);
  // One that fails later on is none.
  int runs = 0;
  CHECK(device::fastest(2, [&](int i) { return i == 1 && ++runs == 3 ? -1.0 : i == 1 ? 1.0 : 2.0; }).number == 0);
}

TEST_CASE("All that a shape is told apart by is in its name") {
  std::set<std::string> names{some.text()};
  auto const other = [&](auto const& change) {
    device::library_key s = some;
    change(s);
    CHECK(names.insert(s.text()).second);
    CHECK(s.text().find_first_of("\t\n") == std::string::npos);
  };
  using shape = device::library_key;
  other([](shape& s) { s.type = tx::dtype::f16; });
  other([](shape& s) { s.to_type = tx::dtype::bf16; });
  other([](shape& s) { s.tf32 = true; });
  for (std::int64_t shape::*number : {&shape::rows, &shape::cols, &shape::depth, &shape::next_row}) other([&](shape& s) { ++(s.*number); });
  for (device::matrix_shape shape::*matrix : {&shape::right, &shape::left, &shape::added, &shape::to}) {
    other([&](shape& s) { (s.*matrix).turned = !(s.*matrix).turned; });
    other([&](shape& s) { ++(s.*matrix).apart; });
    other([&](shape& s) { ++(s.*matrix).next; });
  }
  other([](shape& s) { s.adds = false; });
  other([](shape& s) { s.adds_row = false; });
  other([](shape& s) { s.batch = 3; });
  other([](shape& s) { s.alignment = 8; });
  other([](shape& s) { s.scales = true; });
}

TEST_CASE("Shapes with about as many rows are measured once") {
  std::set<std::string> names;
  for (std::int64_t rows = 1; rows <= 4096; ++rows) {
    device::library_key s = some;
    s.rows = rows;
    device::library_key const about = s.of_about_so_many_rows();
    CHECK(about.rows >= rows);
    CHECK(8 * (about.rows - rows) < rows + 8);
    CHECK((rows > 16 || about == s));
    names.insert(about.text());
  }
  CHECK(names.size() == 16 + 8 * 8);
}

TEST_CASE("What was measured is there for the next process, on the same machine") {
  file f;
  {
    device::kept_algorithms here(f.name, "H100, library 13");
    CHECK(here.of(some.text(), any, finds(7)) == numbered(7));
    CHECK(here.of("another", any, finds(8)) == numbered(8));
    CHECK(here.of(some.text(), any, never) == numbered(7));
  }
  CHECK(f.lines().size() == 3);
  CHECK(f.lines()[0] + "\n" == device::kept_algorithms::header);
  device::kept_algorithms again(f.name, "H100, library 13");
  CHECK(again.of(some.text(), any, never) == numbered(7));
  CHECK(again.of("another", any, never) == numbered(8));
  CHECK(again.damaged() == 0);
  // Another device, or another version of the library, knows nothing of it, and its lines lie beside the others.
  device::kept_algorithms elsewhere(f.name, "H200, library 13");
  CHECK(elsewhere.of(some.text(), any, finds(9)) == numbered(9));
  CHECK(f.lines().size() == 4);
  device::kept_algorithms once_more(f.name, "H100, library 13");
  CHECK(once_more.of(some.text(), any, never) == numbered(7));
}

TEST_CASE("Nothing is kept where nothing could be measured, and what the library does not accept is measured anew") {
  file f;
  auto const none = []() -> std::optional<device::kept_algorithms::measured> { return std::nullopt; };
  {
    device::kept_algorithms k(f.name, "m");
    CHECK(!k.of("shape", any, none));
    CHECK(f.text().empty());
    CHECK(k.of("shape", any, finds(1)) == numbered(1));
    auto const but_one = [](device::algorithm_bytes const& a) { return a != numbered(1); };
    CHECK(k.of("shape", but_one, finds(2)) == numbered(2));
    CHECK(k.of("shape", but_one, never) == numbered(2));
  }
  device::kept_algorithms k(f.name, "m");
  CHECK(k.of("shape", any, never) == numbered(1));  // the first that is accepted
}

TEST_CASE("Damaged lines are passed over, and what is no file of algorithms is refused") {
  file f;
  {
    device::kept_algorithms k(f.name, "m");
    k.of("a", any, finds(1));
    k.of("b", any, finds(2));
    k.of("c", any, finds(3));
  }
  std::string const whole = f.text();
  // One digit of the algorithm of b is another one.
  std::size_t const at = whole.find("\tb\t") + 10;
  std::string changed = whole;
  changed[at] = changed[at] == '0' ? '1' : '0';
  f.write(changed);
  {
    device::kept_algorithms k(f.name, "m");
    CHECK(k.damaged() == 1);
    CHECK(k.of("a", any, never) == numbered(1));
    CHECK(k.of("c", any, never) == numbered(3));
    CHECK(k.of("b", any, finds(4)) == numbered(4));
  }
  // Any end that a full disk may have given it, behind its first line: the whole lines hold, and another one is added behind.
  for (std::size_t end = device::kept_algorithms::header.size(); end < whole.size(); end += 13) {
    f.write(whole.substr(0, end));
    {
      device::kept_algorithms k(f.name, "m");
      k.of("d", any, finds(5));
      CHECK(k.of("d", any, never) == numbered(5));
    }
    device::kept_algorithms k(f.name, "m");
    CHECK(k.of("d", any, never) == numbered(5));
    CHECK(k.damaged() == (whole[end - 1] == '\n' ? 0 : 1));
    std::size_t const end_of_a = whole.find('\n', device::kept_algorithms::header.size());
    CHECK(k.of("a", any, finds(6)) == numbered(end > end_of_a ? 1 : 6));
  }
  for (char const* text : {"a model\n", "tx: algorithm of", "\n"}) {
    f.write(text);
    CHECK_THROWS_AS(device::kept_algorithms(f.name, "m"), tx::format_error);
    CHECK(f.text() == text);
  }
  // Cut within its first line, before it is opened or while it is open.
  f.write(std::string(device::kept_algorithms::header.substr(0, 7)));
  {
    device::kept_algorithms k(f.name, "m");
    CHECK(k.of("a", any, finds(1)) == numbered(1));
    fs::resize_file(f.name, 0);
    CHECK(k.of("b", any, finds(2)) == numbered(2));
    fs::resize_file(f.name, 3);
    CHECK(k.of("c", any, finds(3)) == numbered(3));
  }
  CHECK(device::kept_algorithms(f.name, "m").of("c", any, never) == numbered(3));
  CHECK_THROWS_AS(device::kept_algorithms((f.folder / "no folder" / "file").string(), "m"), tx::io_error);
}

TEST_CASE("Processes that share a file have the same algorithms") {
  file f;
  constexpr int processes = 4, shapes = 40;
  std::vector<pid_t> all;
  for (int p = 0; p < processes; ++p) {
    pid_t const child = ::fork();
    if (child != 0) {
      all.push_back(child);
      continue;
    }
    int wrong = 0;
    try {
      device::kept_algorithms k(f.name, "m");
      std::ofstream says(f.name + std::to_string(p));
      for (int s = 0; s < shapes; ++s) says << static_cast<int>((*k.of("shape " + std::to_string(s), any, finds(p * shapes + s)))[0]) << "\n";
    } catch (...) {
      wrong = 1;
    }
    std::_Exit(wrong);
  }
  for (pid_t const child : all) {
    int status = 1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(f.lines().size() == 1 + shapes);  // each measured once
  auto const said = [&](int p) {
    std::ifstream in(f.name + std::to_string(p));
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  CHECK(!said(0).empty());
  for (int p = 1; p < processes; ++p) CHECK(said(p) == said(0));
}

TEST_CASE("A file that may not be written is read, and nothing is measured for it") {
  if (::geteuid() == 0) return;  // who may write anything
  file f;
  {
    device::kept_algorithms k(f.name, "m");
    k.of("a", any, finds(1));
  }
  fs::permissions(f.name, fs::perms::owner_read);
  device::kept_algorithms k(f.name, "m");
  CHECK(k.of("a", any, never) == numbered(1));
  CHECK(!k.of("b", any, never));
}
