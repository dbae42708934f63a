-- Orders whose receivers' names are not among the words yet, in the order of the index that has no others.
SELECT o.id, o.branch_id, o.biz_date, o.receiver_name
FROM order_info o
WHERE o.receiver_name IS NOT NULL AND o.named_at IS NULL
ORDER BY o.id
LIMIT $1
