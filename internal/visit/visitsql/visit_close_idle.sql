-- Quiet for its branch's minutes and the slack ($1 is now less the slack), and nothing unpaid.
UPDATE visit SET status = 'CLOSED', closed_at = $2, close_reason = 'IDLE', keys_left = 1
WHERE id IN (
    SELECT v.id
    FROM visit v
    JOIN branch b ON b.id = v.branch_id
    WHERE v.status = 'OPEN'
      AND v.last_seen_at <= CAST($1 AS BIGINT) - b.auto_close_minutes * 60000
      AND NOT EXISTS (
          SELECT 1 FROM order_info o WHERE o.visit_id = v.id AND o.payment_status IN ('UNPAID', 'CONFIRMING')
      )
    ORDER BY v.last_seen_at
    LIMIT $3
    /*pg: FOR UPDATE OF v SKIP LOCKED */
)
RETURNING id
