-- Other projectors pass over the rows that this one is claiming. See event/outbox/outbox_take.sql for the array.
WITH due AS MATERIALIZED (
    SELECT id FROM document_outbox WHERE claimed_until <= $1 ORDER BY id LIMIT $2 /*pg: FOR UPDATE SKIP LOCKED*/
)
UPDATE document_outbox SET claimed_until = $3, attempts = attempts + 1
WHERE id /*pg: = ANY (ARRAY(SELECT id FROM due)) *//*sqlite: IN (SELECT id FROM due) */
RETURNING id, entity, ids, dead
