INSERT INTO consumer_dedupe (consumer_name, message_id, processed_at)
SELECT $2, r.id, $3 FROM @rows($1: id text) AS r
WHERE true
ON CONFLICT (consumer_name, message_id) DO NOTHING
RETURNING message_id
