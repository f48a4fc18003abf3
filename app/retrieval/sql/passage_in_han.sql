-- in:    `ch` is a row of chunks; {share}: bytes beyond one per character from which on a text is in Han
-- out:   the condition on passages in the other script than that of a question which is not in Han
-- index: none
AND (octet_length(ch.text) - length(ch.text)) > {share} * length(ch.text)
