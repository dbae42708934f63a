-- name: outbox_deadline_move
-- Moves the claims of rows that a projector is writing; 0 is not a claim.
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

-- name: import_advance
-- Sets the sequences after inserts with explicit ids, and never lowers them. SQLite needs no such step.
SELECT 1
/*pg: ,
  setval(pg_get_serial_sequence('role', 'id'), GREATEST((SELECT MAX(id) FROM role), pg_sequence_last_value(CAST(pg_get_serial_sequence('role', 'id') AS regclass)), 1)),
  setval(pg_get_serial_sequence('permission', 'id'), GREATEST((SELECT MAX(id) FROM permission), pg_sequence_last_value(CAST(pg_get_serial_sequence('permission', 'id') AS regclass)), 1)),
  setval(pg_get_serial_sequence('app_user', 'id'), GREATEST((SELECT MAX(id) FROM app_user), pg_sequence_last_value(CAST(pg_get_serial_sequence('app_user', 'id') AS regclass)), 1)),
  setval(pg_get_serial_sequence('category', 'id'), GREATEST((SELECT MAX(id) FROM category), pg_sequence_last_value(CAST(pg_get_serial_sequence('category', 'id') AS regclass)), 1)),
  setval(pg_get_serial_sequence('dish', 'id'), GREATEST((SELECT MAX(id) FROM dish), pg_sequence_last_value(CAST(pg_get_serial_sequence('dish', 'id') AS regclass)), 1)),
  setval(pg_get_serial_sequence('cart', 'id'), GREATEST((SELECT MAX(id) FROM cart), pg_sequence_last_value(CAST(pg_get_serial_sequence('cart', 'id') AS regclass)), 1)),
  setval(pg_get_serial_sequence('cart_detail', 'id'), GREATEST((SELECT MAX(id) FROM cart_detail), pg_sequence_last_value(CAST(pg_get_serial_sequence('cart_detail', 'id') AS regclass)), 1)) */

-- name: generation_abandon
UPDATE document_plane SET building = '', claimed_until = 0 WHERE id = 1 AND building = $1

-- name: generation_claim
-- Affects no row if the state has changed since the caller read it.
UPDATE document_plane
SET building = $2, building_server = $3, entity = $4, after_id = $5, claimed_until = $6
WHERE id = 1 AND building = $1 AND claimed_until <= $7

-- name: generation_clear
-- Also ends a rebuild, which must not continue after changes were discarded.
UPDATE document_plane SET epoch = '', building = '', entity = '', after_id = '', claimed_until = 0
WHERE id = 1 AND (epoch <> '' OR building <> '')

-- name: generation_deadline_move
UPDATE document_plane SET claimed_until = claimed_until + $1 WHERE claimed_until > 0

-- name: generation_invalidate
UPDATE document_plane SET epoch = '', building = '', claimed_until = 0 WHERE id = 1 AND epoch = $1

-- name: generation_ensure
INSERT INTO document_plane (id, epoch) VALUES (1, '') ON CONFLICT (id) DO NOTHING

-- name: generation_finish
UPDATE document_plane
SET epoch = building, server = building_server, building = '', entity = '', after_id = '', claimed_until = 0
WHERE id = 1 AND building = $1

-- name: generation_progress
UPDATE document_plane SET entity = $2, after_id = $3, claimed_until = $4
WHERE id = 1 AND building = $1

-- name: generation_select
SELECT epoch, server, building, building_server, entity, after_id, claimed_until
FROM document_plane WHERE id = 1
