-- fragment: visible
n.audience /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */
AND n.kind /*pg: = ANY ($2) *//*sqlite: IN (SELECT id FROM @rows($2: id text)) */
AND NOT EXISTS (SELECT 1 FROM notice_choice c WHERE c.reader = $3 AND c.kind = n.kind AND c.bell = 0)

-- name: notice_list
SELECT n.id, n.audience, n.kind, n.event_id, n.branch_id, n.order_id, n.data, n.created_at,
       CASE WHEN EXISTS (SELECT 1 FROM notice_read r WHERE r.reader = $3 AND r.notice_id = n.id) THEN 1 ELSE 0 END
FROM notice n
WHERE @visible AND ($4 = '' OR n.id < $4)
ORDER BY n.id DESC
LIMIT $5

-- name: notice_state
-- Counts up to $4 unread notices, so that the cost is bounded, and the unread ones among the newest $5.
SELECT COALESCE((SELECT max(n.id) FROM notice n WHERE @visible), ''),
       (SELECT count(*) FROM (
           SELECT 1 FROM notice n
           WHERE @visible AND NOT EXISTS (SELECT 1 FROM notice_read r WHERE r.reader = $3 AND r.notice_id = n.id)
           LIMIT $4
       ) AS unread),
       (SELECT count(*)
        FROM (SELECT n.id FROM notice n WHERE @visible ORDER BY n.id DESC LIMIT $5) AS listed
        WHERE NOT EXISTS (SELECT 1 FROM notice_read r WHERE r.reader = $3 AND r.notice_id = listed.id))

-- name: notice_seen
SELECT count(*) FROM notice n WHERE @visible AND n.id = $4

-- name: notice_read_one
INSERT INTO notice_read (reader, notice_id, read_at) VALUES ($1, $2, $3) ON CONFLICT (reader, notice_id) DO NOTHING

-- name: notice_read_all
INSERT INTO notice_read (reader, notice_id, read_at)
SELECT CAST($3 AS TEXT), n.id, CAST($5 AS BIGINT)
FROM notice n
WHERE @visible AND n.id <= $4
ON CONFLICT (reader, notice_id) DO NOTHING

-- name: notice_insert
INSERT INTO notice (id, audience, kind, event_id, branch_id, order_id, data, created_at)
SELECT r.id, r.audience, r.kind, r.event_id, r.branch_id, r.order_id, r.data, r.created_at
FROM @rows($1: id text, audience text, kind text, event_id text, branch_id int, order_id text, data text, created_at int) AS r
WHERE true
ON CONFLICT (audience, event_id) DO NOTHING
RETURNING id

-- name: notice_orders
SELECT o.id, o.number, o.kind, COALESCE(o.user_id, 0), COALESCE(o.visit_id, ''),
       CASE WHEN o.payment_status IN ('REFUND_DUE', 'REFUNDED') THEN 1 ELSE 0 END
FROM order_info o
WHERE o.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */

-- name: notice_items
SELECT r.event_id, s.name
FROM @rows($1: event_id text, branch_id int, sku text) AS r
JOIN stock_item s ON s.branch_id = r.branch_id AND s.sku = r.sku

-- name: notice_purge
DELETE FROM notice WHERE created_at < $1

-- name: notice_purge_staff
DELETE FROM notice WHERE created_at < $1 AND audience LIKE 'b%'

-- name: notice_purge_reads
DELETE FROM notice_read WHERE read_at < $1

-- name: choice_list
SELECT kind, bell, push FROM notice_choice WHERE reader = $1

-- name: choice_put
INSERT INTO notice_choice (reader, kind, bell, push, updated_at)
SELECT CAST($1 AS TEXT), r.kind, r.bell, r.push, CAST($3 AS BIGINT) FROM @rows($2: kind text, bell int, push int) AS r
WHERE true
ON CONFLICT (reader, kind) DO UPDATE SET bell = excluded.bell, push = excluded.push, updated_at = excluded.updated_at

-- name: choice_purge_guests
DELETE FROM notice_choice WHERE updated_at < $1 AND reader LIKE 'g%'
