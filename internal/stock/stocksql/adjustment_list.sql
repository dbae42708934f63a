SELECT a.id, a.kind, a.units, a.available, a.note, a.actor, a.created_at
FROM stock_adjustment a
WHERE a.item_id = $1
ORDER BY a.id DESC
LIMIT $2 OFFSET $3
