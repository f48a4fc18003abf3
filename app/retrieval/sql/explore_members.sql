-- in:    $1 workspace; {row}: an entity that survived
-- out:   ids of all that stand for it: itself, what was merged into it, and its twins: what has the same name and is
--        only taken for another kind of thing. Senses, which only people make, stay apart
-- index: pk_entities, uq_entities_key, ix_entities_merged_into
SELECT {row} AS id
UNION
SELECT twin.id
FROM entities self
JOIN entities twin ON twin.workspace_id = $1 AND twin.key = self.key AND twin.sense = self.sense
WHERE self.workspace_id = $1 AND self.id = {row}
UNION
SELECT e.id FROM entities e WHERE e.workspace_id = $1 AND e.merged_into = {row}
