UPDATE order_info
SET hold_id = r.hold_id, status = r.status, payment_status = r.payment_status, payment_method = r.payment_method,
    payment_ref = r.payment_ref, cancel_reason = r.cancel_reason, refunded_amount = r.refunded, pay_by = r.pay_by,
    prolonged = r.prolonged, expires_at = r.expires_at, paid_at = r.paid_at, canceled_at = r.canceled_at, updated_at = r.updated_at,
    version = r.version, stepped_at = r.stepped_at, void_seen = r.void_seen
FROM @rows($1: id text, hold_id text, status text, payment_status text, payment_method text, payment_ref text, cancel_reason text, refunded int, pay_by int, prolonged int, expires_at int, paid_at int, canceled_at int, updated_at int, version int, stepped_at int, void_seen int) AS r
WHERE order_info.id = r.id AND order_info.version < r.version
