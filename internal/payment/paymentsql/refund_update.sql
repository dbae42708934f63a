UPDATE refund
SET state = r.state, note = r.note, decided_by = r.decided_by, gateway_ref = r.ref, code = r.code, tries = r.tries,
    send_at = r.send_at, done_at = r.done_at
FROM @rows($1: id text, state text, note text, decided_by text, ref text, code text, tries int, send_at int, done_at int) AS r
WHERE refund.id = r.id AND refund.state <> 'DONE'
