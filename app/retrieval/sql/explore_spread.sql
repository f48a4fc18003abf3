-- in:    {row}: an id of the row
-- out:   sixteen groups of rows
-- index: none
GROUP BY get_byte(uuid_send({row}), 15) % 16
