-- name: outbox_claim
-- Other projectors pass over the rows that this one is claiming. See event/outbox/outbox_take.sql for the array.
WITH due AS MATERIALIZED (
    SELECT id FROM document_outbox WHERE claimed_until <= $1 ORDER BY id LIMIT $2 /*pg: FOR UPDATE SKIP LOCKED*/
)
UPDATE document_outbox SET claimed_until = $3, attempts = attempts + 1
WHERE id /*pg: = ANY (ARRAY(SELECT id FROM due)) *//*sqlite: IN (SELECT id FROM due) */
RETURNING id, entity, ids, dead

-- name: outbox_count
SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM document_outbox

-- name: outbox_deadline_move
-- Claims of rows that are being projected; 0 is none.
UPDATE document_outbox SET claimed_until = claimed_until + $1 WHERE claimed_until > 0

-- name: outbox_delete
-- The array keeps PostgreSQL on the index: it may have seen the table when it was empty.
DELETE FROM document_outbox WHERE id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */

-- name: outbox_due
SELECT id FROM document_outbox WHERE claimed_until <= $1 ORDER BY id LIMIT 1

-- name: outbox_insert
INSERT INTO document_outbox (id, entity, ids, dead, created_at)
SELECT r.id, r.entity, r.ids, r.dead, r.created_at
FROM @rows($1: id text, entity text, ids text, dead text, created_at int) AS r

-- name: outbox_pending
SELECT entity, ids FROM document_outbox ORDER BY id LIMIT $1

-- name: outbox_position
SELECT created_at FROM document_outbox ORDER BY id LIMIT 1

-- name: outbox_release
-- The array keeps PostgreSQL on the index: it may have seen the table when it was empty.
UPDATE document_outbox SET claimed_until = 0 WHERE id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */
