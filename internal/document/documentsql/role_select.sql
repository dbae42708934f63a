SELECT r.id, r.name, r.description,
       (SELECT /*pg: coalesce(json_agg(p.permission_id)::text, '[]') *//*sqlite: json_group_array(p.permission_id) */
        FROM (SELECT permission_id FROM role_permission WHERE role_id = r.id ORDER BY permission_id) AS p),
       r.created_at, r.updated_at, r.created_by, r.updated_by, r.version
FROM role r
WHERE r.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
