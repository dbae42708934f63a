-- name: due
SELECT id FROM @table WHERE @due <= $1 AND @pending ORDER BY @order LIMIT 1

-- name: claim
-- Other processes skip the rows that this one has locked. MATERIALIZED prevents PostgreSQL from evaluating LIMIT per row.
-- With the array it uses the index: the table fills and empties all day, so its statistics are useless.
WITH due AS MATERIALIZED (
    SELECT id FROM @table WHERE @due <= $1 AND @pending ORDER BY @order LIMIT $3 /*pg: FOR UPDATE SKIP LOCKED */
)
UPDATE @table SET @due = $2, attempts = attempts + 1
WHERE id /*pg: = ANY (ARRAY(SELECT id FROM due)) *//*sqlite: IN (SELECT id FROM due) */
RETURNING @columns

-- name: delete
-- With an array PostgreSQL uses the index, even if its statistics come from an empty table.
DELETE FROM @table WHERE id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */

-- name: fail
-- died: when the row became a dead letter; 0 if it will be retried.
UPDATE @table SET @due = r.due, attempts = r.attempts @outcome
FROM @rows($1: id text, was int, attempts int, due int, died int, reason text) AS r
WHERE @table.id = r.id AND @table.attempts = r.was AND @pending

-- name: backlog
SELECT count(*) FILTER (WHERE @pending), coalesce(min(@since) FILTER (WHERE @pending), 0),
       count(*) FILTER (WHERE NOT (@pending)), coalesce(min(@died) FILTER (WHERE NOT (@pending)), 0)
FROM @table
