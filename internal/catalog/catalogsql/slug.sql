-- name: slug_claim
-- If another transaction is inserting the name, this statement waits for its end.
INSERT INTO branch_slug (slug, branch_id, is_current, created_at) VALUES ($1, $2, 0, $3)
ON CONFLICT (slug) DO NOTHING

-- name: slug_missing
SELECT id FROM branch
WHERE NOT EXISTS (SELECT 1 FROM branch_slug s WHERE s.branch_id = branch.id AND s.is_current = 1)
ORDER BY id

-- name: slug_owner
SELECT branch_id FROM branch_slug WHERE slug = $1

-- name: slug_retire
UPDATE branch_slug SET is_current = 0 WHERE branch_id = $1 AND is_current = 1

-- name: slug_use
UPDATE branch_slug SET is_current = 1 WHERE slug = $1
