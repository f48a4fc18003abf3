-- in:    `ch` is a row of chunks, `c` its card; {share}: bytes beyond one per character from which on a text has some Han
-- out:   the condition on passages in the other script than that of a question in Han; they are embedded with the title
-- index: none
AND (octet_length(ch.text) - length(ch.text)) <= {share} * length(ch.text)
AND (octet_length(c.title) - length(c.title)) <= {share} * length(c.title)
