-- Carts of members that are priced by a branch's menu, or may be, and have a dish.
SELECT COUNT(*)
FROM cart_detail d
JOIN cart c ON c.id = d.cart_id
WHERE d.dish_id = $2 AND (c.branch_id = $1 OR c.branch_id IS NULL)
