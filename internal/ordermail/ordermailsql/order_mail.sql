-- name: customer_select
-- Orders of tables have neither an address nor a member. An account counts with its verified address only.
SELECT o.id, o.branch_id, b.locales, COALESCE(o.receiver_email, ''),
       CASE WHEN u.registered = 1 AND u.status = 'ACTIVE' THEN COALESCE(u.email, '') ELSE '' END,
       COALESCE(m.locale, ''), COALESCE(1 - m.order_received, 0), COALESCE(1 - m.order_ready, 0)
FROM order_info o
JOIN branch b ON b.id = o.branch_id
LEFT JOIN app_user u ON u.id = o.user_id
LEFT JOIN account_mail m ON m.user_id = o.user_id
WHERE o.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */
  AND (o.receiver_email IS NOT NULL OR o.user_id IS NOT NULL)

-- name: order_mail_insert
INSERT INTO order_mail (order_id, kind, subject, created_at)
SELECT r.order_id, r.kind, r.subject, $2 FROM @rows($1: order_id text, kind text, subject text) AS r
WHERE true
ON CONFLICT (order_id, kind, subject) DO NOTHING
RETURNING order_id, kind, subject

-- name: order_mail_queue
INSERT INTO mail_outbox (id, recipient, template, locale, fields, created_at, available_at, expires_at, branch_id, order_id,
                         subject)
SELECT r.id, r.recipient, r.template, r.locale, '{}', $2, $2, r.expires_at, r.branch_id, r.order_id, r.subject
FROM @rows($1: id text, recipient text, template text, locale text, expires_at int, branch_id int, order_id text, subject text) AS r
