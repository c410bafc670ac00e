#!/usr/bin/env bash
# Usage: check_layers.sh [ROOT]      checks the headers below ROOT/include/tx (ROOT: this project)
#        check_layers.sh --selftest  checks the checker, on trees that break each rule
set -uo pipefail

# A header includes its own layer and those to the left of it,
layers="version config core graph expr ops autodiff nn passes plan run backends step dist inspect train io text train/loop dist/net dist/device"
# but these layers, and the umbrella tx.hpp, only what is listed:
only_io="config core"
only_text="config core io"
only_loop="config core run inspect io"
only_net="config core dist"
only_device="config core run backends dist"
only_tx="config core graph expr ops autodiff nn passes plan run step dist inspect train"
# Headers of libraries, instructions and devices belong to one layer,
device='^(Eigen/|unsupported/Eigen/|[a-z0-9]*intrin\.h|arm_|cuda|cublas|cudnn|cub/|thrust/|mma\.h|hip/|hip|rocblas|nccl|rccl)'
device_layers="backends dist/device"
# and those that cost most to compile, or tie code to a host, to these.
host='^(functional|chrono|iostream|fstream|filesystem)$'
host_layers="io text train/loop dist/net dist/device"
max_lines=400

check() {  # check ROOT: prints what is wrong, a line each
  (cd "$1/include" && find tx -type f \( -name '*.hpp' -o -name '*.cuh' -o -name '*.h' \) | LC_ALL=C sort) |
    awk -v include="$1/include" -v layers="$layers" \
      -v only_io="$only_io" -v only_text="$only_text" -v only_loop="$only_loop" -v only_net="$only_net" -v only_device="$only_device" -v only_tx="$only_tx" \
      -v device="$device" -v device_layers="$device_layers" -v host="$host" -v host_layers="$host_layers" \
      -v max_lines="$max_lines" '
    # "tx/ops/add.hpp" and "tx/ops.hpp" -> "ops"; the training loop and what moves bytes between ranks, which know the host, are layers within a folder: "train/loop"
    function layer_of(path) {
      if (path ~ /^tx\/train\/loop\//) return "train/loop"
      if (path ~ /^tx\/dist\/net\//) return "dist/net"
      if (path ~ /^tx\/dist\/device\//) return "dist/device"
      sub(/^tx\//, "", path)
      sub(/[\/.].*$/, "", path)
      return path
    }
    function among(word, words) { return index(" " words " ", " " word " ") > 0 }
    function wrong(file, line, what) { printf "include/%s:%d: %s\n", file, line, what; ++errors }
    # "tx/a/../c/./d.hpp" -> "tx/c/d.hpp"
    function collapse(path) {
      gsub(/\/\.\//, "/", path)
      while (sub(/[^\/]+\/\.\.\//, "", path)) {}
      return path
    }
    function allowed(from, to) {
      if (from == "tx") return among(to, only_tx)
      if (from == "io") return to == from || among(to, only_io)
      if (from == "text") return to == from || among(to, only_text)
      if (from == "dist/net") return to == from || among(to, only_net)
      if (from == "dist/device") return to == from || among(to, only_device)
      if (from == "train/loop") return to == from || among(to, only_loop)
      return rank[to] <= rank[from]
    }
    function visit(file, line, text, quoted, name, folder, to) {
      if (!match(text, /[<"][^>"]+[>"]/)) return
      quoted = substr(text, RSTART, 1) == "\""
      name = substr(text, RSTART + 1, RLENGTH - 2)
      folder = file
      sub(/[^\/]*$/, "", folder)
      name = collapse(quoted && name !~ /^tx\// ? folder name : name)
      if (name ~ /^tx\//) {
        to = layer_of(name)
        if (name == "tx/all.hpp" && layer == "tx") return  # written by the build
        if (!(to in rank)) wrong(file, line, "includes <" name ">, which is in no layer")
        else if (!allowed(layer, to)) wrong(file, line, "layer " layer " may not include <" name "> of layer " to)
      } else if (name ~ device && !among(layer, device_layers)) {
        wrong(file, line, "<" name "> is for " device_layers " only")
      } else if (name ~ host && !among(layer, host_layers)) {
        wrong(file, line, "<" name "> is for " host_layers " only")
      }
    }
    BEGIN { n = split(layers, order, " "); for (i = 1; i <= n; ++i) rank[order[i]] = i }
    {
      file = $0
      layer = layer_of(file)
      ++files
      if (layer != "tx" && !(layer in rank)) wrong(file, 1, "is in no layer (" layers ")")
      line = 0
      while ((getline text < (include "/" file)) > 0) {
        ++line
        if (text ~ /^[ \t]*#[ \t]*include/) visit(file, line, text)
      }
      close(include "/" file)
      if (line > max_lines) wrong(file, line, "has " line " lines, more than " max_lines)
    }
    END {
      if (!files) { print "no headers below include/tx"; exit 1 }
      if (!errors) printf "layers: %d headers, nothing wrong\n", files
      exit errors > 0
    }'
}

selftest() {
  local failed=0
  tree=$(mktemp -d)
  trap 'rm -rf "$tree"' EXIT
  try() {  # try WANTED-TEXT FILE LINE...: a tree with this one header besides a right one
    local wanted=$1 file=$tree/include/tx/$2
    shift 2
    rm -rf "$tree/include"
    mkdir -p "$tree/include/tx/core" "$(dirname "$file")"
    echo '#include <tx/config.hpp>' >"$tree/include/tx/core/right.hpp"
    printf '%s\n' "$@" >"$file"
    local said status=0 clean=0
    said=$(check "$tree") || status=$?
    [ "$wanted" = "nothing wrong" ] || clean=1
    if [ "$status" != $clean ] || [[ $said != *"$wanted"* ]]; then
      printf 'FAILED: %s\n  wanted: %s\n  said: %s\n' "${file#"$tree"/}" "$wanted" "$said"
      failed=1
    fi
  }
  try "nothing wrong" ops/add.hpp '#include <tx/expr/tensor.hpp>' '#include "mul.hpp"' '#include <vector>'
  try "nothing wrong" config.hpp '#include <tx/version.hpp>'
  try "layer version may not include <tx/config.hpp> of layer config" version.hpp '#include <tx/config.hpp>'
  try "nothing wrong" ops.hpp '#include <tx/ops/add.hpp>'
  try "nothing wrong" backends/cpu/simd.hpp '#include <Eigen/Core>' '#include <immintrin.h>' '#include <tx/plan/plan.hpp>'
  try "nothing wrong" io/file.hpp '#include <fstream>' '#include <nlohmann/json.hpp>' '#include "tx/core/error.hpp"'
  try "nothing wrong" text/wordpiece.hpp '#include <tx/io/file.hpp>' '#include <tx/text/utf8.hpp>'
  try "nothing wrong" tx.hpp '#include <tx/core/dtype.hpp>' '#include <tx/train/step.hpp>'
  try "nothing wrong" train/loop/loop.hpp '#include <chrono>' '#include <tx/io/file.hpp>' '#include <tx/run/executor.hpp>' '#include "every.hpp"'
  try "layer train/loop may not include <tx/nn/bert.hpp> of layer nn" train/loop/loop.hpp '#include <tx/nn/bert.hpp>'
  try "layer train may not include <tx/train/loop/loop.hpp> of layer train/loop" train/step.hpp '#include <tx/train/loop/loop.hpp>'
  try "nothing wrong" dist/net/sockets.hpp '#include <chrono>' '#include <tx/dist/communicator.hpp>'
  try "layer dist/net may not include <tx/run/executor.hpp> of layer run" dist/net/sockets.hpp '#include <tx/run/executor.hpp>'
  try "layer dist may not include <tx/dist/net/sockets.hpp> of layer dist/net" dist/local.hpp '#include <tx/dist/net/sockets.hpp>'
  try "layer train may not include <tx/io/file.hpp> of layer io" train/step.hpp '#include <tx/io/file.hpp>'
  try "layer tx may not include <tx/train/loop/loop.hpp> of layer train/loop" tx.hpp '#include <tx/train/loop/loop.hpp>'
  try "layer graph may not include <tx/ops/add.hpp> of layer ops" graph/node.hpp '#include <tx/ops/add.hpp>'
  try "layer core may not include <tx/ops/add.hpp> of layer ops" core/shape.hpp '  #  include "../ops/add.hpp"'
  try "layer core may not include <tx/ops/add.hpp>" core/shape.hpp '' '#include <tx/core/../ops/add.hpp>'
  try "layer io may not include <tx/graph/node.hpp> of layer graph" io/file.hpp '#include <tx/graph/node.hpp>'
  try "layer text may not include <tx/nn/bert.hpp> of layer nn" text/utf8.hpp '#include <tx/nn/bert.hpp>'
  try "layer io may not include <tx/text/utf8.hpp> of layer text" io/file.hpp '#include <tx/text/utf8.hpp>'
  try "layer tx may not include <tx/io/file.hpp> of layer io" tx.hpp '#include <tx/io/file.hpp>'
  try "layer tx may not include <tx/backends/cpu.hpp> of layer backends" tx.hpp '#include <tx/backends/cpu.hpp>'
  try "<tx/extra/a.hpp>, which is in no layer" core/shape.hpp '#include <tx/extra/a.hpp>'
  try "include/tx/extra/a.hpp:1: is in no layer" extra/a.hpp ''
  try "include/tx/nn/linear.hpp:2: <Eigen/Core> is for backends dist/device only" nn/linear.hpp '' '#include <Eigen/Core>'
  try "<immintrin.h> is for backends dist/device only" core/dtype.hpp '#include <immintrin.h>'
  try "<cuda_runtime.h> is for backends dist/device only" plan/plan.hpp '#include <cuda_runtime.h>'
  for name in functional chrono iostream fstream filesystem; do
    try "<$name> is for io text train/loop dist/net dist/device only" train/step.hpp "#include <$name>"
  done
  try "<chrono> is for io text train/loop dist/net dist/device only" backends/cpu.hpp '#include <chrono>'
  try "include/tx/ops/long.hpp:401: has 401 lines, more than 400" ops/long.hpp $(seq 401)
  try "nothing wrong" ops/long.hpp $(seq 400)
  [ $failed = 0 ] && echo "check_layers: all checks passed"
  return $failed
}

if [ "${1:-}" = --selftest ]; then
  selftest
else
  check "${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}"
fi
