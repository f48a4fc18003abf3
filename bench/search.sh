#!/usr/bin/env bash
# Level search on the seven labelled sets beside the project, every baseline in the same run.
# usage: bench/search.sh [DATA] [OUT]     then: bench/tables.py OUT
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:-../shared/data}
out=${2:-bench/out}
mkdir -p "$out"
levels=(--level search --level rrf --level bm25 --level dense)
run() { # name, folder, further options
    local name=$1 folder=$2
    shift 2
    "${MINDCONE:-.venv/bin/mindcone}" eval "$data/$folder" "${levels[@]}" --vs bm25 "$@" \
        --json "$out/$name.json" --run "$out/$name.trec" >/dev/null
    echo "$name done"
}
run evolving_events evolving_events
run hotpotqa hotpotqa_train100
run 2wiki 2wiki_dev
run musique musique_dev
run locomo_turns locomo_dev/turns --where conv
run netoperatorqa_zh netoperatorqa_zh
run cmrc2018_zh cmrc2018_zh
