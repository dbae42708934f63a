-- Payment, cancellation and expiry compete here and nowhere else: one of them finds the state it expects (I4).
UPDATE hold
SET state = r.becomes, reason = r.reason, updated_at = $2
FROM @rows($1: id text, was text, becomes text, reason text) AS r
WHERE hold.id = r.id AND hold.state = r.was
