-- in:    $1 workspace, $16 cards that are at hand where it is asked, those that were cited last first
-- out:   rows (leg, episode_id, rank) of one more leg: their episodes come before all that is found, for $7 + rank is small
-- index: ix_episode_cards_card_id
    UNION ALL
    SELECT 20, ec.episode_id, at_hand.rank - $7::int
    FROM unnest($16::uuid[]) WITH ORDINALITY AS at_hand (card_id, rank)
    JOIN episode_cards ec ON ec.workspace_id = $1 AND ec.card_id = at_hand.card_id
