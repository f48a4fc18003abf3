"""Statements that count what must not be among communities and their reports; one number each, over all workspaces.

What has changed since the last run is not wrong, but waits for the next one: such workspaces are passed over where it
matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_AT_REST: Final = "NOT EXISTS (SELECT FROM community_changes x WHERE x.workspace_id = c.workspace_id)"

INVARIANTS: Final[Mapping[str, str]] = {
    "community_without_member": """
        SELECT count(*) FROM communities c WHERE NOT EXISTS (
            SELECT FROM community_members m WHERE m.workspace_id = c.workspace_id AND m.community_id = c.id)""",
    "community_without_report": """
        SELECT count(*) FROM communities c WHERE NOT EXISTS (
            SELECT FROM reports r WHERE r.workspace_id = c.workspace_id AND r.id = c.id)""",
    "community_without_current_run": """
        SELECT count(DISTINCT c.workspace_id) FROM communities c WHERE NOT EXISTS (
            SELECT FROM community_runs r WHERE r.workspace_id = c.workspace_id AND r.is_current)""",
    "community_of_wrong_level": """
        SELECT count(*) FROM communities c
        JOIN communities p ON p.workspace_id = c.workspace_id AND p.id = c.parent_id
        WHERE c.level <> p.level + 1""",
    "member_outside_of_parent": """
        SELECT count(*) FROM communities c
        JOIN community_members m ON m.workspace_id = c.workspace_id AND m.community_id = c.id
        WHERE c.parent_id IS NOT NULL AND NOT EXISTS (
            SELECT FROM community_members o
            WHERE o.workspace_id = c.workspace_id AND o.community_id = c.parent_id AND o.entity_id = m.entity_id)""",
    "member_twice_on_a_level": """
        SELECT count(*) FROM (
            SELECT 1 FROM community_members m
            JOIN communities c ON c.workspace_id = m.workspace_id AND c.id = m.community_id
            GROUP BY m.workspace_id, m.entity_id, c.level HAVING count(*) > 1) AS d""",
    "member_merged_into_another": f"""
        SELECT count(*) FROM community_members c
        JOIN entities e ON e.workspace_id = c.workspace_id AND e.id = c.entity_id
        WHERE e.merged_into IS NOT NULL AND {_AT_REST}""",  # noqa: S608
    "community_of_another_size": f"""
        SELECT count(*) FROM communities c
        WHERE {_AT_REST} AND c.size <> (
            SELECT count(*) FROM community_members m WHERE m.workspace_id = c.workspace_id AND m.community_id = c.id)
        """,  # noqa: S608
    "report_of_other_rows": """
        SELECT count(*) FROM reports r JOIN communities c ON c.workspace_id = r.workspace_id AND c.id = r.id
        WHERE r.fingerprint <> c.fingerprint AND NOT r.is_stale""",
    # Its title and summary, and each finding.
    "report_without_vector": """
        SELECT count(*) FROM reports r JOIN embedding_spaces s ON s.is_current
        WHERE (SELECT count(*) FROM report_vectors v
               WHERE v.workspace_id = r.workspace_id AND v.owner_id = r.id AND v.space_id = s.id)
              <> 1 + jsonb_array_length(r.findings)""",
    "report_that_cites_no_card": """
        SELECT count(*) FROM reports r, jsonb_array_elements(r.findings) AS f (finding)
        WHERE jsonb_array_length(f.finding -> 'card_ids') = 0""",
}
