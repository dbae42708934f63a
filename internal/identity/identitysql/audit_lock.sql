-- The head is the one lock under which entries are written. It is taken last, so whoever waits for it holds up nobody
-- but the next writer.
SELECT seq, hash FROM audit_head WHERE id = 1 /*pg: FOR NO KEY UPDATE */
