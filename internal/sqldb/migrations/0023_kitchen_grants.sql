-- Cooks take dishes off and bring them back. How many of a dish a day begins with, and what other systems have reserved,
-- is the manager's. New installations do not give the kitchen these two; here they are taken from its role where it
-- still has them. An owner who wants them for the kitchen grants them again: nothing takes them a second time.

-- +goose Up
INSERT INTO document_outbox (id, entity, ids, created_at)
SELECT '0023-kitchen-grants', 'role', '["' || CAST(r.id AS TEXT) || '"]',
       /*pg: CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT) *//*sqlite: CAST(unixepoch('subsec') * 1000 AS INTEGER) */
FROM role r
WHERE r.name = 'KITCHEN' AND EXISTS (
    SELECT 1 FROM role_permission rp JOIN permission p ON p.id = rp.permission_id
    WHERE rp.role_id = r.id AND (p.method = 'PUT' AND p.api_path = '/api/menu-items/{id}/quota'
        OR p.method = 'GET' AND p.api_path = '/api/stock/reservations'));

-- By the version, running processes notice that the role's permissions have changed, and documents that they are outdated.
UPDATE role SET version = version + 1, updated_by = 'system',
    updated_at = /*pg: CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT) *//*sqlite: CAST(unixepoch('subsec') * 1000 AS INTEGER) */
WHERE name = 'KITCHEN' AND EXISTS (SELECT 1 FROM document_outbox WHERE id = '0023-kitchen-grants');

DELETE FROM role_permission
WHERE role_id IN (SELECT id FROM role WHERE name = 'KITCHEN')
  AND permission_id IN (
    SELECT id FROM permission
    WHERE method = 'PUT' AND api_path = '/api/menu-items/{id}/quota'
       OR method = 'GET' AND api_path = '/api/stock/reservations');
INSERT INTO schema_floor (version, oldest) VALUES (23, 20);

-- +goose Down
-- The previous permissions of the role are unknown; an owner can grant them.
DELETE FROM schema_floor WHERE version = 23;
