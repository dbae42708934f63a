-- A cap may go below what is held and used: it only stops new holds.
UPDATE sales_quota_counter SET cap = $4
WHERE branch_id = $1 AND menu_item_id = $2 AND slot_key = 'ALL_DAY' AND stat_date >= $3
RETURNING stat_date
