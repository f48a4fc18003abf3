-- in:    `ch` is a row of chunks, `c` its card; {percent}: how many bytes beyond one per character, of a hundred characters,
--        make a text one with some Han
-- out:   the condition on passages in the other script than that of a question in Han; they are embedded with the title
-- index: none
AND 100 * (octet_length(ch.text) - length(ch.text)) <= {percent} * length(ch.text)
AND 100 * (octet_length(c.title) - length(c.title)) <= {percent} * length(c.title)
