-- Other relays pass over the rows that this one has locked. The CTE is what keeps LIMIT from being evaluated per row.
-- The array keeps PostgreSQL on the index: its estimate of a table that is filled and emptied all day is of no use.
WITH due AS MATERIALIZED (
    SELECT id FROM outbox_events WHERE available_at <= $1 ORDER BY id LIMIT $2 /*pg: FOR UPDATE SKIP LOCKED*/
)
DELETE FROM outbox_events WHERE id /*pg: = ANY (ARRAY(SELECT id FROM due)) *//*sqlite: IN (SELECT id FROM due) */
RETURNING id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
          available_at, attempts
