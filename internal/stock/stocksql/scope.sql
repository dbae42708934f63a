-- name: scope_claim
-- Claims a scope for one rebuild until $4. A stored claim that ends after $5 dates from before the clock was set back and
-- does not count.
UPDATE gate_scope SET rebuilt_until = $4
WHERE branch_id = $1 AND biz_date = $2 AND (rebuilt_until < $3 OR rebuilt_until > $5)

-- name: scope_claim_end
SELECT rebuilt_until FROM gate_scope WHERE branch_id = $1 AND biz_date = $2

-- name: scope_insert
INSERT INTO gate_scope (branch_id, biz_date, epoch, rebuilt_until) VALUES ($1, $2, '', 0)
ON CONFLICT DO NOTHING

-- name: scope_release
-- Ends a claim. The next rebuild may begin after $5.
UPDATE gate_scope SET rebuilt_until = $5, epoch = $4
WHERE branch_id = $1 AND biz_date = $2 AND rebuilt_until = $3

-- name: scope_renew
-- Extends a claim, which is identified by its end.
UPDATE gate_scope SET rebuilt_until = $4
WHERE branch_id = $1 AND biz_date = $2 AND rebuilt_until = $3

-- name: scope_reset
-- Ends all claims and pauses, so that every scope may be rebuilt at once.
UPDATE gate_scope SET rebuilt_until = 0, epoch = '' WHERE biz_date >= $1 OR biz_date = ''

-- name: scope_select
SELECT branch_id, biz_date, epoch FROM gate_scope WHERE biz_date >= $1 OR biz_date = '' ORDER BY branch_id, biz_date
