-- $3 is 0 where no session has to end.
UPDATE app_user
SET status = $2, valid_from = CASE WHEN CAST($3 AS BIGINT) > 0 THEN $3 ELSE valid_from END, updated_at = $4,
    updated_by = $5, version = version + 1
WHERE id = $1
