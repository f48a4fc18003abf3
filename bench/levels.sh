#!/usr/bin/env bash
# Levels explore and context on the labelled sets beside the project, with every baseline in the same run.
# usage: bench/levels.sh [DATA] [OUT] [SET…]     then: bench/tables.py OUT
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:-../shared/data}
out=${2:-bench/out}
shift $(($# < 2 ? $# : 2))
only=" $* "
mkdir -p "$out"
run() { # name, folder, further options
    local name=$1 folder=$2
    shift 2
    [[ $only == "  " || $only == *" $name "* ]] || return 0
    "${MINDCONE:-.venv/bin/mindcone}" eval "$data/$folder" "$@" --level search --level dense --level bm25 --vs search \
        --json "$out/levels_$name.json" --run "$out/levels_$name.trec" >/dev/null
    echo "$name done"
}
explore=(--level explore --level hops)
context=(--level context --level published)
mflow=$data/mflow_locomo_dev
run mflow mflow_locomo_dev "${context[@]}" --where conv --by category --episodes "$mflow/episodes.jsonl" \
    --qrels "$mflow/qrels_sessions.tsv" --map "$mflow/doc_to_session.tsv"
run turns locomo_dev/turns "${context[@]}" --group conv,session --where conv --by category
run evolving_events evolving_events "${context[@]}"
run musique musique_dev "${explore[@]}" --triples "$data/musique_dev/triples.jsonl"
run musique_own musique_dev "${explore[@]}" "${context[@]}"
run 2wiki 2wiki_dev "${explore[@]}" "${context[@]}"
run 2wiki_6119 2wiki_dev "${explore[@]}" --corpus "$data/2wiki_dev/corpus_6119.jsonl"
run hotpotqa hotpotqa_train100 "${explore[@]}" "${context[@]}"
run netoperatorqa_zh netoperatorqa_zh "${explore[@]}" "${context[@]}"
