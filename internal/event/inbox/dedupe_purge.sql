DELETE FROM consumer_dedupe
WHERE (consumer_name, message_id) IN (
    SELECT consumer_name, message_id FROM consumer_dedupe WHERE processed_at < $1 ORDER BY processed_at LIMIT $2
)
