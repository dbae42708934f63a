-- Ids ascend with time, so only the smallest are looked at; published_at needs no index.
DELETE FROM event_log
WHERE id IN (
    SELECT oldest.id FROM (SELECT id, published_at FROM event_log ORDER BY id LIMIT $2) AS oldest
    WHERE oldest.published_at < $1
)
