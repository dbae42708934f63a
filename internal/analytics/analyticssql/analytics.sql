-- name: batch_enter
-- Of several transactions with one id, the others wait for the first and then change no row.
INSERT INTO view_batch (id, added_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING

-- name: batch_purge
DELETE FROM view_batch WHERE added_at <= $1

-- name: branch_ids
SELECT id FROM branch ORDER BY id

-- name: cart_starts_add
INSERT INTO cart_start (visit_id, branch_id, biz_date)
SELECT r.visit_id, r.branch_id, r.biz_date
FROM @rows($1: visit_id text, branch_id int, biz_date text) AS r
WHERE true
ORDER BY r.visit_id
ON CONFLICT (visit_id) DO NOTHING

-- name: dish_views_add
INSERT INTO dish_view (branch_id, biz_date, dish_id, viewed, added)
SELECT r.branch_id, r.biz_date, r.dish_id, r.viewed, r.added
FROM @rows($1: branch_id int, biz_date text, dish_id int, viewed int, added int) AS r
WHERE true
ORDER BY r.dish_id
ON CONFLICT (branch_id, biz_date, dish_id) DO UPDATE
SET viewed = dish_view.viewed + excluded.viewed, added = dish_view.added + excluded.added

-- name: history_clear
INSERT INTO member_history (user_id, cleared_at) VALUES ($1, $2)
ON CONFLICT (user_id) DO UPDATE SET cleared_at = excluded.cleared_at

-- name: member_views_add
-- Views from before the history began are not added, see member_history.
INSERT INTO member_view (user_id, dish_id, viewed, viewed_at)
SELECT r.user_id, r.dish_id, r.viewed, r.viewed_at
FROM @rows($1: user_id int, dish_id int, viewed int, viewed_at int) AS r
WHERE NOT EXISTS (SELECT 1 FROM member_history h WHERE h.user_id = r.user_id AND h.cleared_at >= r.viewed_at)
ORDER BY r.user_id, r.dish_id
ON CONFLICT (user_id, dish_id) DO UPDATE
SET viewed = member_view.viewed + excluded.viewed,
    viewed_at = CASE WHEN excluded.viewed_at > member_view.viewed_at THEN excluded.viewed_at ELSE member_view.viewed_at END

-- name: member_views_delete
DELETE FROM member_view WHERE user_id = $1

-- name: member_views_purge
DELETE FROM member_view
WHERE viewed_at <= $1 OR EXISTS (
    SELECT 1 FROM member_history h WHERE h.user_id = member_view.user_id AND h.cleared_at >= member_view.viewed_at)

-- name: page_views_add
INSERT INTO page_view (branch_id, biz_date, page, opened)
SELECT r.branch_id, r.biz_date, r.page, r.opened
FROM @rows($1: branch_id int, biz_date text, page text, opened int) AS r
WHERE true
ORDER BY r.page
ON CONFLICT (branch_id, biz_date, page) DO UPDATE SET opened = page_view.opened + excluded.opened

-- name: seen_dishes
-- A transaction that was adding views while the history was cleared may have left a row; it is not shown.
SELECT v.dish_id, v.viewed_at
FROM member_view v
LEFT JOIN member_history h ON h.user_id = v.user_id
WHERE v.user_id = $1 AND v.viewed_at > coalesce(h.cleared_at, 0)
ORDER BY v.viewed_at DESC, v.dish_id
LIMIT $2

-- name: sold_scores
-- The units of paid orders, as the report of dish sales counts them.
SELECT i.dish_id, CAST(sum(i.qty) AS BIGINT) AS units
FROM order_info o
JOIN order_item i ON i.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.paid_at IS NOT NULL
GROUP BY i.dish_id
ORDER BY units DESC, i.dish_id

-- name: usual_dishes
SELECT i.dish_id, count(DISTINCT o.id) AS orders
FROM order_info o
JOIN order_item i ON i.order_id = o.id
LEFT JOIN member_history h ON h.user_id = o.user_id
WHERE o.user_id = $1 AND o.paid_at IS NOT NULL AND o.created_at > $2 AND o.created_at > coalesce(h.cleared_at, 0)
GROUP BY i.dish_id
ORDER BY orders DESC, max(o.created_at) DESC, i.dish_id
LIMIT $3

-- name: viewed_scores
SELECT v.dish_id, CAST(sum(v.viewed) AS BIGINT) AS views
FROM dish_view v
WHERE v.branch_id = $1 AND v.biz_date >= $2 AND v.biz_date <= $3 AND v.viewed > 0
GROUP BY v.dish_id
ORDER BY views DESC, v.dish_id

-- name: activity_add
INSERT INTO member_activity (day, user_id)
SELECT r.day, r.user_id
FROM @rows($1: day text, user_id int) AS r
WHERE true
ORDER BY r.day, r.user_id
ON CONFLICT (day, user_id) DO NOTHING

-- name: activity_count
-- Members of the day $1, of the days from $2 and from $3, and of $1 and a day from $4 before it.
SELECT CAST(coalesce(sum(m.daily), 0) AS BIGINT), CAST(coalesce(sum(m.weekly), 0) AS BIGINT),
       CAST(coalesce(sum(m.monthly), 0) AS BIGINT), CAST(coalesce(sum(m.daily * m.earlier), 0) AS BIGINT)
FROM (
    SELECT max(CASE WHEN a.day = $1 THEN 1 ELSE 0 END) AS daily, max(CASE WHEN a.day >= $2 THEN 1 ELSE 0 END) AS weekly,
           max(CASE WHEN a.day >= $3 THEN 1 ELSE 0 END) AS monthly, max(CASE WHEN a.day < $1 THEN 1 ELSE 0 END) AS earlier
    FROM member_activity a
    WHERE a.day >= $4 AND a.day <= $1
    GROUP BY a.user_id
) AS m

-- name: activity_on
SELECT a.user_id FROM member_activity a WHERE a.day = $1 ORDER BY a.user_id

-- name: activity_purge
DELETE FROM member_activity WHERE day < $1

-- name: popular_searches
SELECT v.query
FROM search_visitor v
WHERE v.branch_id = $1 AND v.seen_on >= $2
GROUP BY v.query
HAVING count(*) >= $3
ORDER BY count(*) DESC, v.query
LIMIT $4

-- name: search_days_add
-- Texts beyond a limit per branch and date are not added, so that no client fills the table. A statement sees the rows of
-- before, so the new texts among its own rows are numbered: those with the most searches are added.
INSERT INTO search_day (branch_id, biz_date, query, searches, missed)
SELECT n.branch_id, n.biz_date, n.query, n.searches, n.missed
FROM (SELECT r.branch_id, r.biz_date, r.query, r.searches, r.missed, k.query AS known,
             row_number() OVER (PARTITION BY r.branch_id, r.biz_date, CASE WHEN k.query IS NULL THEN 1 ELSE 0 END
                                ORDER BY r.searches DESC, r.query) AS place
      FROM @rows($1: branch_id int, biz_date text, query text, searches int, missed int) AS r
      LEFT JOIN search_day k ON k.branch_id = r.branch_id AND k.biz_date = r.biz_date AND k.query = r.query) AS n
WHERE n.known IS NOT NULL
   OR n.place <= $2 - (SELECT count(*) FROM search_day d WHERE d.branch_id = n.branch_id AND d.biz_date = n.biz_date)
ORDER BY n.branch_id, n.query
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
