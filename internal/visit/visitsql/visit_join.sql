-- Keeps the visit from being closed until the guest is in.
SELECT id FROM visit WHERE table_id = $1 AND status = 'OPEN' /*pg: FOR SHARE */
