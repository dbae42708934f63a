-- name: outbox_deadline_move
-- Moves the claims of rows that a projector is writing; 0 is no claim.
UPDATE document_outbox SET claimed_until = claimed_until + $1 WHERE claimed_until > 0

-- name: outbox_discard
DELETE FROM document_outbox WHERE id IN (SELECT id FROM document_outbox ORDER BY id LIMIT $1) RETURNING entity, ids

-- name: outbox_insert
INSERT INTO document_outbox (id, entity, ids, dead, created_at)
SELECT r.id, r.entity, r.ids, r.dead, r.created_at
FROM @rows($1: id text, entity text, ids text, dead text, created_at int) AS r

-- name: outbox_pending
SELECT entity, ids FROM document_outbox ORDER BY id LIMIT $1

-- name: outbox_position
SELECT created_at FROM document_outbox ORDER BY id LIMIT 1

-- name: tombstone_purge
DELETE FROM document_tombstone
WHERE id IN (SELECT id FROM document_tombstone WHERE deleted_at < $1 ORDER BY id LIMIT $2)

-- name: tombstone_put
INSERT INTO document_tombstone (id, entity, dead, deleted_at)
SELECT r.id, r.entity, r.dead, r.deleted_at
FROM @rows($1: id text, entity text, dead text, deleted_at int) AS r

-- name: tombstone_select
SELECT dead FROM document_tombstone WHERE entity = $1
