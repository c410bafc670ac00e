# awk -f gpu_table.awk gpu.json: what tools/gpu_check.sh has found, to be read. Lines of JSON without anything nested but lists of numbers.
function field(key, at, text) {
  at = index($0, "\"" key "\": ")
  if (at == 0) return ""
  text = substr($0, at + length(key) + 4)
  if (text ~ /^"/) { text = substr(text, 2); return substr(text, 1, index(text, "\"") - 1) }
  match(text, /^[^,}]*/)
  return substr(text, 1, RLENGTH)
}
function once(list, key) { if (!((list, key) in seen)) { seen[list, key] = 1; order[list, ++count[list]] = key } }

/^\{"device"/ { device = field("device"); print device ", driver " field("driver") ", tx " field("commit"); next }
field("kind") == "stage" { once("stage", field("name")); stage[field("name")] = (field("passed") == "true" ? "passed" : "FAILED") " in " field("seconds") " s"; next }
field("kind") == "test" { once("test", field("name")); test[field("name")] = field("result") " in " field("seconds") " s"; next }
field("kind") == "sanitized" { once("test", "compute-sanitizer " field("name")); test["compute-sanitizer " field("name")] = field("clean") == "true" ? "nothing found" : "FAILED"; next }
field("kind") == "same" {
  once("same", field("what"))
  same[field("what")] = (field("losses") == "" ? "" : "losses " (field("losses") == "true" ? "the same, " : "DIFFER, ")) "parameters " (field("parameters") == "true" ? "the same" : "DIFFER")
  next
}
field("kind") == "peer_failed" { failed[++failures] = field("peer") ", " field("at") ": " field("why"); next }
field("kind") == "trained" { trained = field("scores") " on " field("pairs"); next }
field("kind") == "step" {  # the best median of all rounds
  shape = field("model") SUBSEP field("batch") SUBSEP field("seq"); peer = field("peer")
  once("shape", shape)
  once("peer" shape, peer)
  t = field("median_s") + 0
  if (!((shape, peer) in seconds) || t < seconds[shape, peer]) seconds[shape, peer] = t
  bytes[shape, peer] = field("planned_bytes") == "" ? field("peak_bytes") : field("planned_bytes")
  if (field("start_us") != "" && (!((shape, peer) in start) || field("start_us") + 0 < start[shape, peer])) start[shape, peer] = field("start_us") + 0
  next
}
field("kind") == "roofline" {
  shape = field("model") SUBSEP field("batch") SUBSEP field("seq"); what = field("what")
  once("roof", shape)
  once("what" shape, what)
  calls[shape, what] = field("calls"); measured[shape, what] = field("measured_s"); ratio[shape, what] = field("measured_over_predicted")
  next
}
field("kind") == "fused" {
  op = field("op"); peer = field("peer"); mb = field("mb") + 0
  once("op", op); once("fusedpeer", peer); once("mb", mb)
  of_copy[op, peer, mb] = field("of_copy"); rate[op, peer, mb] = field("gb_per_s"); copy[peer, mb] = field("copy_gb_per_s")
  next
}

END {
  for (i = 1; i <= count["stage"]; ++i) printf "%-10s %s\n", order["stage", i], stage[order["stage", i]]
  if (count["test"] > 0) print "\nTests"
  for (i = 1; i <= count["test"]; ++i) printf "  %-36s %s\n", order["test", i], test[order["test", i]]
  if (count["same"] > 0) print "\nTwo trainings from one seed"
  for (i = 1; i <= count["same"]; ++i) printf "  %-36s %s\n", order["same", i], same[order["same", i]]

  if (count["shape"] > 0) print "\nTraining steps in bf16, the best median of all rounds (asked for: 1.3 times the best other in 0.6 of its memory, a start in 50 us)"
  for (i = 1; i <= count["shape"]; ++i) {
    shape = order["shape", i]
    split(shape, part, SUBSEP)
    ours = best = ""
    for (k = 1; k <= count["peer" shape]; ++k) {
      peer = order["peer" shape, k]
      printf "  %-6s %4d x %-4d %-14s %8.2f ms %9.0f tokens/s %7.2f GB", part[1], part[2], part[3], peer, 1000 * seconds[shape, peer], part[2] * part[3] / seconds[shape, peer], bytes[shape, peer] / 1e9
      if ((shape, peer) in start) printf ", started in %.1f us%s", start[shape, peer], (start[shape, peer] > 50 ? " (MORE)" : "")
      print ""
      if (peer == "tx-e4m3") continue  # nobody else's products are of such
      if (peer ~ /^tx/) { if (ours == "" || seconds[shape, peer] < seconds[shape, ours]) ours = peer }
      else if (best == "" || seconds[shape, peer] < seconds[shape, best]) best = peer
    }
    if (ours != "" && best != "")
      printf "  %s over %s: %.2f times as fast%s in %.2f of its memory%s\n", ours, best, seconds[shape, best] / seconds[shape, ours], (seconds[shape, best] / seconds[shape, ours] < 1.3 ? " (LESS)" : ""),
        bytes[shape, ours] / bytes[shape, best], (bytes[shape, ours] / bytes[shape, best] > 0.6 ? " (MORE)" : "")
  }

  if (count["roof"] > 0) print "\nKinds of kernels, ms of a step, and times what was predicted (asked for: 0.8 to 1.2)"
  for (i = 1; i <= count["roof"]; ++i) {
    shape = order["roof", i]
    split(shape, part, SUBSEP)
    for (k = 1; k <= count["what" shape]; ++k) {
      what = order["what" shape, k]
      r = ratio[shape, what]
      printf "  %-6s %4d x %-4d %-16s %5d calls %9.3f ms %s\n", part[1], part[2], part[3], what, calls[shape, what], 1000 * measured[shape, what], r == "" ? "(no rates of this device are known)" : r (r < 0.8 || r > 1.2 ? " (OFF)" : "")
    }
  }

  if (count["op"] > 0) {
    printf "\nFused rows: bytes a second that must be moved, of a copy's within the device (asked for: 0.9 from 64 MB on)\n  %-38s %-14s", "", ""
    for (k = 1; k <= count["mb"]; ++k) printf "%9s", order["mb", k] " MB"
    print ""
    for (p = 1; p <= count["fusedpeer"]; ++p) {
      printf "  %-38s %-14s", "copy, GB/s", order["fusedpeer", p]
      for (k = 1; k <= count["mb"]; ++k) printf "%9s", copy[order["fusedpeer", p], order["mb", k]]
      print ""
    }
    for (i = 1; i <= count["op"]; ++i)
      for (p = 1; p <= count["fusedpeer"]; ++p) {
        op = order["op", i]; peer = order["fusedpeer", p]
        printf "  %-38s %-14s", op, peer
        for (k = 1; k <= count["mb"]; ++k) {
          mb = order["mb", k]
          r = of_copy[op, peer, mb]
          printf "%9s", r == "" ? "-" : r (peer == "tx" && mb >= 64 && r < 0.9 ? "!" : "")
          if (peer == "tx" && mb >= 64 && r != "") { ++all; if (r >= 0.9) ++reached }
        }
        print ""
      }
    printf "  tx reaches 0.9 in %d of %d from 64 MB on\n", reached, all
  }
  if (failures > 0) print "\nWhat others could not do"
  for (i = 1; i <= failures; ++i) print "  " failed[i]
  if (trained != "") print "\nTwinBERT trained on the device: " trained
}
