INSERT INTO consumer_failure (consumer_name, message_id, attempts, last_error, failed_at)
VALUES ($1, $2, 1, $3, $4)
ON CONFLICT (consumer_name, message_id) DO UPDATE
SET attempts = consumer_failure.attempts + 1, last_error = excluded.last_error, failed_at = excluded.failed_at
RETURNING attempts
