-- name: dedupe_insert
INSERT INTO consumer_dedupe (consumer_name, message_id, processed_at)
SELECT $2, r.id, $3 FROM @rows($1: id text) AS r
WHERE true
ON CONFLICT (consumer_name, message_id) DO NOTHING
RETURNING message_id

-- name: dedupe_purge
DELETE FROM consumer_dedupe
WHERE (consumer_name, message_id) IN (
    SELECT consumer_name, message_id FROM consumer_dedupe WHERE processed_at < $1 ORDER BY processed_at LIMIT $2
)

-- name: failure_count
INSERT INTO consumer_failure (consumer_name, message_id, attempts, last_error, failed_at)
VALUES ($1, $2, 1, $3, $4)
ON CONFLICT (consumer_name, message_id) DO UPDATE
SET attempts = consumer_failure.attempts + 1, last_error = excluded.last_error, failed_at = excluded.failed_at
RETURNING attempts

-- name: failure_purge
DELETE FROM consumer_failure WHERE failed_at < $1
