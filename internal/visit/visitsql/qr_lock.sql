-- Keeps the table in use and its token from being revoked until the guest is in. The table is locked first, as everywhere.
SELECT q.status, t.active
FROM dining_table t
JOIN table_qr q ON q.table_id = t.id
WHERE q.token = $1 /*pg: FOR SHARE */
