-- name: branch_select
SELECT 1

-- name: branch_unused
SELECT 2
