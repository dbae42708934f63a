UPDATE refund SET sent_before = $2 WHERE id = $1 AND state = 'SENDING' AND sent_before IS NULL
