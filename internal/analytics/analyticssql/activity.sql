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
