"""Statements that count what must not be in conversations and their branches; one number each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

INVARIANTS: Final[Mapping[str, str]] = {
    "branch_of_wrong_depth": """
        SELECT count(*) FROM branches b
        WHERE b.parent_branch_id IS NOT NULL AND b.depth <> 1 + (
            SELECT max(p.depth) FROM branches p
            WHERE p.workspace_id = b.workspace_id AND (p.id = b.parent_branch_id OR p.id IN (
                SELECT f.parent_branch_id FROM branch_parents f
                WHERE f.workspace_id = b.workspace_id AND f.branch_id = b.id)))""",
    "branch_under_message_of_another": """
        SELECT (
            SELECT count(*) FROM branches b
            JOIN messages m ON m.workspace_id = b.workspace_id AND m.id = b.parent_message_id
            WHERE m.branch_id <> b.parent_branch_id OR m.conversation_id <> b.conversation_id
        ) + (
            SELECT count(*) FROM branch_parents f
            JOIN branches b ON b.workspace_id = f.workspace_id AND b.id = f.branch_id
            JOIN messages m ON m.workspace_id = f.workspace_id AND m.id = f.parent_message_id
            WHERE m.branch_id <> f.parent_branch_id OR m.conversation_id <> b.conversation_id
        )""",
    "conversation_without_first_branch": """
        SELECT count(*) FROM conversations c WHERE NOT EXISTS (
            SELECT FROM branches b
            WHERE b.workspace_id = c.workspace_id AND b.conversation_id = c.id AND b.parent_branch_id IS NULL)""",
    "branch_with_gaps": """
        SELECT count(*) FROM (
            SELECT FROM messages GROUP BY workspace_id, branch_id
            HAVING max(ordinal) <> count(*) OR min(ordinal) <> 1) AS gaps""",
    "message_under_another_place": """
        SELECT count(*) FROM messages m
        JOIN branches b ON b.workspace_id = m.workspace_id AND b.id = m.branch_id
        LEFT JOIN messages p ON p.workspace_id = m.workspace_id AND p.branch_id = m.branch_id
            AND p.ordinal = m.ordinal - 1
        WHERE m.parent_id IS DISTINCT FROM coalesce(p.id, b.parent_message_id)""",
    "message_of_another_conversation": """
        SELECT count(*) FROM messages m
        JOIN branches b ON b.workspace_id = m.workspace_id AND b.id = m.branch_id
        WHERE m.conversation_id <> b.conversation_id""",
    "conversation_with_more_messages_than_appended": """
        SELECT count(*) FROM conversations c WHERE c.appended < (
            SELECT count(*) FROM messages m WHERE m.workspace_id = c.workspace_id AND m.conversation_id = c.id)""",
    "link_between_conversations": """
        SELECT count(*) FROM branch_links l
        JOIN branches s ON s.workspace_id = l.workspace_id AND s.id = l.source_branch_id
        JOIN branches t ON t.workspace_id = l.workspace_id AND t.id = l.target_branch_id
        WHERE s.conversation_id <> l.conversation_id OR t.conversation_id <> l.conversation_id""",
    "insight_delivered_to_its_own_branch": """
        SELECT count(*) FROM insight_deliveries d
        JOIN branch_insights i ON i.workspace_id = d.workspace_id AND i.id = d.insight_id
        WHERE i.branch_id = d.branch_id""",
    "insight_delivered_by_unfinished_answer": """
        SELECT count(*) FROM insight_deliveries d
        JOIN messages m ON m.workspace_id = d.workspace_id AND m.id = d.message_id
        WHERE m.status <> 'complete' OR m.role <> 'assistant' OR m.branch_id <> d.branch_id""",
}
