-- Keeps the token from being revoked until the guest is in.
SELECT status FROM table_qr WHERE token = $1 /*pg: FOR SHARE */
