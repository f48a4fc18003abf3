-- in:    :space, :limit; {table}; {belongs}: a condition or nothing
-- out:   one number, how many vectors there are, counted no further than :limit
-- index: none; it is asked until there is a vector index, and stops early
SELECT count(*) FROM (SELECT 1 FROM {table} WHERE space_id = :space {belongs} LIMIT :limit) AS v
