-- in:    `ch` is a row of chunks; {percent}: how many bytes beyond one per character, of a hundred characters,
--        make a text in Han
-- out:   the condition on passages in the other script than that of a question which is not in Han
-- index: none
AND 100 * (octet_length(ch.text) - length(ch.text)) > {percent} * length(ch.text)
