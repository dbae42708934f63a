UPDATE cart
SET branch_id = r.branch_id, updated_at = r.updated_at, updated_by = r.name, version = r.version
FROM @rows($1: id int, branch_id int, updated_at int, name text, version int) AS r
WHERE cart.id = r.id AND cart.version < r.version /*pg: AND cart.id = ANY ($1) */
