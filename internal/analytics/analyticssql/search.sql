-- name: popular_searches
SELECT v.query
FROM search_visitor v
WHERE v.branch_id = $1 AND v.seen_on >= $2
GROUP BY v.query
HAVING count(*) >= $3
ORDER BY count(*) DESC, v.query
LIMIT $4

-- name: search_days_add
-- Texts beyond a limit per branch and date are not added, so that no client fills the table.
INSERT INTO search_day (branch_id, biz_date, query, searches, missed)
SELECT r.branch_id, r.biz_date, r.query, r.searches, r.missed
FROM @rows($1: branch_id int, biz_date text, query text, searches int, missed int) AS r
WHERE (SELECT count(*) FROM search_day d WHERE d.branch_id = r.branch_id AND d.biz_date = r.biz_date) < $2
   OR EXISTS (SELECT 1 FROM search_day d
              WHERE d.branch_id = r.branch_id AND d.biz_date = r.biz_date AND d.query = r.query)
ORDER BY r.branch_id, r.query
ON CONFLICT (branch_id, biz_date, query) DO UPDATE
SET searches = search_day.searches + excluded.searches, missed = search_day.missed + excluded.missed

-- name: search_days_purge
DELETE FROM search_day WHERE biz_date < $1

-- name: search_position
SELECT p.position FROM search_position p WHERE p.log = $1 AND p.biz_date = $2

-- name: search_position_move
-- Of several transactions that move one position, the others wait for the first and then change no row.
INSERT INTO search_position (log, biz_date, position, moved_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (log, biz_date) DO UPDATE SET position = excluded.position, moved_at = excluded.moved_at
WHERE search_position.position = $5

-- name: search_positions_purge
DELETE FROM search_position WHERE moved_at <= $1

-- name: search_visitors_add
-- Only visitors of texts that were added are of use.
INSERT INTO search_visitor (branch_id, query, visitor, seen_on)
SELECT r.branch_id, r.query, r.visitor, r.seen_on
FROM @rows($1: branch_id int, query text, visitor int, seen_on text) AS r
WHERE EXISTS (SELECT 1 FROM search_day d
              WHERE d.branch_id = r.branch_id AND d.biz_date = r.seen_on AND d.query = r.query)
ORDER BY r.branch_id, r.query, r.visitor
ON CONFLICT (branch_id, query, visitor) DO UPDATE
SET seen_on = CASE WHEN excluded.seen_on > search_visitor.seen_on THEN excluded.seen_on ELSE search_visitor.seen_on END

-- name: search_visitors_purge
DELETE FROM search_visitor WHERE seen_on < $1
