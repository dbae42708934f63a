UPDATE refund
SET send_at = r.send_at, tries = tries + 1
FROM @rows($1: id text, send_at int) AS r
WHERE refund.id = r.id AND refund.state = 'SENDING'
